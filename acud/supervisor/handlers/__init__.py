"""The core's handlers of the requests of `acud.protocol.requests`, in files of the same names; a test pairs them."""

from acud.supervisor.control import HANDLERS
from acud.supervisor.handlers import daemon, displays, looks, waits, wakes, web

__all__ = ["HANDLERS", "daemon", "displays", "looks", "waits", "wakes", "web"]
