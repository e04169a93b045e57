"""DynamoWorkerMetadata: the metadata that workers publish when components discover each other through Kubernetes.

Follows the operator's DynamoWorkerMetadata definition.
"""

from typing import ClassVar, Literal

from krm_fn.api import base


class WorkerSpec(base.Model):
    """The metadata of a worker."""

    data: base.Anything
    """Endpoints, model cards and other data that components look for. Workers write and read it."""


class DynamoWorkerMetadata(base.Kind):
    """The metadata of the worker whose pod has the same name. Workers write it; users do not."""

    served: ClassVar = base.Served(short_names=("dwm",), status=False)

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoWorkerMetadata"]
    """The kind."""
    spec: WorkerSpec | None = None
    """The metadata of a worker."""
