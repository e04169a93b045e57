"""The schema check of every render: a table of schemas, made from the models and from Kubernetes, and the code that applies it."""
