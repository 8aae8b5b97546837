"""The certificate authorities that acud trusts for https calls."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from acud.base.errors import Unavailable


def authorities(ca_file: str = "") -> ssl.SSLContext | None:
    """Return a context that trusts only the authorities in `ca_file`, or those named by `SSL_CERT_FILE` or else
    `SSL_CERT_DIR`; None where nothing is named, for the usual ones.

    Raises: Unavailable when they cannot be read. Blocks on the disk.
    """
    file = str(Path(ca_file).expanduser()) if ca_file else os.environ.get("SSL_CERT_FILE", "")
    folder = "" if file else os.environ.get("SSL_CERT_DIR", "")
    if not file and not folder:
        return None
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ValueError) as fault:  # ssl.SSLError is an OSError
        why = getattr(fault, "strerror", None) or str(fault)
        raise Unavailable(
            f"the authorities in {file or folder} cannot be read: {why}", hint="name a PEM file with their certificates"
        ) from fault
