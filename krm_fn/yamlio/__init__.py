"""YAML text to values and back, as an API server reads it, with the position of each field."""
