"""Lists the container images that pods need: the uses of each image, the field that names it, and its digest."""

FORMAT_VERSION = 1
"""The version of the JSON output and of the lock. A change that older programs cannot read raises it."""
