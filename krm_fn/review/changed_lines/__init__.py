"""Finds the lines of files that make the changes of objects: reverts parts of the files, and renders or builds them again."""
