"""Kubernetes' own rules, names and types. Native objects are plain dicts."""
