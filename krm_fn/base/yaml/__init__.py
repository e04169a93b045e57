"""Reads YAML as an API server reads it, finds the positions of fields, and writes YAML."""
