"""Finds mistakes in the objects that people write beside a graph: autoscalers of KEDA, routes, budgets and Services.

Their servers refuse the first three: KEDA's definition (`ScaledObject`, `spec.triggers[].metadata`) and its webhook, the rule of the
Gateway API that a reference to a Service has a port, and that a budget has one limit (`pkg/apis/policy/validation` of Kubernetes).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import pods

_SCALED_OBJECT = ("keda.sh", "ScaledObject")
_ROUTES = ("HTTPRoute", "GRPCRoute")
_BUDGET, _LIMITS = ("policy", "PodDisruptionBudget"), ("minAvailable", "maxUnavailable")
_POLICY, _FRONTEND = "NetworkPolicy", "frontend"
_BACKENDS: Path = ("spec", "rules", EVERY, "backendRefs", EVERY)
_LEAST, _MOST = 30000, 32767
"""The node ports of an API server without `--service-node-port-range`."""


def check(resources: Sequence[Resource], rendered: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings. `rendered` are the resources after a render."""
    default = cluster.default_namespace(config)
    services = {
        identity.key(resource, default): resource
        for resource in (*rendered, *resources)
        if (resource.get("apiVersion"), resource.get("kind")) == ("v1", "Service")
    }
    written = [resource for resource in resources if not ownership.is_marked(resource)]
    policies = [resource for resource in written if results.ref(resource).kind == _POLICY]
    is_read = policies or any(identity.key(resource, default) in services for resource in written)
    selected = _templates(rendered, default) if is_read else {}
    yield from _policies(policies, selected, default)
    for resource in written:
        key = identity.key(resource, default)
        if (key.group, key.kind) == _SCALED_OBJECT:
            yield from _check_scaled(resource)
        elif (key.group, key.kind) == _BUDGET:
            yield from _budget(resource)
        elif key.kind in _ROUTES:
            yield from _route(resource, services, key.namespace)
        elif key in services:
            yield from _service(resource, key.namespace, selected)


def _check_scaled(resource: Resource) -> Iterator[Result]:
    spec, ref = mapping(resource, "spec"), results.ref(resource)
    for index, trigger in enumerate(objects(spec.get("triggers"))):
        for name, value in mapping(trigger, "metadata").items():
            if isinstance(value, int | float):
                right = json.dumps(value)
                message = f'the metadata of a trigger takes strings, not {right}; quote it: {name}: "{right}"'
                yield results.error(
                    codes.INVALID_KEDA_AUTOSCALER,
                    message,
                    ref,
                    ("spec", "triggers", index, "metadata", name),
                    current=value,
                    proposed=right,
                )
    least, most = spec.get("minReplicaCount"), spec.get("maxReplicaCount")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        message = f"minReplicaCount {least} is more than maxReplicaCount {most}; write {most} or less"
        yield results.error(codes.INVALID_KEDA_AUTOSCALER, message, ref, ("spec", "minReplicaCount"), current=least)


def _budget(budget: Resource) -> Iterator[Result]:
    """Finds a budget with both limits."""
    spec = mapping(budget, "spec")
    if all(spec.get(limit) is not None for limit in _LIMITS):
        message = f"a budget has either {_LIMITS[0]} or {_LIMITS[1]}, and an API server refuses both; remove one of them"
        yield results.error(codes.BUDGET_WITH_TWO_LIMITS, message, results.ref(budget), ("spec", _LIMITS[1]))


def _route(route: Resource, services: Mapping[ObjectKey, Resource], namespace: str) -> Iterator[Result]:
    """Finds backends that are Services and have no port."""
    for path, backend in paths.find(route, (_BACKENDS,)):
        if isinstance(backend, dict) and not backend.get("port") and (backend.get("kind"), backend.get("group")) in _OF_SERVICES:
            key = ObjectKey(*name_fields.SERVICE, text(backend.get("namespace")) or namespace, text(backend.get("name")))
            ports = [port.get("port") for port in objects(mapping(services.get(key), "spec").get("ports"))]
            fix = f"add port: {ports[0]}" if ports else "add port"
            message = f"the reference to the Service {key.name} has no port, and the Gateway API refuses it; {fix}"
            yield results.error(codes.BACKEND_WITHOUT_PORT, message, results.ref(route), path)


_OF_SERVICES = ((None, None), ("Service", None), ("Service", ""), (None, ""))
"""The kind and the group of a backend that is a Service."""


