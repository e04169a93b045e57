"""A graph becomes objects: the KRM function, and every step from the resource that a user wrote to the objects that Kubernetes runs."""
