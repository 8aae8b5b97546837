"""Every decoder that is fuzzed."""

from __future__ import annotations

from tests.fuzz.files import FILES
from tests.fuzz.fleet import FLEET
from tests.fuzz.messages import MESSAGES
from tests.fuzz.replies import REPLIES
from tests.fuzz.texts import TEXTS
from tests.fuzz.words import WORDS

DECODERS = {one.name: one for one in (*MESSAGES, *WORDS, *FILES, *REPLIES, *FLEET, *TEXTS)}
