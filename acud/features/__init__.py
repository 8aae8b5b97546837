"""What acud does beside its core job: one folder for each domain. The core imports none of them.

A process is put together where it starts: that place alone names the features, and imports those that are switched on.
"""
