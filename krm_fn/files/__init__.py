"""The files that commands read and write: which there are, their earlier revisions, where findings stand in them, and output folders."""
