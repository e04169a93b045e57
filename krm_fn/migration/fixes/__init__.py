"""Writes the edits of findings into files, and proves that they help."""
