"""Writes the edits of an upgrade where an author would write them: in files, Kustomizations, Kptfiles and values of Helm."""
