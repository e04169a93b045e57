"""The volumes of a pod as files and folders of the host.

Memory volumes are mounted in the mount namespace of the sandbox, so they last as long as the pod and are gone with it. ConfigMaps, Secrets
and tokens are written once: a later change of the object does not reach a running pod. A PersistentVolumeClaim is a folder that lasts as
long as the node.
"""

from __future__ import annotations

import base64
import contextlib
import os
from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import quantity
from tests.testbed.node import environment, supported
from tests.testbed.node.process import Mount

if TYPE_CHECKING:
    from pathlib import Path

    from tests.testbed.node.ground import Ground

Object = dict[str, Any]

TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path
_TOKEN_VOLUME = "kube-api-access"  # noqa: S105 - a name
_AUTHORITY = "kube-root-ca.crt"
_FILES = ("configMap", "secret", "projected", "downwardAPI")


class MissingError(Exception):
    """A volume waits for an object that does not exist (yet), as `FailedMount` says it."""


def with_token(pod: Object) -> Object:
    """The pod with the token volume that the admission plugin ServiceAccount adds, which the test bed's API server runs without."""
    spec = pod["spec"]
    mounts = [mount for each in supported.containers(pod) for mount in each.get("volumeMounts") or () if mount["mountPath"] == TOKEN_FOLDER]
    if mounts or spec.get("automountServiceAccountToken") is False:
        return pod
    items = [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": _AUTHORITY, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": items}},
    ]
    mount = {"name": _TOKEN_VOLUME, "mountPath": TOKEN_FOLDER, "readOnly": True}
    more = {
        part: [{**each, "volumeMounts": [*(each.get("volumeMounts") or ()), mount]} for each in spec[part]]
        for part in ("initContainers", "containers")
        if part in spec
    }
    volume = {"name": _TOKEN_VOLUME, "projected": {"sources": sources}}
    return {**pod, "spec": {**spec, **more, "volumes": [*(spec.get("volumes") or ()), volume]}}


def memory(pod: Object, folder: Path) -> list[list[str]]:
    """The commands that mount the memory volumes of a pod."""
    steps = []
    for volume in pod["spec"].get("volumes") or ():
        empty = volume.get("emptyDir") or {}
        if empty.get("medium") == "Memory":
            size = f",size={quantity.value(str(empty['sizeLimit'])) // quantity.UNIT}" if empty.get("sizeLimit") else ""
            place = folder / volume["name"]
            place.mkdir(parents=True)
            steps.append(["mount", "-t", "tmpfs", "-o", f"mode=0777{size}", "tmpfs", str(place)])
    return steps


async def fill(pod: Object, folder: Path, ground: Ground) -> dict[str, Path]:
    """Make all volumes of a pod; returns their places by name. Raises MissingError if one of them cannot be made yet."""
    places = {}
    group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    for volume in pod["spec"].get("volumes") or ():
        place = folder / volume["name"]
        if "persistentVolumeClaim" in volume:
            place = ground.claims / pod["metadata"]["namespace"] / volume["persistentVolumeClaim"]["claimName"]
        place.mkdir(parents=True, exist_ok=True)
        if "persistentVolumeClaim" not in volume:
            place.chmod(0o777)
        for kind in _FILES:
            if kind in volume:
                await _write(volume[kind], kind, pod, place, ground)
        if group is not None:
            _own(place, group)
        places[volume["name"]] = place
    return places


def mounts(container: Object, places: dict[str, Path], variables: dict[str, str], pod: Object) -> list[Mount]:
    """The mounts of a container."""
    found = []
    read_only = {each["name"] for each in pod["spec"].get("volumes") or () if (each.get("persistentVolumeClaim") or {}).get("readOnly")}
    for mount in container.get("volumeMounts") or ():
        source = places[mount["name"]]
        below = mount.get("subPath") or "".join(environment.expanded([mount.get("subPathExpr", "")], variables))
        if below:
            source = source / below
            if not source.exists():
                source.mkdir(parents=True)
        files = any(each["name"] == mount["name"] and any(kind in each for kind in _FILES) for each in pod["spec"]["volumes"])
        found.append(Mount(source, mount["mountPath"], bool(mount.get("readOnly")) or files or mount["name"] in read_only))
    return found


