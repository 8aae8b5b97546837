"""Most rooms of unit tests have some with examples of hypothesis."""

import tests.fixtures.hypothesis_profile  # noqa: F401 - it is loaded
