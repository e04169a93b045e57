"""dynamo-krm-fn: NVIDIA Dynamo graphs become native Kubernetes objects before they reach the cluster."""

__version__ = "0.1.0"

# `make names` writes these from `tools/release/names.yaml`.
REPOSITORY = "github.com/dynamo-krm-fn/dynamo-krm-fn"
IMAGE = "ghcr.io/dynamo-krm-fn/dynamo-krm-fn"
PACKAGE = "dynamo-krm-fn"
"""The names of the project that its output and its messages contain."""

PAGES = f"https://{REPOSITORY}/blob/main/docs"
"""The folder of the pages to which messages link."""
