"""Finds what a render needs beside it, with the lines that name it. The rules are in `krm_fn.review.required_objects`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.origins.origin import FieldLocation, Origin
from krm_fn.render import expand
from krm_fn.render.resolve import cluster
from krm_fn.review import required_objects, requirement_states
from krm_fn.review.inputs import origin_locations
from krm_fn.review.inputs.path_inputs import RenderFiles
from krm_fn.review.required_objects import ObjectUse
from krm_fn.review.requirement_states import ExportedKeys, RequiredObject, State


class RenderNeeds(NamedTuple):
    """All that a render needs, with the locations of the fields that name it. `root` is its folder; empty if there is only one."""

    root: str
    objects: list[RequiredObject]
    definitions: list[tuple[str, str, State]]
    locations: dict[Origin | None, FieldLocation]

    @property
    def is_incomplete(self) -> bool:
        """True if an object, a key of it or a definition is missing in the cluster."""
        return any(required.is_missing for required in self.objects) or any(state == "missing" for *_, state in self.definitions)


def find(render: RenderFiles, exported: ExportedKeys | None, root: Path | None, *, is_named: bool) -> RenderNeeds:
    """Returns all that a render needs. `exported` is an export of the cluster, and `root` the root folder of a build."""
    loaded = render.sources
    requirements = [*_find_requirements(render), *required_objects.namespaces(loaded.values, cluster.default_namespace(loaded.config))]
    rendered = expand.expand(loaded.values, loaded.config).resources
    kinds = required_objects.definitions([*(source.value for source in render.generated or ()), *rendered])
    return RenderNeeds(
        render.name if is_named else "",
        requirement_states.group_requirements(requirements, exported),
        [(*kind, requirement_states.definition_state(*kind, exported)) for kind in kinds],
        origin_locations.of_authors((requirement.author for requirement in requirements), loaded, root),
    )


def _find_requirements(render: RenderFiles) -> list[ObjectUse]:
    """Returns what the objects of a render need. Those of a build are as its last layer left them, for example with other names."""
    loaded, namespace = render.sources, cluster.default_namespace(render.sources.config)
    requirements = required_objects.of_render(loaded.values, loaded.config)
    if render.generated is None:
        return requirements
    authors = {(requirement.ref, requirement.path, requirement.key): requirement.author for requirement in requirements}
    generated = [source.value for source in render.generated]
    refs = {results.ref(value) for value in generated}
    provided = {*required_objects.promised_secrets(loaded.values, namespace)}
    built = required_objects.of_objects((identity.key(value, namespace), value) for value in (*generated, *loaded.values))
    return [
        requirement._replace(author=authors.get((requirement.ref, requirement.path, requirement.key)))
        for requirement in built
        if requirement.ref in refs and requirement.key not in provided
    ]
