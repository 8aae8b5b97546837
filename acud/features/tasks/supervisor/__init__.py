"""Tasks in the supervisor: requests, the log of what acud does for a task, alarms, cleaning up."""
