"""dynamo-krm-fn: NVIDIA Dynamo graphs become native Kubernetes objects before they reach the cluster."""

__version__ = "0.1.0"