def _service(service: Resource, namespace: str, selected: Mapping[tuple[str, str, str], list[pods.Template]]) -> Iterator[Result]:
    """Finds node ports outside of the range, and numbers of ports that no pod of a graph has which the Service selects."""
    spec, ref = mapping(service, "spec"), results.ref(service)
    templates = _selected_templates(spec, namespace, selected)
    known = [{*_ports(template.spec)} for template in templates]
    for index, port in enumerate(objects(spec.get("ports"))):
        node, target = port.get("nodePort"), port.get("targetPort")
        if isinstance(node, int) and not isinstance(node, bool) and node and not _LEAST <= node <= _MOST:
            right = next((number for number in (_LEAST + node % 1000,) if number <= _MOST), _LEAST)
            message = f"nodePort {node} is outside of {_LEAST} to {_MOST}, the range of API servers; write {right}"
            yield results.warning(
                codes.NODE_PORT_OUT_OF_RANGE, message, ref, ("spec", "ports", index, "nodePort"), current=node, proposed=right
            )
        if isinstance(target, int) and known and all(known) and not any(target in numbers for numbers in known):
            common = sorted(set.intersection(*known))
            is_written = any(f"{target}" in json.dumps(template.spec) for template in templates)
            if common and not is_written:
                message = f"no pod that this Service selects has the port {target}; write {common[0]}"
                yield results.warning(
                    codes.UNKNOWN_TARGET_PORT, message, ref, ("spec", "ports", index, "targetPort"), current=target, proposed=common[0]
                )


def _policies(policies: Sequence[Resource], selected: Mapping[tuple[str, str, str], list[pods.Template]], default: str) -> Iterator[Result]:
    """Finds the only policy of a frontend whose rules open other ports than those that the frontend has."""
    by_frontend: dict[tuple[str, str], list[tuple[Resource, set[int]]]] = {}
    for policy in policies:
        spec = {"selector": mapping(policy, "spec", "podSelector").get("matchLabels")}
        if labels.COMPONENT_TYPE not in mapping(spec.get("selector")):
            continue
        for template in _selected_templates(spec, identity.key(policy, default).namespace, selected):
            if template.labels.get(labels.COMPONENT_TYPE) == _FRONTEND:
                name = (text(template.labels.get(labels.GRAPH)), identity.key(policy, default).namespace)
                by_frontend.setdefault(name, []).append((policy, {*_ports(template.spec)}))
    for entries in by_frontend.values():
        if len({id(policy) for policy, _ in entries}) == 1:
            policy, known = entries[0]
            yield from _policy(policy, known)


def _policy(policy: Resource, known: set[int]) -> Iterator[Result]:
    """Compares the ports of all rules with those of a frontend. A rule without ports, or with a name or a range, opens more."""
    rules = objects(mapping(policy, "spec").get("ingress"))
    ports = [(index, number, port) for index, rule in enumerate(rules) for number, port in enumerate(objects(rule.get("ports")))]
    numbers = {port.get("port") for _, _, port in ports}
    is_clear = all(rule.get("ports") for rule in rules) and all(isinstance(number, int) for number in numbers)
    if ports and known and is_clear and numbers.isdisjoint(known) and not any("endPort" in port for _, _, port in ports):
        (index, number, port), right = ports[0], min(known)
        message = f"the frontend that this policy selects has the port {right}, and the policy does not open it; write {right}"
        path = ("spec", "ingress", index, "ports", number, "port")
        yield results.warning(codes.POLICY_CLOSES_FRONTEND, message, results.ref(policy), path, current=port.get("port"), proposed=right)


def _templates(rendered: Iterable[Resource], default: str) -> dict[tuple[str, str, str], list[pods.Template]]:
    """Returns the pod templates of generated workloads, by their namespace and each of their labels."""
    by_label: dict[tuple[str, str, str], list[pods.Template]] = {}
    for resource in rendered:
        for template in pods.of(resource) if ownership.is_marked(resource) else ():
            for label, value in template.labels.items():
                by_label.setdefault((identity.key(resource, default).namespace, label, f"{value}"), []).append(template)
    return by_label


def _selected_templates(
    spec: Mapping[str, Any], namespace: str, selected: Mapping[tuple[str, str, str], list[pods.Template]]
) -> list[pods.Template]:
    """Returns the templates of one container that a Service selects."""
    wanted = mapping(spec.get("selector"))
    lists = [selected.get((namespace, label, f"{value}"), []) for label, value in wanted.items()]
    templates = [entry for entry in min(lists, key=len, default=[]) if all(entry.labels.get(key) == value for key, value in wanted.items())]
    return templates if all(len(template.spec.get("containers") or ()) == 1 for template in templates) else []


def _ports(spec: Mapping[str, Any]) -> Iterator[int]:
    for container in objects(spec.get("containers")):
        for port in objects(container.get("ports")):
            if isinstance(port.get("containerPort"), int):
                yield port["containerPort"]
