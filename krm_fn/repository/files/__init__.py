"""Files of the commands: input files, their git revisions, the locations of findings, and output folders."""