async def _write(source: Object, kind: str, pod: Object, place: Path, ground: Ground) -> None:
    """Write the files of a ConfigMap, Secret, downward API or projected volume."""
    mode = source.get("defaultMode", 0o644)
    if kind == "projected":
        for each in source.get("sources") or ():
            for part, detail in each.items():
                await _write({"defaultMode": mode, **detail}, part, pod, place, ground)
        return
    for path, (content, own) in (await _contents(source, kind, pod, ground)).items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(own or mode)


async def _contents(source: Object, kind: str, pod: Object, ground: Ground) -> dict[str, tuple[bytes, int | None]]:
    """Content and mode of each file by its path."""
    if kind == "serviceAccountToken":
        return {source["path"]: (await _token(source, pod, ground), 0o600 if not _group(pod) else 0o640)}
    if kind == "downwardAPI":
        return {each["path"]: (_field(each, pod), each.get("mode")) for each in source.get("items") or ()}
    data = await _data(source, kind, pod["metadata"]["namespace"], ground)
    if data is None:
        return {}
    if "items" not in source:
        return {key: (content, None) for key, content in data.items()}
    for item in source["items"]:
        if item["key"] not in data and not source.get("optional"):
            raise MissingError(f"references non-existent {kind.lower()} key: {item['key']}")
    return {item["path"]: (data[item["key"]], item.get("mode")) for item in source["items"] if item["key"] in data}


async def _data(source: Object, kind: str, namespace: str, ground: Ground) -> dict[str, bytes] | None:
    name = source.get("secretName") or source["name"]
    found = await ground.cluster.get("configmaps" if kind == "configMap" else "secrets", namespace, name)
    if found is None:
        if (kind, name) == ("configMap", _AUTHORITY):  # a controller publishes it in every namespace; the test bed has none
            return {"ca.crt": ground.authority.encode()}
        if source.get("optional"):
            return None
        raise MissingError(f'{kind.lower()} "{name}" not found')
    plain = found.get("data") or {}
    if kind == "secret":
        return {key: base64.b64decode(value) for key, value in plain.items()}
    binary = {key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
    return {**{key: value.encode() for key, value in plain.items()}, **binary}


async def _token(source: Object, pod: Object, ground: Ground) -> bytes:
    """A token of the pod's service account. The account `default`, which a controller creates, is created here.

    It is bound to the pod if the pod names the account. (The admission plugin, which the API server runs without, would write `default`.)
    """
    metadata = pod["metadata"]
    named = pod["spec"].get("serviceAccountName")
    account = named or "default"
    accounts = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts"
    bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    asked: Object = {"audiences": [source["audience"]] if source.get("audience") else []}
    asked |= {"expirationSeconds": source.get("expirationSeconds", 3600), "boundObjectRef": bound if named else None}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": asked}
    status, answer = await ground.cluster.request("POST", f"{accounts}/{account}/token", body)
    if status == 404 and account == "default":
        await ground.cluster.request("POST", accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
        status, answer = await ground.cluster.request("POST", f"{accounts}/{account}/token", body)
    if status != 201:
        raise MissingError(f"failed to fetch token: {answer.get('message', answer)}")
    return str(answer["status"]["token"]).encode()


def _field(item: Object, pod: Object) -> bytes:
    if "fieldRef" in item:
        return environment.field(pod, item["fieldRef"]["fieldPath"], "", "").encode()
    reference = item["resourceFieldRef"]
    (container,) = [each for each in supported.containers(pod) if each["name"] == reference["containerName"]]
    return environment.resource(container, reference, {}).encode()


def _group(pod: Object) -> int | None:
    found: int | None = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    return found


def _own(place: Path, group: int) -> None:
    """Give a volume to the group of the pod, as `fsGroup` says. A user namespace may not know the group: then nothing changes."""
    with contextlib.suppress(OSError):
        for each in (place, *place.rglob("*")):
            if not each.is_symlink():
                os.chown(each, -1, group)
                each.chmod(each.stat().st_mode | (0o2770 if each.is_dir() else 0o660))
