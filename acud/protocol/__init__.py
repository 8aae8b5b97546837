"""The messages of acud: the codec, what clients ask (`requests`), what children say (`children`, and a file for
each kind of them), what is told (`events`).
"""

VERSION = 1
"""Protocol version, in every envelope; a peer of another version is answered with a typed error."""
