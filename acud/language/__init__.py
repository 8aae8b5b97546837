"""What people and programs write: quotation marks, numbers, ordinals; one table of each for every reader."""
