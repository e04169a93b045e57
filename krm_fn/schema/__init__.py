"""The check that every render runs: a table of schemas, made from the models and from Kubernetes, and a walker over it."""
