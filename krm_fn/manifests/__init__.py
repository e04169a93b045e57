"""Makes native Kubernetes objects from plans: one file for each kind or field, and `graph`, which lists all objects of a graph."""
