"""The environment variables of a container, by the rules of a kubelet.

Source of the rules: `makeEnvironmentVariables` and `podFieldSelectorRuntimeValue` in `pkg/kubelet/kubelet_pods.go`, `FromServices` in
`pkg/kubelet/envvars`, `ExtractFieldPathAsString` in `pkg/fieldpath`, `ExtractContainerResourceValue` in `pkg/api/v1/resource`.
"""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import quantity
from tests.support import container_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Object = dict[str, Any]

_SUBSCRIPT = re.compile(r"(metadata\.(?:annotations|labels))\['(.*)'\]", re.DOTALL)


class ConfigError(Exception):
    """A container cannot be made from its pod: `CreateContainerConfigError`. The message is the kubelet's."""


class Sources:
    """What variables may refer to: the ConfigMaps and Secrets of the namespace by name (None if missing), the Services, the addresses."""

    def __init__(
        self,
        config_maps: Mapping[str, Object | None],
        secrets: Mapping[str, Object | None],
        services: Iterable[Object],
        host: str,
        allocatable: Mapping[str, str],
    ) -> None:
        self.config_maps = config_maps
        self.secrets = secrets
        self.services = services
        self.host = host
        self.allocatable = allocatable

    def data(self, kind: str, reference: Object, namespace: str) -> dict[str, str] | None:
        """The data of a ConfigMap or Secret, or None if it is missing and optional. Raises ConfigError."""
        found = (self.config_maps if kind == "configmap" else self.secrets).get(reference["name"])
        if found is None:
            if reference.get("optional"):
                return None
            raise ConfigError(f'{kind} "{reference["name"]}" not found')
        if kind == "configmap":
            return dict(found.get("data") or {})
        return {key: base64.b64decode(value).decode(errors="surrogateescape") for key, value in (found.get("data") or {}).items()}

    def value(self, kind: str, reference: Object, namespace: str) -> str | None:
        """One key of a ConfigMap or Secret, or None if it is missing and optional. Raises ConfigError."""
        data = self.data(kind, reference, namespace)
        if data is not None and reference["key"] in data:
            return data[reference["key"]]
        if reference.get("optional"):
            return None
        title = {"configmap": "ConfigMap", "secret": "Secret"}[kind]
        raise ConfigError(f"couldn't find key {reference['key']} in {title} {namespace}/{reference['name']}")


def variables(pod: Object, container: Object, address: str, sources: Sources) -> dict[str, str]:
    """The variables of a container. Raises ConfigError if a ConfigMap, a Secret or a key is missing."""
    namespace = pod["metadata"]["namespace"]
    linked = service_variables(sources.services, namespace, links=pod["spec"].get("enableServiceLinks", True))
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        for kind, field in (("configmap", "configMapRef"), ("secret", "secretRef")):
            if field in source:
                data = sources.data(kind, source[field], namespace) or {}
                found |= {source.get("prefix", "") + key: value for key, value in data.items()}
    for entry in container.get("env") or ():
        value = _value(entry, found, linked, pod, container, address, sources)
        if value is not None:
            found[entry["name"]] = value
    return {**linked, **found}


def expanded(words: Iterable[str], found: Mapping[str, str]) -> list[str]:
    """The words of a command with `$(NAME)` expanded."""
    return [container_commands.expanded(word, found) for word in words]


def field(pod: Object, path: str, address: str, host: str) -> str:
    """The value of a `fieldRef`. Raises ConfigError for a path that Kubernetes does not have."""
    metadata, spec = pod["metadata"], pod["spec"]
    plain = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": address,
        "status.podIPs": address,
        "status.hostIP": host,
        "status.hostIPs": host,
    }
    if path in plain:
        return str(plain[path])
    if path in ("metadata.labels", "metadata.annotations"):
        pairs = metadata.get(path.partition(".")[2]) or {}
        return "\n".join(f"{key}={_quoted(pairs[key])}" for key in sorted(pairs))
    if match := _SUBSCRIPT.fullmatch(path):
        return str((metadata.get(match[1].partition(".")[2]) or {}).get(match[2], ""))
    raise ConfigError(f"unsupported fieldPath: {path}")


def resource(container: Object, reference: Object, allocatable: Mapping[str, str]) -> str:
    """The value of a `resourceFieldRef`: limits that are not set are what the node has. It is rounded up to a multiple of the divisor."""
    part, _, name = reference["resource"].partition(".")
    amounts = (container.get("resources") or {}).get(part) or {}
    written = amounts.get(name)
    if written is None and part == "limits":
        written = allocatable.get(name, "0")
    divisor = quantity.value(str(reference.get("divisor") or "0")) or quantity.UNIT  # an API server writes 0 for no divisor
    return str(math.ceil(quantity.value(str(written or "0")) / divisor))


def service_variables(services: Iterable[Object], namespace: str, *, links: bool) -> dict[str, str]:
    """The variables of the Service `kubernetes`, and, with `links`, of each Service of the namespace that has a cluster IP."""
    found: dict[str, str] = {}
    for service in services:
        metadata, spec = service["metadata"], service["spec"]
        main = (metadata["namespace"], metadata["name"]) == ("default", "kubernetes")
        if spec.get("clusterIP", "None") in ("None", "") or not (main or (links and metadata["namespace"] == namespace)):
            continue
        prefix, address = _upper(metadata["name"]), spec["clusterIP"]
        found |= {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(spec["ports"][0]["port"])}
        for index, port in enumerate(spec["ports"]):
            number, protocol = port["port"], port.get("protocol", "TCP")
            url = f"{protocol.lower()}://{address}:{number}"
            if port.get("name"):
                found[f"{prefix}_SERVICE_PORT_{_upper(port['name'])}"] = str(number)
            if not index:
                found[f"{prefix}_PORT"] = url
            of_port = f"{prefix}_PORT_{number}_{protocol.upper()}"
            found |= {of_port: url, f"{of_port}_PROTO": protocol.lower(), f"{of_port}_PORT": str(number), f"{of_port}_ADDR": address}
    return found


def _value(
    entry: Object, found: Mapping[str, str], linked: Mapping[str, str], pod: Object, container: Object, address: str, sources: Sources
) -> str | None:
    """The value of one entry of `env`; None if it is left out."""
    if entry.get("value"):
        return container_commands.expanded(entry["value"], {**linked, **found})
    source, namespace = entry.get("valueFrom") or {}, pod["metadata"]["namespace"]
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], address, sources.host)
    if "resourceFieldRef" in source:
        return resource(container, source["resourceFieldRef"], sources.allocatable)
    if "configMapKeyRef" in source:
        return sources.value("configmap", source["configMapKeyRef"], namespace)
    if "secretKeyRef" in source:
        return sources.value("secret", source["secretKeyRef"], namespace)
    return ""


def _upper(name: str) -> str:
    return name.replace("-", "_").upper()


def _quoted(text: str) -> str:
    """A value of a map in the downward API, as Go quotes it."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(plain.get(each, each) for each in text) + '"'
