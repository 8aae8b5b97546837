"""SQLite through APSW: the state that survives a crash, a restart and a reboot. The only room that imports apsw."""
