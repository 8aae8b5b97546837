"""The frame bus: one file of shared memory per source and epoch, one writer, any number of readers."""
