"""Text in, values out and back: YAML as the API server reads it, ResourceLists, files."""
