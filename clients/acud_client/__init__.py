"""The Python client of acud: requests and events, sync and async."""
