"""Rules of an API server about annotations of a pod that Kubernetes itself reads."""

from __future__ import annotations

import json
import re

from krm_fn.base import codes
from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server.by_field import scheduling_rules
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context
    from krm_fn.kubernetes.types import Labels

    Fields = Mapping[str, Any]

_MIRROR, _TOLERATIONS = "kubernetes.io/config.mirror", "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_COST = re.compile(r"0|-[0-9]+|[1-9][0-9]*")
_NOT_THE_FIELD = "the annotation differs from the profile in the security context; remove the annotation"


def validate(annotations: Labels, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the annotations of a pod (ValidatePodSpecificAnnotations). Paths begin with the key."""
    for key, value in annotations.items():
        for message in _problems(key, value, context.spec):
            yield Rejection(codes.INVALID_KUBERNETES_ANNOTATION, (key,), message)


def _problems(key: str, value: str, spec: Fields) -> Iterator[str]:
    if key == _MIRROR and not spec.get("nodeName"):
        yield "only a pod of a kubelet has this annotation; remove it"
    elif key == _TOLERATIONS and value:
        yield from _tolerations(value)
    elif key == _DELETION_COST and not (_COST.fullmatch(value) and _is_int32(value)):
        yield f"{value!r} is not a whole number of 32 bits; write one, for example 100"
    elif key == _SECCOMP_POD:
        yield from _seccomp(value, (spec.get("securityContext") or {}).get("seccompProfile"))
    elif key.startswith(_SECCOMP):
        container = _container(spec, key.removeprefix(_SECCOMP)) or {}
        yield from _seccomp(value, (container.get("securityContext") or {}).get("seccompProfile"))
    elif key.startswith(_APP_ARMOR):
        yield from _app_armor(key.removeprefix(_APP_ARMOR), value, spec)


def _is_int32(text: str) -> bool:
    number = values.int64(text)
    return number is not None and -(2**31) <= number < 2**31


def _tolerations(text: str) -> Iterator[str]:
    """Checks tolerations as JSON (ValidateTolerationsInPodAnnotations)."""
    try:
        tolerations = json.loads(text)
    except (ValueError, RecursionError):
        yield "the value is not JSON; write the tolerations under tolerations of the pod"
        return
    if not isinstance(tolerations, list) or not all(isinstance(toleration, dict) for toleration in tolerations):
        yield "the value is not a list of tolerations; write them under tolerations of the pod"
        return
    yield from (rejection.message for rejection in scheduling_rules.validate_toleration_list(tolerations))


def _seccomp(value: str, profile: Fields | None) -> Iterator[str]:
    """Checks a profile (ValidateSeccompProfile, validateSeccompAnnotationsAndFieldsMatch)."""
    path = value.removeprefix("localhost/") if value.startswith("localhost/") else None
    if path is None and value not in ("runtime/default", "docker/default", "unconfined"):
        yield f"{value!r} is not a seccomp profile; write seccompProfile in the security context"
    elif path is not None and (path.startswith("/") or ".." in path.split("/")):
        yield f"the path {path!r} leaves the folder of the profiles; write a relative path without .."
    expected: dict[Any, bool] = {
        "Unconfined": value == "unconfined",
        "RuntimeDefault": value in ("runtime/default", "docker/default"),
        "Localhost": path is not None and path == (profile or {}).get("localhostProfile"),
    }
    if profile is not None and not expected.get(profile.get("type"), True):
        yield _NOT_THE_FIELD


def _app_armor(name: str, value: str, spec: Fields) -> Iterator[str]:
    """Checks a profile (ValidateAppArmorPodAnnotations, validateAppArmorAnnotationsAndFieldsMatchOnCreate)."""
    container = _container(spec, name)
    if container is None:
        yield f"the pod has no container {name}; write the name of a container after the slash"
    if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
        yield f"{value!r} is not an AppArmor profile; write appArmorProfile in the security context"
    if container is None or (spec.get("os") or {}).get("name") == "windows":
        return
    contexts = ((holder.get("securityContext") or {}).get("appArmorProfile") for holder in (container, spec))
    profile = next((context for context in contexts if context is not None), None)
    expected: dict[Any, bool] = {
        "Unconfined": value == "unconfined",
        "RuntimeDefault": value == "runtime/default",
        "Localhost": value.startswith("localhost/") and value.removeprefix("localhost/") == (profile or {}).get("localhostProfile"),
    }
    if profile is not None and not expected.get(profile.get("type"), True):
        yield _NOT_THE_FIELD


def _container(spec: Fields, name: str) -> Fields | None:
    """Returns the container with that name."""
    containers: list[Fields] = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return next((container for container in containers if container.get("name") == name), None)
