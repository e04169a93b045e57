"""An upgrade that is made twice changes nothing the second time, and moves no graph back, in fleets of any mixture."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from krm_fn.migration.upgrade import fleet_parts, upgrade_planner, upgrade_steps
from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.render.config import Config
from krm_fn.render.resolve import runtime_version
from tests.support import beta, given
from tests.testbed import tier

VERSIONS = ("0.9.0", "1.4.2", "1.5.0", "1.5.1", "1.5.7", "1.6.0", "1.6.2", "1.6.2", "1.9.0", "1.5.1-rc1", "1.2.0-cuda13", "latest")
TARGETS = ("0.9", "0.9.1", "1.5", "1.5.1", "1.5.4", "1.6", "1.6.2", "1.6.2")


def graph(number: int, tags: tuple[str, str], is_older: bool, sidecar: str) -> Any:
    images = [f"registry.example/dynamo:{tag}" for tag in tags]
    if is_older:
        services = {
            name: given.service(name.lower(), main={"image": image}) for name, image in zip(("Frontend", "Worker"), images, strict=True)
        }
        return given.graph(services, name=f"g{number}", backendFramework="sglang")
    frontend, worker = (
        beta.component(name, name.lower(), main={"image": image}) for name, image in zip(("Frontend", "Worker"), images, strict=True)
    )
    worker["podTemplate"]["spec"]["containers"].append({"name": "proxy", "image": f"registry.example/vllm-runtime:{sidecar}"})
    return beta.graph(frontend, worker, name=f"g{number}", backendFramework="sglang")


FLEETS = st.lists(
    st.tuples(st.tuples(st.sampled_from(VERSIONS), st.sampled_from(VERSIONS)), st.booleans(), st.sampled_from(VERSIONS)),
    min_size=1,
    max_size=4,
)


def versions_of(parts: Any) -> list[list[Any]]:
    return [[image.version for image in runtime_version.images(resource)] for part in parts for resource in part.resources]


def moved(parts: Any, target: str, *, downgrade: bool) -> tuple[Any, Any]:
    """Returns the plan, and the parts after its last step."""
    version = upgrade_steps.target(target)
    assert version is not None
    options = UpgradeOptions(downgrade=downgrade, newer_patches=not upgrade_steps.names_patch(target))
    plan = upgrade_planner.plan(parts, version, options)
    return plan, [part.new for part in plan.steps[-1].parts] if plan.steps else parts


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(
    fleet=FLEETS,
    release=st.sampled_from(("", "", "v0.9", "v1.5", "v1.6", "v1.5+")),
    target=st.sampled_from(TARGETS),
    downgrade=st.booleans(),
)
def test_a_second_upgrade_changes_nothing(fleet, release, target, downgrade):
    resources = [graph(number, *shape) for number, shape in enumerate(fleet)]
    parts = [*fleet_parts.parts("", resources, Config(behaviour=release), is_configured=True)]
    plan, after = moved(parts, target, downgrade=downgrade)
    assert not [graph.key for step in plan.steps for graph in step.graphs if graph.state == "error before" and graph.edits]
    for before, new in zip(versions_of(parts), versions_of(after), strict=True):
        changed = [pair for pair in zip(before, new, strict=True) if pair[0] != pair[1]]
        assert all((new_version < old_version) == downgrade for old_version, new_version in changed)
    _, twice = moved(after, target, downgrade=downgrade)
    assert [(part.resources, part.config) for part in twice] == [(part.resources, part.config) for part in after]


@pytest.mark.parametrize("target", ["1.6", "1.6.2", "1.5"])
def test_newer_patches_stay_beside_older_graphs(target):
    """A fleet with a hot fix: the second run must not move it back, which the first one left."""
    resources = [graph(number, (tag, tag), False, tag) for number, tag in enumerate(("1.4.2", "1.6.2", "1.6.2"))]
    parts = [*fleet_parts.parts("", resources, Config(), is_configured=True)]
    for _ in range(2):
        _, parts = moved(parts, target, downgrade=False)
        assert versions_of(parts)[1] == [(1, 6, 2), (1, 6, 2)]
