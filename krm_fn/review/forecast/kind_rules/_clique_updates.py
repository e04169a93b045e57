"""Changes of a PodCliqueSet that Grove's admission refuses.

Follows Grove's `operator/internal/webhook/admission/pcs/validation/podcliqueset.go` (validatePodCliqueSetTemplateSpecUpdate).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.review.forecast import kind_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.results import Path

_TEMPLATE: Path = ("spec", "template")
_CLIQUES: Path = (*_TEMPLATE, "cliques")
_GROUPS: Path = (*_TEMPLATE, "podCliqueScalingGroups")
_ORDERED = ("CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit")
_ANY_ORDER = "CliqueStartupTypeAnyOrder"
_OF_SETS = ("resourceClaimTemplates", "resourceSharing", "topologyConstraint")
_OF_CLIQUES = ("roleName", "startsAfter")
_OF_GROUPS = ("cliqueNames", "resourceSharing", "topologyConstraint")


def refused(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Path]:
    """The fields whose change Grove's admission refuses."""
    if (old.get("cliqueStartupType") or _ANY_ORDER) != (new.get("cliqueStartupType") or _ANY_ORDER):
        yield (*_TEMPLATE, "cliqueStartupType")
    yield from ((*_TEMPLATE, name) for name in _OF_SETS if (old.get(name) or None) != (new.get(name) or None))
    ordered = new.get("cliqueStartupType") in _ORDERED
    before, after = (_named(template.get("cliques")) for template in (old, new))
    if before.keys() != after.keys() or (ordered and list(before) != list(after)):
        yield _CLIQUES
    for name in after.keys() & before.keys():
        at = (*_CLIQUES, list(after).index(name))
        yield from ((*at, *path) for path in _refused_in_clique(before[name], after[name]))
    groups, now = (_named(template.get("podCliqueScalingGroups")) for template in (old, new))
    if groups.keys() != now.keys():
        yield _GROUPS
    for name in now.keys() & groups.keys():
        at = (*_GROUPS, list(now).index(name))
        yield from ((*at, field) for field in _OF_GROUPS if (groups[name].get(field) or None) != (now[name].get(field) or None))
        if kind_rules.number(groups[name].get("minAvailable"), 1) != kind_rules.number(now[name].get("minAvailable"), 1):
            yield (*at, "minAvailable")


def _refused_in_clique(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Path]:
    before, after = (values.mapping(clique.get("spec")) for clique in (old, new))
    yield from (("spec", name) for name in _OF_CLIQUES if (before.get(name) or None) != (after.get(name) or None))
    if _least(before) != _least(after):
        yield ("spec", "minAvailable")
    if _scheduler(before) != _scheduler(after):
        yield ("spec", "podSpec", "schedulerName")
    yield from ((name,) for name in ("resourceSharing", "topologyConstraint") if (old.get(name) or None) != (new.get(name) or None))


def _least(spec: Mapping[str, Any]) -> int:
    """`minAvailable`, which is the number of replicas if it is missing (defaultPodCliqueTemplateSpecs)."""
    return kind_rules.number(spec.get("minAvailable"), kind_rules.number(spec.get("replicas"), 0))


def _scheduler(spec: Mapping[str, Any]) -> Any:
    return values.mapping(spec.get("podSpec")).get("schedulerName") or ""


def _named(value: Any) -> dict[str, dict[str, Any]]:
    return {f"{entry.get('name')}": entry for entry in values.objects(value)}
