"""The files that commands read and write: input files, their revisions, places of findings, and output folders."""
