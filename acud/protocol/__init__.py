"""The messages of acud: the codec, the clients' requests (`requests`), the children's messages (`children`, and a file
for each kind of child) and the supervisor's events (`events`).
"""

VERSION = 1
"""Protocol version, in every envelope; a peer of another version is answered with a typed error."""
