"""The project's addresses in acud's metadata: those that `scripts/package --url NAME=ADDRESS` hands over, else none."""

from __future__ import annotations

import json
import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """What hatchling asks for the dynamic part of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the addresses, from the JSON object in PACKAGE_PROJECT_URLS."""
        metadata["urls"] = json.loads(os.environ.get("PACKAGE_PROJECT_URLS", "{}"))
