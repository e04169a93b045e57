"""Rules about the names of containers: one is `main`, which runs the component, and `frontendSidecar` names another one."""

from __future__ import annotations

from krm_fn.base import codes, results, spelling
from krm_fn.render import engines
from krm_fn.render.convert.path_mapping import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.render.plan import ComponentPlan

_MODULE = "-m dynamo."
_FRONTEND = f"{_MODULE}frontend"


def without_main(plan: ComponentPlan) -> Result:
    """Returns the finding about a component without the container `main`: the container that should have the name, or else the list."""
    problem = "the component has no container named main, which runs Dynamo"
    meant = _meant(plan)
    if meant is None:
        fix = "add it with an image"
        return results.error(codes.MISSING_MAIN_CONTAINER, f"{problem}; {fix}", plan.ref, plan.at("podTemplate", "spec", "containers"))
    name = f"{_beside(plan)[meant].get('name')}"
    path = (*plan.at("sidecars", meant), "name")
    return results.error(
        codes.MISSING_MAIN_CONTAINER, f"{problem}; rename the container {name} to main", plan.ref, path, current=name, proposed=MAIN
    )


def _meant(plan: ComponentPlan) -> int | None:
    """Returns the position of the container that should be `main`: the only one, one of a similar name, or the only one with Dynamo.

    In v1alpha1, `main` is a field of its own, so no other container is renamed to it.
    """
    beside = _beside(plan)
    own = {position: entry for position, entry in enumerate(beside) if entry.get("name") != plan.features.frontend_sidecar}
    if plan.paths.converted is not None or not own:
        return None
    alike = [position for position, entry in own.items() if spelling.nearest(f"{entry.get('name')}", [MAIN])]
    starting = [position for position, entry in own.items() if _MODULE in _line(entry)]
    return next((positions[0] for positions in ([*own], alike, starting) if len(positions) == 1), None)


def check_sidecar(plan: ComponentPlan) -> Iterator[Result]:
    """Reports a frontend sidecar that is not one of the containers, or that is the container of the component itself."""
    name, field = plan.features.frontend_sidecar, plan.word("frontendSidecar")
    beside = {f"{entry.get('name')}": entry for entry in _beside(plan)}
    if name in beside:
        return
    running = [other for other, entry in beside.items() if _FRONTEND in _line(entry)]
    meant = spelling.nearest(name, beside) or (running[0] if len(running) == 1 else " or ".join(beside))
    if name == MAIN:
        runs = f"{plan.engine}" if plan.engine != engines.NONE.name else "the component itself"
        fix = f"write {meant}" if meant else f"remove {field}, or add a container with the frontend and write its name"
        message = f"{field} names a container beside main, and main runs {runs}; {fix}"
        yield results.warning(codes.FRONTEND_SIDECAR_IS_MAIN, message, plan.ref, plan.at("frontendSidecar"))
        return
    fix = f"write {meant}, or add the container" if meant else f"add the container, or remove {field}"
    yield results.error(codes.FRONTEND_SIDECAR_NOT_FOUND, f"the pod has no container {name}; {fix}", plan.ref, plan.at("frontendSidecar"))


def _beside(plan: ComponentPlan) -> list[dict[str, Any]]:
    """Returns the containers of the author beside `main`."""
    listed: Any = plan.pod.spec.get("containers") or ()
    return [*listed]


def _line(container: dict[str, Any]) -> str:
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    return " ".join(" ".join(f"{word}" for word in words).split())
