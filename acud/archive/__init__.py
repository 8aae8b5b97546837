"""The process of `acud backup`, `restore` and `vacuum`: copies, verifies and restores the store and its files."""
