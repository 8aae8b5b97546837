"""The command line of acud."""
