"""The vocabulary in which the function writes: native objects as plain dicts."""
