"""How to run a container: its words, variables, user and mounts, from the pod and the image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed.node import dns, environment, network, volumes
from tests.testbed.node.environment import Sources
from tests.testbed.node.process import Mount, Plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.testbed.node.ground import Ground
    from tests.testbed.node.handlers import Asker
    from tests.testbed.node.image import Image

Object = dict[str, Any]


class Surroundings(NamedTuple):
    """What a container needs of its pod. `places` are the volumes by name; `changed` is called when a state has changed."""

    ground: Ground
    pod: Object
    folder: Path
    sandbox: int
    address: str
    places: dict[str, Path]
    asker: Asker
    changed: Callable[[], None]


async def make(around: Surroundings, container: Object, image: Image, folder: Path, message: Path) -> Plan:
    """The plan of one life of a container. `message` is the file of its termination message. Raises ConfigError."""
    pod = around.pod
    found = environment.variables(pod, container, around.address, await _sources(around, container))
    words, arguments = (environment.expanded(container.get(part) or (), found) for part in ("command", "args"))
    settings = {**(pod["spec"].get("securityContext") or {}), **(container.get("securityContext") or {})}
    user = settings.get("runAsUser", image.user)
    if settings.get("runAsNonRoot") and not user:
        raise environment.ConfigError("container has runAsNonRoot and image will run as root")
    groups = [settings.get("runAsGroup", 0), *(settings.get("supplementalGroups") or ()), settings.get("fsGroup")]
    return Plan(
        folder=folder,
        sandbox=around.sandbox,
        hostname=hostname(pod),
        words=image.words(words, arguments),
        environment={"HOSTNAME": hostname(pod), "HOME": "/" if user else "/root", **image.variables(), **found},
        workdir=container.get("workingDir") or image.workdir,
        user=user,
        groups=[group for group in groups if group is not None],
        folders=[str(each) for each in image.folders],
        mounts=[
            *(Mount(source, target, read_only=True) for source, target in image.files),
            *(Mount(around.folder / name, f"/etc/{name}") for name in _files(pod, around.address)),
            *volumes.mounts(container, around.places, found, pod),
            Mount(message, container.get("terminationMessagePath", "/dev/termination-log")),
        ],
        read_only_root=bool(settings.get("readOnlyRootFilesystem")),
    )


def write_files(pod: Object, folder: Path, address: str) -> None:
    """Write the files of /etc that a kubelet makes for all containers of a pod."""
    for name, text in _files(pod, address).items():
        (folder / name).write_text(text)


def hostname(pod: Object) -> str:
    """The host name in a pod."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])[:63].rstrip("-.")


def _files(pod: Object, address: str) -> dict[str, str]:
    namespace, name = pod["metadata"]["namespace"], hostname(pod)
    subdomain = pod["spec"].get("subdomain")
    names = f"{name}.{subdomain}.{namespace}.svc.{dns.DOMAIN}\t{name}" if subdomain else name
    return {
        "hosts": f"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n{address}\t{names}\n",
        "hostname": f"{name}\n",
        "resolv.conf": dns.resolver(namespace, network.DNS),
    }


async def _sources(around: Surroundings, container: Object) -> Sources:
    """The ConfigMaps and Secrets that the variables of a container refer to, as they are now."""
    cluster, namespace = around.ground.cluster, around.pod["metadata"]["namespace"]
    found: dict[str, dict[str, Object | None]] = {"configMap": {}, "secret": {}}
    sources = [*(container.get("envFrom") or ()), *(entry["valueFrom"] for entry in container.get("env") or () if entry.get("valueFrom"))]
    for source in sources:
        for kind, objects in found.items():
            for part in (f"{kind}Ref", f"{kind}KeyRef"):
                if part in source:
                    name = source[part]["name"]
                    objects[name] = await cluster.get(f"{kind.lower()}s", namespace, name)
    services = list(cluster.objects["services"].values())
    return Sources(found["configMap"], found["secret"], services, network.GATEWAY, around.ground.allocatable)
