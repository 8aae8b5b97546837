"""Most rooms of unit tests have some with examples of hypothesis."""

from __future__ import annotations

import tests.fixtures.hypothesis_profile  # noqa: F401 - it is loaded
