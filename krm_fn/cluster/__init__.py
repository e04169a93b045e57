"""A small client of Kubernetes: requests, lists, watches, caches, queues and leader election. It knows nothing about Dynamo."""
