"""Names for the types of Kubernetes objects and values, for the type checker. A render does not import this module.

`krm_fn.kubernetes.native_types` has the types of native objects.
"""

from __future__ import annotations

from typing import Any, Literal

Resource = dict[str, Any]
"""A whole object of any kind."""

Labels = dict[str, str]
IntOrString = int | str
Quantity = str | int | float
Quantities = dict[str, Quantity]
Role = Literal["main", "leader", "worker"]
"""The part of a pod in a multinode group."""

ProbeName = Literal["livenessProbe", "readinessProbe", "startupProbe"]
WordsField = Literal["command", "args"]
ResourceSide = Literal["limits", "requests"]
HandlerName = Literal["exec", "httpGet", "tcpSocket", "grpc"]
