"""The X server: connection, MIT-SHM, DAMAGE, windows, cursor. The only room that imports Xlib."""
