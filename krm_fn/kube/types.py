"""Names for plain dicts, for the type checker and the reader only."""

from __future__ import annotations

from typing import Any, Literal

Resource = dict[str, Any]
PodSpec = dict[str, Any]
PodTemplate = dict[str, Any]
Container = dict[str, Any]
EnvVar = dict[str, Any]
Probe = dict[str, Any]
Labels = dict[str, str]
Role = Literal["main", "leader", "worker"]
