"""The resources of an upgrade: the parts in which they are planned, and the files and lines of findings and edits."""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.migration.upgrade import fleet_parts, upgrade_report
from krm_fn.migration.upgrade.fleet_parts import FleetPart
from krm_fn.migration.upgrade.upgrade_plan import UpgradePlan
from krm_fn.migration.upgrade.upgrade_report import EditedField, SourceLine
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.review.inputs.path_inputs import LoadedRoots


class UpgradeFleet:
    """The resources of all roots, and the parts in which they are planned.

    A resource that several roots have is that of a named root, and otherwise that of the first one.
    """

    def __init__(self, loaded: LoadedRoots) -> None:
        self.loaded, self.parts = loaded, [*_parts(loaded)]
        self.resources = [source for part in loaded.parts for source in part.resources]
        self._of_root: dict[str, list[Source]] = {}
        for name, part in zip(loaded.names, loaded.parts, strict=True):
            self._of_root.setdefault(name, []).extend(part.resources)
        self._first = _by_ref(self.resources)
        self._first_of_root = {name: _by_ref(sources) for name, sources in self._of_root.items()}

    @property
    def names(self) -> list[str]:
        """The names of the roots, each once."""
        return [*dict.fromkeys(self.loaded.names)]

    def of_root(self, name: str) -> list[Source]:
        """Returns the sources of the resources of a root."""
        return self._of_root.get(name, [])

    def locate(self, findings: Iterable[Result], name: str) -> list[Result]:
        """Returns findings, each once, with their locations."""
        distinct, of_root = dict.fromkeys(findings), self._first_of_root.get(name, {})
        sources = (of_root.get(ref) or self._first.get(ref) for ref in (finding.ref for finding in distinct) if ref)
        return reading.locate(distinct, filter(None, sources))

    def findings(self, plan: UpgradePlan, others: list[Result]) -> dict[int, list[Result]]:
        """Returns all findings with their locations, by the number of their step; 0 for those about the input and `others`."""
        about_files = [finding for part in self.loaded.parts for finding in part.results]
        about_files += [*self.loaded.results, *others]
        if not self.parts and all(finding.code == codes.NO_INPUT for finding in results.errors_of(about_files)):
            message = (
                "the input has no graph, component or request of Dynamo; name their files, or export them with "
                "kubectl get dynamographdeployments --all-namespaces -o yaml, and check the namespace and your permissions"
            )
            about_files.append(results.error(codes.NOTHING_TO_UPGRADE, message))
        by_step = {0: self.locate([*about_files, *plan.findings], "")}
        for step in plan.steps:
            of_graphs = [finding for name in self.names for finding in self.locate(step.findings_in(name), name)]
            by_step[step.step.number] = [*of_graphs, *self.locate(step.findings, "")]
        return by_step

    def lines(self, plan: UpgradePlan) -> dict[EditedField, SourceLine]:
        """Returns the lines of the fields that the plan edits. A field that it adds has the line of the object around it."""
        sources: dict[tuple[str, ObjectKey], Source] = {}
        for part in self.parts:
            for source in self.of_root(part.name):
                sources.setdefault((part.name, part.key(source.value)), source)
        fields: dict[EditedField, tuple[Source, results.Path]] = {}
        for graph in (graph for step in plan.steps for graph in step.graphs):
            if author := sources.get((graph.part, graph.key)):
                edits = upgrade_report.all_edits(graph)
                fields |= {EditedField(graph.part, graph.key, edit.path): (author, edit.path) for edit in edits}
        locations = reading.field_locations(fields.values())
        lines = zip(fields, locations, strict=True)
        return {field: SourceLine(location["file"], location["line"]) for field, location in lines if location.get("line")}


def _by_ref(sources: Iterable[Source]) -> dict[Ref, Source]:
    """Returns the first source of each address."""
    first: dict[Ref, Source] = {}
    for source in sources:
        first.setdefault(source.address, source)
    return first


def _parts(loaded: LoadedRoots) -> Iterable[FleetPart]:
    for name, sources in zip(loaded.names, loaded.parts, strict=True):
        yield from fleet_parts.parts(name, sources.values, sources.config, is_configured=bool(sources.configs))
