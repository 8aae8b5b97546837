"""Conditions on files and processes of this machine, watched by inotify and pidfds, never polled."""

from acud.supervisor.host_conditions.clipboards import ClipboardConditions as ClipboardConditions
from acud.supervisor.host_conditions.processes import ProgramEnds as ProgramEnds
from acud.supervisor.host_conditions.service import HostConditions as HostConditions
