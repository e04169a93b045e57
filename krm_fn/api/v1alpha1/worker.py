"""DynamoWorkerMetadata: what a worker tells the others about itself, where components find each other through Kubernetes.

Not its business: what is told; workers write and read it. Follows the reference's DynamoWorkerMetadata definition.
"""

from typing import ClassVar, Literal

from krm_fn.api import base


class WorkerSpec(base.Model):
    """What the worker tells."""

    data: base.Anything
    """Its own words: endpoints, model cards and whatever else components look for."""


class DynamoWorkerMetadata(base.Kind):
    """What one worker, whose pod has the same name, tells the others about itself. Workers write it, nobody else needs to."""

    served: ClassVar = base.Served(short_names=("dwm",), status=False)

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoWorkerMetadata"]
    """The kind."""
    spec: WorkerSpec | None = None
    """What the worker tells."""
