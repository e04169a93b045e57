"""Warns of a resource whose name is one slip away from that of GPUs: no node offers it, so the pods wait for ever.

The names are those of the device plugins of NVIDIA and AMD. A cluster can have resources with names of its own, so it is a warning.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.api_server.rejections import Rejection
from krm_fn.render.rules import field_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan

_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
_OTHERS = ("nvidia.com/pgpu", "nvidia.com/vgpu")
"""Names of whole and of virtual GPUs for virtual machines. Source: NVIDIA's sandbox device plugin."""


def check(pods: Pods) -> Iterator[Result]:
    """Yields a warning for each resource of a container whose name is a slip for that of GPUs."""
    for pod in pods.roles:
        plan = pods.plan.of_role(pod.role.role)
        for field in ("containers", "initContainers"):
            containers: Any = pod.spec.get(field) or ()
            for index, container in enumerate(containers):
                for side, name, known in _slips(container.get("resources") or {}):
                    message = f"no node offers {name}, so no pod starts; write {known}"
                    rejection = Rejection(codes.MISSPELT_GPU_RESOURCE, (field, index, "resources", side, name), message)
                    path = field_origin.path(pods._replace(plan=plan), pod.spec, rejection)
                    if path is not None:
                        from krm_fn.base import edits  # noqa: PLC0415 - only a finding needs it

                        written = _of_service(plan, side, name) or path
                        edit = edits.Edit(edits.Key(known) if written[-1] == name else known)
                        yield results.warning(codes.MISSPELT_GPU_RESOURCE, message, plan.ref, written, edit=edit)


def nearest(name: str) -> str:
    """Returns the name of GPUs that a name of a resource is a slip for; empty for another name.

    >>> [nearest(name) for name in ("nvidia.com/gpus", "nvdia.com/gpu", "nvidia.com/gup", "nvidia.com/gpu-2", "nvidia.com/gpu", "cpu")]
    ['nvidia.com/gpu', 'nvidia.com/gpu', 'nvidia.com/gpu', '', '', '']
    >>> nearest("nvidia/gpu"), nearest("amd/gpu"), nearest("example/gpu")
    ('nvidia.com/gpu', 'amd.com/gpu', '')
    """
    if name in _GPUS or name in _OTHERS:
        return ""
    from krm_fn.base import spelling  # noqa: PLC0415 - few pods have other devices

    return next((known for known in _GPUS if spelling.is_slip(name, known) or name.lower() == known.replace(".com/", "/")), "")


def _slips(resources: Any) -> Iterator[tuple[str, str, str]]:
    """Yields the side, the name and the right name of each slip, once for limits and requests."""
    seen = set()
    for side in ("limits", "requests"):
        for name in resources.get(side) or ():
            if "/" in name and name not in seen and (known := nearest(name)):
                seen.add(name)
                yield side, name, known


def _of_service(plan: ComponentPlan, side: str, name: str) -> Path:
    """Returns the field of a v1alpha1 service that has the resource, as a value or as a key; empty if another one has it."""
    written = (plan.paths.written.get("resources") or {}).get(side) or {}
    for key, value in written.items():
        if value == name or (isinstance(value, dict) and name in value):
            return (*plan.paths.path, "resources", side, key, *(() if value == name else (name,)))
    return ()
