"""Finds the input that made an output: as data, by a render with marked values, and by experiment, by a render with one field reverted."""
