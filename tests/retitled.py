"""Programs that write over their environment, as those do that show a title in their place (Chromium)."""

WRITE_OVER = """
import ctypes
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[47]), int(fields[48])  # of the environment (proc(5))
ctypes.memset(start, 0, end - start)
"""
"""Python that writes zeros over the environment of its process."""
