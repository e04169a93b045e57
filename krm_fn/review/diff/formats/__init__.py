"""Formats of a comparison: `write` of `<format>_diff.py` returns the text of a report."""
