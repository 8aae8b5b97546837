"""Process of `acud backup`, `restore` and `vacuum`: the store and its files copied, verified, put back. No daemon."""
