# ruff: noqa: INP001 - see __main__.py
"""The settings of the operator, as a configuration of krm-fn."""

from __future__ import annotations

import base64
import json
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


def show(move: cluster.Move) -> None:
    """Print the configuration. Raises StopError unless exactly one operator watches the namespace."""
    found = move.operators()
    if len(found) != 1:
        raise cluster.StopError(
            f"{len(found)} operators watch the namespace {move.namespace}; write the configuration as docs/operator-map.md says"
        )
    settings: dict[str, object] = {KEYS[flag]: value for flag, value in cluster.flags(found[0]) if value and flag in KEYS}
    for variable in cluster.manager(found[0]).get("env", ()):
        if variable["name"] == "INTERNAL_IMAGES_DEBUGGER" and variable.get("value"):
            settings["debuggerImage"] = variable["value"]
    settings |= grove(move)
    secrets = cluster.items(move.kubectl("get", "secrets", "--field-selector=type=kubernetes.io/dockerconfigjson", "-o=json"))
    settings["imagePullSecrets"] = [{"registry": host, "name": cluster.name(each)} for each in secrets for host in registries(each)]
    sys.stdout.write("apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec:\n" + text(settings))


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
