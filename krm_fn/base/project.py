"""The names of the project that its output and its messages contain. `make names` writes them from `tools/release/names.yaml`."""

from __future__ import annotations

REPOSITORY = "github.com/dynamo-krm-fn/dynamo-krm-fn"
IMAGE = "ghcr.io/dynamo-krm-fn/dynamo-krm-fn"
PACKAGE = "dynamo-krm-fn"
