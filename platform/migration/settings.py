# ruff: noqa: INP001 - see __main__.py
"""The settings of the operator, as a configuration of krm-fn, and the graph."""

from __future__ import annotations

import base64
import json
import re
import sys

import cluster

# Flags of the operator that change objects, and the keys that stand for them (docs/operator-map.md). ClusterRoles come from platform/roles.
KEYS = {
    "natsAddr": "natsAddress",
    "etcdAddr": "etcdAddress",
    "model-express-url": "modelExpressURL",
    "prometheus-endpoint": "prometheusEndpoint",
    "discovery-backend": "discoveryBackend",
    "mpi-run-ssh-secret-name": "mpiSecretName",
    "ingress-controller-class-name": "ingress.className",
    "ingress-controller-tls-secret-name": "ingress.tlsSecretName",
    "ingress-host-suffix": "ingress.hostSuffix",
    "istio-virtual-service-gateway": "ingress.istioGateway",
    "grove-termination-delay": "grove.terminationDelay",
}

# The roles of platform/roles. Those in the file of an operator belong to its chart.
ROLES = {"rbac.plannerRole": "dynamo-planner", "rbac.eppRole": "dynamo-epp", "rbac.profilingRole": "dynamo-profiling"}


def show(move: cluster.Move) -> None:
    """Print the configuration. Raises StopError unless exactly one operator watches the namespace."""
    found = move.operators()
    if len(found) != 1:
        raise cluster.StopError(
            f"{len(found)} operators watch the namespace {move.namespace}; write the configuration as docs/operator-map.md says"
        )
    if file := cluster.configuration(found[0]):
        sys.stdout.write(annotated(file, move, cluster.manager(found[0]).get("image") or ""))
        return
    settings: dict[str, object] = {"behaviour": "v0.9"}  # only operators before 1.0 have flags
    settings |= {KEYS[flag]: value for flag, value in cluster.flags(found[0]) if value and flag in KEYS}
    for variable in cluster.manager(found[0]).get("env", ()):
        if variable["name"] == "INTERNAL_IMAGES_DEBUGGER" and variable.get("value"):
            settings["debuggerImage"] = variable["value"]
    settings |= grove(move)
    settings["imagePullSecrets"] = pull_secrets(move)
    sys.stdout.write("apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec:\n" + text(settings))


def annotated(file: str, move: cluster.Move, image: str) -> str:
    """The configuration file of an operator of 1.0 or later, with annotations for the release, pull secrets and our roles."""
    settings = {**release(image), "imagePullSecrets": json.dumps(pull_secrets(move)), **ROLES}
    lines = [f"    config.dynamo.krm-fn.io/{key}: {json.dumps(value)}\n" for key, value in settings.items()]
    return f"{file.rstrip()}\nmetadata:\n  name: render\n  annotations:\n{''.join(lines)}"


def release(image: str) -> dict[str, str]:
    """The release of an operator of 1.0 or later by the tag of its image; empty if the tag does not say it."""
    tag = re.search(r":v?1\.([0-9]+)\.[0-9]+[^:/]*$", image.partition("@")[0])
    minor = int(tag[1]) if tag else -1
    return {"behaviour": "v1.5" if minor < 6 else "v1.6"} if 0 <= minor <= 6 else {}


def graph(move: cluster.Move) -> None:
    """Print the graph in the version that the cluster stores, with the annotations of the operator. Raises StopError."""
    definition = cluster.items(cluster.kubectl("get", "customresourcedefinition", cluster.GRAPHS, "-o=json"))[0]
    (stored,) = [each["name"] for each in definition["spec"]["versions"] if each["storage"]]
    (live,) = cluster.items(move.kubectl("get", f"dynamographdeployments.{stored}.nvidia.com", move.graph, "-o=json"))
    notes = {key: value for key, value in cluster.annotated(live).items() if key.startswith("nvidia.com/")}
    metadata = {"name": move.graph, "namespace": move.namespace, **({"annotations": notes} if notes else {})}
    written = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata, "spec": live["spec"]}
    sys.stdout.write(f"{json.dumps(written, indent=2)}\n")


def pull_secrets(move: cluster.Move) -> list[dict[str, str]]:
    """The pull secrets of the namespace and their registries. The operator finds them in the cluster."""
    secrets = cluster.items(move.kubectl("get", "secrets", "--field-selector=type=kubernetes.io/dockerconfigjson", "-o=json"))
    return [{"registry": host, "name": cluster.name(each)} for each in secrets for host in registries(each)]


def grove(move: cluster.Move) -> dict[str, object]:
    """The settings that follow from the graph's PodCliqueSet, if it has one."""
    found = [clique for each in move.running().values() for clique in each["spec"].get("template", {}).get("cliques", ())]
    settings: dict[str, object] = {"orchestrator": "grove"} if found else {}
    for each in found:
        if each["spec"]["podSpec"].get("schedulerName") == "kai-scheduler":
            queue = each.get("labels", {}).get("kai.scheduler/queue", "dynamo")
            settings["grove.kaiScheduler"] = {"enabled": True, "queue": queue}
    return settings


def registries(secret: cluster.Resource) -> list[str]:
    """The hosts that a pull secret opens, as the operator reads them: without scheme, user and path."""
    auths = json.loads(base64.b64decode(secret["data"][".dockerconfigjson"])).get("auths", {})
    return sorted({each.rpartition("://")[2].partition("/")[0].rpartition("@")[2] for each in auths})


def text(settings: dict[str, object]) -> str:
    """The settings as YAML; keys of one parent stand together."""
    lines, parent = [], ""
    for setting, value in sorted(settings.items()):
        outer, _, inner = setting.rpartition(".")
        if outer != parent and outer:
            lines.append(f"  {outer}:\n")
        parent = outer
        lines.append(f"{'    ' if outer else '  '}{inner}: {json.dumps(value)}\n")
    return "".join(lines)
