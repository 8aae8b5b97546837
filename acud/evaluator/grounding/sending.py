"""What stands between a shot and a model that is shown it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from acud.evaluator.judges.provider import Backend
from acud.evaluator.view_pixels import ViewPixels

Prepare = Callable[[ViewPixels, Backend], Awaitable[ViewPixels]]
"""Returns the shot as that backend may see it: a local one all of it, any other a copy of that size with black boxes.

Raises: Unavailable when nothing may leave, and why.
"""
