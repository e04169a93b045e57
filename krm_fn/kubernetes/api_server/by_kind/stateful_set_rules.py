"""Rules of an API server about StatefulSets.

Follows ValidateStatefulSetSpec of `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import object_names, rejections
from krm_fn.kubernetes.api_server.by_kind import claim_rules, workload_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_KEPT = ("Retain", "Delete")
_OF_PODS = ("hostname", "subdomain")
"""Fields of the template that the controller replaces, so that the server does not check them."""


def validate(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a StatefulSet (ValidateStatefulSet)."""
    for rejection in _spec(workload.get("spec") or {}):
        yield rejection.below("spec")


def _spec(spec: Fields) -> Iterator[Rejection]:
    name = spec.get("serviceName") or ""
    if name and not object_names.is_label(name):
        yield rejections.bad_name(name, ("serviceName",), "lower-case letters, digits and dashes")
    yield from workload_rules.counts(spec, "replicas", "minReadySeconds")
    for rejection in workload_rules.counts(spec.get("ordinals") or {}, "start"):
        yield rejection.below("ordinals")
    for field, policy in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if (policy or _KEPT[0]) not in _KEPT:
            yield rejections.unknown(policy, _KEPT, ("persistentVolumeClaimRetentionPolicy", field))
    for rejection in _strategy(spec.get("updateStrategy") or {}):
        yield rejection.below("updateStrategy")
    claims = spec.get("volumeClaimTemplates") or ()
    for index, claim in enumerate(claims):
        for rejection in claim_rules.validate_spec(claim.get("spec") or {}, drops=False):
            yield rejection.below("volumeClaimTemplates", index, "spec")
    yield from workload_rules.validate(
        spec, _with_claims(spec.get("template") or {}, [(claim.get("metadata") or {}).get("name") or "" for claim in claims])
    )


def _with_claims(template: Fields, names: list[str]) -> Fields:
    """Returns the template that the server checks: with a volume for each claim, after its own volumes so that their indexes stay."""
    pod = {field: value for field, value in (template.get("spec") or {}).items() if field not in _OF_PODS}
    if names:
        volumes = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
        pod["volumes"] = [*volumes, *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names))]
    return {**template, "spec": pod}


def _strategy(strategy: Fields) -> Iterator[Rejection]:
    """Checks how pods are replaced (validateRollingUpdateStatefulSet). A feature gate that is off by default allows maxUnavailable."""
    rolling = strategy.get("rollingUpdate")
    if rolling is not None and strategy.get("type") == "OnDelete":
        yield rejections.conflict(("rollingUpdate",), "the type OnDelete has no rollingUpdate", "remove one of the two")
    elif rolling is not None:
        for rejection in workload_rules.counts(rolling, "partition"):
            yield rejection.below("rollingUpdate")
