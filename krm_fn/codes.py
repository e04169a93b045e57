"""Every finding's code with its title: the one list that texts and documentation are made from.

001-019 reading, 020-039 schema, 040-049 configuration, 050-059 items, 060-069 layers, 070-079 files of the commands,
100-199 graphs, 200-299 pods, 300-399 notes.
A code is never reused for another meaning.
"""

from __future__ import annotations

TITLES = {
    # 001-019: reading ResourceLists and files
    "DYN001": "Nothing to read",
    "DYN002": "Text that is not UTF-8",
    "DYN003": "Character that YAML forbids",
    "DYN004": "Not YAML",
    "DYN005": "Nested too deep",
    "DYN006": "Aliases expand too far",
    "DYN007": "Key stands twice",
    "DYN008": "Unknown tag",
    "DYN009": "Key that is not text",
    "DYN010": "Number that JSON cannot hold",
    "DYN011": "File that cannot be read",
    "DYN012": "Not a ResourceList",
    "DYN013": "No list of items",
    "DYN014": "Item that is not a resource",
    "DYN015": "Item without apiVersion, kind or name",
    "DYN016": "Two items with one identity",
    "DYN017": "Items would be lost",
    "DYN018": "functionConfig that is not a resource",
    "DYN019": "Internal error",
    # 020-039: the schema
    "DYN020": "Unknown kind or version of a Dynamo resource",
    "DYN021": "A value of the wrong type",
    "DYN022": "A required field is missing",
    "DYN023": "An unknown field",
    "DYN024": "A word that is none of those allowed",
    "DYN025": "A number out of bounds",
    "DYN026": "Too long, too short, or too many",
    "DYN027": "A text that is not of the wanted form",
    "DYN028": "Null where a field should be left out",
    "DYN029": "A native field that is newer than the Kubernetes version known here, or misspelt",
    # 040-049: the configuration
    # 050-059: items
    # 060-069: layers
    "DYN060": "Namespace laid over generated objects",
    "DYN061": "Name laid over generated objects",
    "DYN062": "Label laid over generated objects",
    # 070-079: files of the commands
    "DYN070": "More than one configuration",
    "DYN071": "Kustomization that is not built",
    "DYN072": "File that holds no resource",
    # 100-199: graphs
    # 200-299: pods
    # 300-399: notes
}
