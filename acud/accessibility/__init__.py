"""The accessibility tree of a display as plain values: what applications report of their widgets. No D-Bus here."""
