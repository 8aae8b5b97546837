"""The waits of this supervisor: pure machines fed with what happens, their effects obeyed, their ends committed."""
