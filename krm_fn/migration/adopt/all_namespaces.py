"""Adopts all namespaces of a cluster that have resources of Dynamo: a folder for each, one page of steps, and one page of proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import codes, report_markdown, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration import adopt
from krm_fn.migration.adopt import Adoption, declared_settings, exported_objects, migration_files
from krm_fn.render import dynamo_api
from krm_fn.review.live import cluster_export

PROOF = "VERIFICATION.md"
_PROOF = """\
# Verification: {total}

`krm-fn adopt` rendered the files of this folder and compared the pod templates with the export. Compare again with
`krm-fn diff --live EXPORT NAMESPACE`.

| namespace | graphs | pod templates | the same | result |
|---|---|---|---|---|
{rows}
{findings}"""
_FINDINGS = """
## Differences and notes

{lines}
"""


class ClusterAdoption(NamedTuple):
    """The adopted namespaces by name, the pages by file name, and the findings that belong to no namespace."""

    namespaces: dict[str, Adoption]
    pages: dict[str, str]
    results: list[Result]

    @property
    def findings(self) -> list[Result]:
        """All findings, each with the namespace of its resource."""
        return [*self.results, *(finding for adoption in self.namespaces.values() for finding in adoption.results)]

    @property
    def is_steady(self) -> bool:
        """True if no namespace shows that a controller is still rolling something out."""
        return all(adoption.is_steady for adoption in self.namespaces.values())


def adopt_all(values: Sequence[Any]) -> ClusterAdoption:
    """Adopts each namespace of an export that has resources which users wrote. Never raises for the content of the export."""
    export = cluster_export.read(values)
    if export.results:
        return ClusterAdoption({}, {}, export.results)
    by_namespace: dict[str, list[Resource]] = {}
    objects = declared_settings.without_operators(export.objects)
    operators = [resource for resource in export.objects if resource not in objects]
    for resource in objects:
        by_namespace.setdefault(results.ref(resource).namespace, []).append(resource)
    used = {name: members for name, members in sorted(by_namespace.items()) if any(map(exported_objects.is_written, members))}
    if not used:
        message = "the export has no graph of any namespace; add dynamographdeployments.nvidia.com to the kinds, and --all-namespaces"
        return ClusterAdoption({}, {}, [results.error(codes.UNUSABLE_EXPORT, message)])
    namespaces = {name: adopt.adopt([*members, *operators]) for name, members in used.items()}
    return ClusterAdoption(namespaces, _pages(namespaces), [])


def _pages(namespaces: dict[str, Adoption]) -> dict[str, str]:
    """The page of steps and the page of proof. Namespaces whose export is unusable have no steps."""
    parts = [adoption.part._replace(folder=f"{name}/") for name, adoption in namespaces.items() if adoption.part]
    leftovers: list[ObjectKey] = [key for adoption in namespaces.values() for key in adoption.leftovers]
    steps = {migration_files.STEPS: migration_files.steps(parts, leftovers)} if parts else {}
    return {**steps, PROOF: _proof(namespaces)} if parts else {}


def _proof(namespaces: dict[str, Adoption]) -> str:
    lines = [f"* `{name}`: {_line(finding)}" for name, adoption in namespaces.items() for finding in adoption.results]
    findings = _FINDINGS.format(lines="\n".join(lines)) if lines else ""
    return _PROOF.format(total=summary(namespaces), rows="\n".join(_rows(namespaces)), findings=findings)


def _rows(namespaces: dict[str, Adoption]) -> Iterator[str]:
    for name, adoption in namespaces.items():
        verification, part = adoption.verification, adoption.part
        if verification is None or part is None:
            yield f"| `{name}` | | | | the export cannot be used |"
            continue
        graphs = ", ".join(resource["metadata"]["name"] for resource in part.exported.written if resource["kind"] != dynamo_api.MODEL)
        outcome = "no restart" if verification.keeps_all and not results.has_errors(adoption.results) else "**pods would restart**"
        yield f"| `{name}` | {graphs} | {verification.total} | {verification.same} | {outcome} |"


def _line(finding: Result) -> str:
    where = f"{finding.ref.kind} {finding.ref.name}: " if finding.ref else ""
    return report_markdown.plain(" ".join(f"{finding.severity} {where}{results.line(finding)}".split()))


def summary(namespaces: dict[str, Adoption]) -> str:
    """Describes the outcome in one line: `9 of 9 pod templates of 3 namespaces the same, no restart`."""
    verified = [adoption.verification for adoption in namespaces.values() if adoption.verification]
    same, total = sum(item.same for item in verified), sum(item.total for item in verified)
    keeps_all = len(verified) == len(namespaces) and all(item.keeps_all for item in verified)
    return f"{same} of {total} pod templates of {len(namespaces)} namespaces the same{', no restart' if keeps_all else ''}"
