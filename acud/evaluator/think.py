"""One turn of a chat model over the shot: the conversation goes to the named backend, its words come back as they are."""

from __future__ import annotations

import time
from typing import NamedTuple

from acud.evaluator.room import Room
from acud.evaluator.shot import Shot
from acud.evaluator.vision.backend import ChatReply, ChatRequest
from acud.protocol.children import ThinkAsk, Thought


class Turned(NamedTuple):
    """What was said, and the size of the picture that was shown (0: none)."""

    thought: Thought
    width: int
    height: int
