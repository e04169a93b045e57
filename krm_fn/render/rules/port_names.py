"""Rules about the names of ports: a probe, a lifecycle hook or a Service can use only a name that a container has.

An API server accepts other names, and an operator writes them. Such a probe fails each time, so the pod is never ready, and such a Service
has no endpoint. A render warns, because it makes the pods of the operator; `krm_fn.review.resource_findings` makes an error of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results, spelling
from krm_fn.kubernetes import merge
from krm_fn.kubernetes.api_server.rejections import Rejection
from krm_fn.render.manifests import workloads
from krm_fn.render.rules import field_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.render.manifests.pod_builder import Pod, Pods

_HOOKS = ("postStart", "preStop")
_BY_NAME = ("httpGet", "tcpSocket")
"""The handlers that can use the name of a port. That of gRPC is a number."""


def check(pods: Pods) -> Iterator[Result]:
    """Yields the findings about the names of ports in the pods of a component, and in its Services."""
    is_reported = False
    for pod in pods.roles:
        for field in ("containers", "initContainers"):
            containers: Any = pod.spec.get(field) or ()
            for index, container in enumerate(containers):
                unknown = _unknown(container)
                if unknown:
                    is_reported = True
                    yield from _in_container(pods, pod, (field, index), container, unknown)
    if not is_reported:
        yield from _of_services(pods)


def _unknown(container: Any) -> dict[str, list[Path]]:
    """Returns the port names that probes and hooks of a container use and that it does not have, with the fields of their handlers."""
    unknown: dict[str, list[Path]] = {}
    known: set[Any] | None = None
    hooks = container.get("lifecycle") or {}
    owners = [((probe,), container.get(probe)) for probe in merge.PROBES]
    for path, owner in owners if not hooks else [*owners, *((("lifecycle", hook), hooks.get(hook)) for hook in _HOOKS)]:
        for handler in _BY_NAME if owner else ():
            port = (owner.get(handler) or {}).get("port")
            if isinstance(port, str) and port and not port.isdecimal():
                known = {entry.get("name") for entry in container.get("ports") or ()} if known is None else known
                if port not in known:
                    unknown.setdefault(port, []).append((*path, handler, "port"))
    return unknown


def _in_container(pods: Pods, pod: Pod, at: Path, container: Any, unknown: dict[str, list[Path]]) -> Iterator[Result]:
    """Yields one finding for each name, at the first of its users that the author wrote, or else at the ports of the container."""
    plan = pods.plan.of_role(pod.role.role)
    of_role = pods._replace(plan=plan)
    for name, users in unknown.items():
        written = [user for user in users if _is_written(of_role, pod.spec, at, user)]
        words = [results.field(user[:-2]) for user in users]
        listed = f"{', '.join(words[:-1])} and {words[-1]} use" if len(words) > 1 else f"{words[0]} uses"
        problem = f"{listed} the port {name}, which the container {container.get('name')} does not have, so each attempt fails"
        message = f"{problem}; {_fix(of_role, name, container)}"
        path = field_origin.path(
            of_role, pod.spec, Rejection(codes.UNKNOWN_PORT_NAME_IN_CONTAINER, (*at, *(written[0] if written else ("ports",))), message)
        )
        if path is not None:
            yield results.warning(codes.UNKNOWN_PORT_NAME_IN_CONTAINER, message, plan.ref, path)


def _is_written(pods: Pods, spec: PodSpec, at: Path, user: Path) -> bool:
    """Returns true if the author of the resource wrote the probe or the hook, and false for one of the defaults."""
    plan, (field, index), probe = pods.plan, at, user[0]
    finished: Any = spec
    pod: Any = plan.pod.spec
    main: Any = plan.pod.container
    container = finished[field][index]
    if field == "containers" and pods.origins.of(container).layer == "engine":
        replaced = {"livenessProbe": plan.pod.liveness, "readinessProbe": plan.pod.readiness}
        return bool(replaced.get(str(probe)) or main.get(probe))
    return any(entry.get("name") == container.get("name") and entry.get(probe) for entry in pod.get(field) or ())


def _fix(pods: Pods, name: str, container: Any) -> str:
    """Returns the fix for the name of a port. A list of ports replaces the default one, so a port is no fix beside default ones."""
    plan, ports = pods.plan, container.get("ports") or ()
    number = dict(plan.defaults.ports).get(name)
    same = next((entry for entry in ports if number and entry.get("containerPort") == number), None)
    if same:
        return f"rename the port {same['name']} to {name}" if same.get("name") else f"add name: {name} to the port {number}"
    names = [str(entry["name"]) for entry in ports if entry.get("name")]
    is_default = pods.origins.of(container).layer == "engine" and not plan.pod.container.get("ports")
    near = spelling.nearest(name, names) or (plan.type.service_port if is_default and plan.type.service_port in names else "")
    used = f"use {near or ' or '.join(names)}" if names else ""
    if names and is_default:
        return used
    added = f"add a port with name: {name} and {f'containerPort: {number}' if number else 'the number of a server'} to its ports"
    return added if number else ", or ".join(filter(None, (used, added)))


def _of_services(pods: Pods) -> Iterator[Result]:
    """Yields a warning if the ports that the author wrote lack the port of the component's Services.

    A type without such a port has Services without endpoints as with the Dynamo operator, and nothing calls them.
    """
    plan = pods.plan
    name = plan.type.service_port
    if name not in dict(plan.defaults.ports) or not plan.pod.container.get("ports"):
        return
    workload = workloads.get(plan.placement.workload)
    target = workload.port(plan).get("targetPort")
    if not isinstance(target, str) or not workload.services(plan) or any(has_port(pod.spec, target) for pod in pods.roles):
        return
    message = f"the Service {plan.service_name} sends requests to the port {target}, which no container of its pods has"
    fix = f"add a port with name: {target} and containerPort: {dict(plan.defaults.ports)[name]} to ports"
    yield results.warning(codes.UNKNOWN_PORT_NAME_IN_SERVICE, f"{message}; {fix}", plan.ref, plan.at("main", "ports"))


def has_port(spec: PodSpec, name: str) -> bool:
    """Returns true if a container of a pod has a port of this name: one of an init container counts if this runs beside the others."""
    sidecars = [container for container in spec.get("initContainers") or () if container.get("restartPolicy") == "Always"]
    return any(port.get("name") == name for container in (*spec["containers"], *sidecars) for port in container.get("ports") or ())
