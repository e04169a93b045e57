"""The files that commands read and write: input files, revisions of them, places of findings, and output folders."""
