"""Rules of an API server about volumes of storage systems."""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_REQUIRED: dict[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "cinder": ("volumeID",),
    "csi": ("driver",),
    "flexVolume": ("driver",),
    "gcePersistentDisk": ("pdName",),
    "gitRepo": ("repository",),
    "glusterfs": ("endpoints", "path"),
    "iscsi": ("targetPortal", "iqn"),
    "nfs": ("server", "path"),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "quobyte": ("registry", "volume"),
    "rbd": ("monitors", "image"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "storageos": ("volumeName",),
    "vsphereVolume": ("volumePath",),
}
"""The fields of each source that must not be empty."""

_SECRET_NAME = {"cinder": "secretRef", "csi": "nodePublishSecretRef", "storageos": "secretRef"}
"""References whose name must not be empty."""

_INITIATORS = {
    "iqn": re.compile(r".*iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]{1,223}:[^,;*&$|\t\n\f\r ]{1,223}", re.DOTALL),  # RFC 3720: 223 bytes
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}"),
}
_LONGEST_DRIVER, _LONGEST_TARGET, _LONGEST_TENANT, _LARGEST_LUN = 63, 64, 64, 255


def validate(volume: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the source of a volume (validateVolumeSource)."""
    for kind, source in volume.items():
        if (kind not in _RULES and kind not in _REQUIRED) or source is None:
            continue
        for field in _REQUIRED.get(kind, ()):
            if not source.get(field):
                yield Rejection(codes.EMPTY_REQUIRED_FIELD, (kind, field), "the field is required; set it")
        reference = _SECRET_NAME.get(kind, "")
        if source.get(reference) is not None and not source[reference].get("name"):
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, (kind, reference, "name"), "the name of the Secret is required; write it")
        for rejection in _RULES[kind](source, volume) if kind in _RULES else ():
            yield rejection.below(kind)


def _nfs(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a share (validateNFSVolumeSource)."""
    path = source.get("path") or ""
    if path and not path.startswith("/"):
        yield Rejection(
            codes.PATH_OUT_OF_VOLUME, ("path",), f"the path {path!r} is relative; write the absolute path that the server exports"
        )


def _csi(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a driver (validateCSIVolumeSource, ValidateCSIDriverName)."""
    driver = source.get("driver") or ""
    if driver and (len(driver) > _LONGEST_DRIVER or not name_formats.DNS_SUBDOMAIN.fullmatch(driver.lower())):
        message = f"{driver!r} is not a valid name of a driver; use at most {_LONGEST_DRIVER} letters, digits, dashes and dots"
        yield Rejection(codes.INVALID_NAME_IN_POD, ("driver",), message)
    secret = (source.get("nodePublishSecretRef") or {}).get("name")
    if secret and not name_formats.DNS_SUBDOMAIN.fullmatch(secret):
        message = f"{secret!r} is not a valid name of a Secret; use lower-case letters, digits, dashes and dots"
        yield Rejection(codes.INVALID_NAME_IN_POD, ("nodePublishSecretRef", "name"), message)


def _git(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a repository (validateGitRepoVolumeSource)."""
    folder = source.get("directory") or ""
    if folder.startswith("/") or ".." in folder.split("/"):
        yield Rejection(
            codes.PATH_OUT_OF_VOLUME, ("directory",), f"the folder {folder!r} leaves the volume; write a relative path without .."
        )


def _iscsi(source: Fields, volume: Fields) -> Iterator[Rejection]:
    """Checks a target (validateISCSIVolumeSource). The limit of a name includes the target."""
    for field in ("iqn", "initiatorName"):
        name = source.get(field)
        known = _INITIATORS.get((name or "")[:3])
        if (name or (field == "initiatorName" and name is not None)) and not (known and known.fullmatch(name)):
            yield Rejection(
                codes.INVALID_NAME_IN_POD, (field,), f"{name!r} is not a name of iSCSI; write one that begins with iqn., eui. or naa."
            )
    yield from _in_byte(source, "lun")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("secretRef",), "a Secret is required for CHAP; name it")
    length = len(f"{volume.get('name')}:{source.get('targetPortal') or ''}")
    if source.get("initiatorName") is not None and length > _LONGEST_TARGET:
        message = f"the names of the volume and of the target have {length} characters together; use at most {_LONGEST_TARGET}"
        yield Rejection(codes.TOO_MANY_ENTRIES, ("targetPortal",), message)


def _fibre_channel(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a target (validateFCVolumeSource)."""
    names, ids = source.get("targetWWNs") or (), source.get("wwids") or ()
    if bool(names) == bool(ids):
        yield Rejection(codes.NOT_EXACTLY_ONE_FIELD, (), "the volume must have exactly one of targetWWNs and wwids; keep or set one")
    if names and source.get("lun") is None:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("lun",), "lun is required beside targetWWNs; write it")
    elif names:
        yield from _in_byte(source, "lun")


def _partition(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a disk (validateGCEPersistentDiskVolumeSource, validateAWSElasticBlockStoreVolumeSource)."""
    yield from _in_byte(source, "partition")


def _quobyte(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a registry (validateQuobyteVolumeSource)."""
    registry = source.get("registry") or ""
    if registry and len((source.get("tenant") or "").encode()) > _LONGEST_TENANT:
        yield Rejection(codes.TOO_MANY_ENTRIES, ("tenant",), f"the tenant has more than {_LONGEST_TENANT} characters; write its UUID")
    elif registry and not all(_is_host_port(pair) for pair in registry.split(",")):
        yield Rejection(
            codes.INVALID_ADDRESS, ("registry",), f"{registry!r} has an entry that is not host:port; write pairs with commas between them"
        )


def _flocker(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a data set (validateFlockerVolumeSource)."""
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    if bool(name) == bool(uuid):
        yield Rejection(codes.NOT_EXACTLY_ONE_FIELD, (), "the volume must have exactly one of datasetName and datasetUUID; keep or set one")
    if "/" in name:
        yield Rejection(codes.INVALID_NAME_IN_POD, ("datasetName",), f"the name {name!r} contains a slash; write it without")


def _flex(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks the options of a driver (validateFlexVolumeSource)."""
    for key in source.get("options") or ():
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield Rejection(
                codes.INVALID_METADATA_KEY, ("options", key), "the domains kubernetes.io and k8s.io are reserved; use a key of the driver"
            )


def _azure_disk(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks a disk (validateAzureDisk). The default of `kind` is Shared."""
    for field in ("cachingMode", "kind"):
        if source.get(field) == "":
            yield Rejection(codes.VALUE_NOT_ALLOWED, (field,), f"{field} is empty; write a value, or remove it")
    uri, start = source.get("diskURI") or "", "/subscriptions/" if source.get("kind") == "Managed" else "https://"
    if uri and not uri.startswith(start):
        yield Rejection(
            codes.VALUE_NOT_ALLOWED, ("diskURI",), f"the URI {uri!r} does not begin with {start}; write such a URI, or another kind"
        )


def _storageos(source: Fields, _volume: Fields) -> Iterator[Rejection]:
    """Checks names (validateStorageOSVolumeSource)."""
    for field in ("volumeName", "volumeNamespace"):
        name = source.get(field)
        if name and not name_formats.DNS_LABEL.fullmatch(name):
            yield Rejection(
                codes.INVALID_NAME_IN_POD, (field,), f"{name!r} is not a valid name; use at most 63 lower-case letters, digits and dashes"
            )


def _in_byte(source: Fields, field: str) -> Iterator[Rejection]:
    number = source.get(field) or 0
    if not 0 <= number <= _LARGEST_LUN:
        yield Rejection(codes.NUMBER_NOT_ALLOWED, (field,), f"{field} is {number}; write a number from 0 to {_LARGEST_LUN}")


def _is_host_port(text: str) -> bool:
    """Returns true for a host and a port with a colon between them, as SplitHostPort of Go reads them."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1].replace(":", "")
    return bool(colon) and not {*host, *port} & {*":[]"}


_RULES = {
    "awsElasticBlockStore": _partition,
    "azureDisk": _azure_disk,
    "csi": _csi,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "flocker": _flocker,
    "gcePersistentDisk": _partition,
    "gitRepo": _git,
    "iscsi": _iscsi,
    "nfs": _nfs,
    "quobyte": _quobyte,
    "storageos": _storageos,
}
