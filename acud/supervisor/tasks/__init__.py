"""The task memory at work: the rules of acud/tasks, with the store, the waits and the displays."""
