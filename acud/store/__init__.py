"""SQLite through APSW: what must survive a crash, a restart and a reboot. The only room that imports apsw."""
