"""Every finding's code with its title: the one list that texts and documentation are made from.

001-019 reading, 020-039 schema, 040-049 configuration, 050-059 items, 100-199 graphs, 200-299 pods, 300-399 notes.
A code is never reused for another meaning.
"""

from __future__ import annotations

TITLES = {
    # 001-019: reading ResourceLists and files
    # 020-039: the schema
    # 040-049: the configuration
    # 050-059: items
    # 100-199: graphs
    # 200-299: pods
    # 300-399: notes
}
