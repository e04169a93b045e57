"""Judges the command lines of engines: reads them from containers, and compares them with the flags of the engines' own parsers.

`tables/` holds the flags of each program in each release of Dynamo, read from the parsers themselves. Only commands import this package,
never a render.
"""
