"""Notifications in the supervisor: chosen from committed events, sent by the delivery process."""
