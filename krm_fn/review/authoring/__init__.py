"""Help for the author of a text at a position in it: what a field means, and what can stand there. The text may be unfinished."""
