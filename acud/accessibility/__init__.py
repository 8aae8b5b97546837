"""The accessibility tree of a display as plain values: what applications say about their widgets. No D-Bus here."""
