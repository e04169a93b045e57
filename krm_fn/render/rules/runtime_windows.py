"""Warns of images that a release does not support, and of components of one graph whose runtimes are too far apart.

They are findings of `krm-fn check`. A render leaves them out, because they change nothing in its output.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import dynamo_api
from krm_fn.render.kinds import floors, gates, types
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import release_choice, runtime_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.kinds.releases import ReleaseNumber
    from krm_fn.render.resolve.runtime_version import RuntimeVersion

_RENDERED = (dynamo_api.GRAPH, dynamo_api.COMPONENT)


def check(resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings about each graph and each component among the resources. Fields may have wrong types."""
    for resource in resources:
        if resource.get("kind") in _RENDERED and not ownership.is_generated(resource):
            if release_choice.is_pinned(config):
                runtimes = [*runtime_version.each(resource)]
                yield from _check_release(resource, release_choice.release(resource, config).number, runtimes)
            yield from _check_graph(resource)
            yield from _check_evidence(resource, release_choice.release_name(resource, config))


def unsupported_runtimes(release: ReleaseNumber, runtimes: Iterable[RuntimeVersion]) -> Iterator[RuntimeVersion]:
    """Yields the runtimes that a release does not support: more than two minor versions older, or more than one newer."""
    for runtime in runtimes:
        if not -floors.OLDER <= floors.distance(release, runtime.version) <= floors.NEWER:
            yield runtime


def far_workers(frontends: Iterable[RuntimeVersion], workers: Sequence[RuntimeVersion]) -> Iterator[tuple[RuntimeVersion, RuntimeVersion]]:
    """Yields each frontend with a worker whose runtime is more than two minor versions apart, the first one of them."""
    for frontend in frontends:
        far = [worker for worker in workers if abs(floors.distance(frontend.version, worker.version)) > floors.OLDER]
        yield from ((frontend, worker) for worker in far[:1])


def of_frontends_and_workers(resource: Resource) -> tuple[list[RuntimeVersion], list[RuntimeVersion]]:
    """Returns the known runtimes of the frontends and of the workers of a graph. Fields may have wrong types."""
    by_type = [(types.get(runtime_version.component_type(resource, runtime)), runtime) for runtime in runtime_version.each(resource)]
    frontends = [runtime for component_type, runtime in by_type if component_type.is_frontend]
    return frontends, [runtime for component_type, runtime in by_type if component_type.runs_engine]


def _check_release(resource: Resource, release: ReleaseNumber, runtimes: Sequence[RuntimeVersion]) -> Iterator[Result]:
    """Warns of runtimes outside the window of a release that the configuration names, one finding for each version."""
    oldest, newest = floors.window(release)
    for runtime in unsupported_runtimes(release, {entry.version: entry for entry in reversed(runtimes)}.values()):
        message = (
            f"the configuration names release v{_text(release)}, which supports runtimes from {oldest} to {newest}, and this is "
            f"{_text(runtime.version)}; use an image of these versions, or remove behaviour, so that the images choose the release"
        )
        yield results.warning(codes.IMAGE_OUTSIDE_RELEASE_WINDOW, message, results.ref(resource), runtime.path)


def _check_graph(resource: Resource) -> Iterator[Result]:
    """Warns of a frontend and workers of one graph that are more than two minor versions apart."""
    for frontend, worker in far_workers(*of_frontends_and_workers(resource)):
        message = (
            f"the frontend has runtime {_text(frontend.version)}, and a worker has {_text(worker.version)}: they work together up to "
            f"{floors.OLDER} minor versions apart; use images of closer versions"
        )
        yield results.warning(codes.FRONTEND_AND_WORKER_TOO_FAR_APART, message, results.ref(resource), frontend.path)


def _check_evidence(resource: Resource, name: str) -> Iterator[Result]:
    """Notes that the release of a resource was not compared with its operator, or only with its first version."""
    row = release_choice.RELEASES[name]
    if not row.cases:
        has_gate = any(gate.release == release_choice.number(name) for gate in gates.GATES)
        known = "docs/releases.md has the known changes of pods" if has_gate else f"no change of pods by {name[1:]}.0 is known"
        message = (
            f"the render follows {name}: {known}, and nothing was compared with its operator; compare one graph with an operator, or read "
            "docs/releases.md"
        )
    elif row.recorded:
        message = (
            f"the render follows {name}, whose pods were recorded at {row.recorded}: what later patches of this release changed is not "
            "known; read docs/releases.md"
        )
    else:
        return
    yield results.info(codes.RELEASE_NOT_COMPARED, message, results.ref(resource), ("spec",))


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
