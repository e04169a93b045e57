"""The plan of an upgrade: the services that restart, and the smallest sets of causes of each restart.

The documents of releases.md say what each cause changes: the image of a pod, the hash of all workers, and the gates.
"""

from __future__ import annotations

import copy
import re
from itertools import pairwise
from typing import Any

import pytest

from krm_fn.base import report_markdown
from krm_fn.kubernetes import identity
from krm_fn.migration.upgrade import fleet_parts, upgrade_pages, upgrade_planner, upgrade_report, upgrade_steps
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, ServiceUpgrade
from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.migration.upgrade.upgrade_report import UpgradeReport
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.repository.files import reading, sources
from krm_fn.review.diff import comparison, rendered_state
from krm_fn.review.forecast import Gpus
from krm_fn.review.forecast.rollouts import Service
from tests.fuzz import mutations
from tests.support import beta, given
from tests.support.cases import cases

DIGEST = "registry.example/dynamo@sha256:" + "0a" * 32
IMAGE, RELEASE, BOTH = ("image",), ("release",), ("release", "image")


def tagged(version: str, kind: str = "worker", **fields: Any) -> Any:
    """A service whose image has a version in its tag."""
    return given.service(kind, main={"image": f"registry.example/dynamo:{version}"}, **fields)


def overridden(name: str, kind: str, version: str, **fields: Any) -> Any:
    """A component whose image has a digest, so that only `runtimeVersionOverride` has a version."""
    return beta.component(name, kind, main={"image": DIGEST}, runtimeVersionOverride=version, **fields)


def pair(version: str, **worker: Any) -> Any:
    """A graph with a frontend and a worker."""
    return given.graph({"Front": tagged(version, "frontend"), "Worker": tagged(version, **worker)}, backendFramework="sglang")


def planned(*resources: Any, target: str = "1.6", options: UpgradeOptions = UpgradeOptions(), **settings: Any) -> Any:  # noqa: B008
    end = upgrade_steps.target(target)
    assert end is not None
    parts = fleet_parts.parts("", resources, Config(**settings), is_configured=True)
    return upgrade_planner.plan(parts, end, options)


def services(plan: Any, step: int = 1) -> dict[str, Any]:
    return {service.service.name: service for graph in plan.steps[step - 1].graphs for service in graph.services}


def codes(findings: Any) -> list[str]:
    return [finding.code for finding in findings]


COMMAND = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "m"], "resources": {"limits": {"nvidia.com/gpu": "8"}}}
MULTINODE = overridden("Worker", "worker", "1.5.1", multinode={"nodeCount": 2})
MULTINODE["podTemplate"]["spec"]["containers"][0] |= COMMAND
ROWS = [
    # reason, graph, target, settings, options, causes of the graph, the smallest sets of each service
    ("a patch", pair("1.5.0"), "1.5", {}, {}, IMAGE, {"Front": [IMAGE], "Worker": [IMAGE]}),
    ("either the image or the release", pair("0.9.0"), "1.1", {}, {}, BOTH, {"Front": [RELEASE, IMAGE], "Worker": [RELEASE, IMAGE]}),
    ("the same pods in 1.5 and 1.6", pair("1.5.1"), "1.6", {}, {}, BOTH, {"Front": [IMAGE], "Worker": [IMAGE]}),
    ("a pinned release alone: the gate of a probe", pair("1.6.2"), "1.6", {"behaviour": "v1.5"}, {}, RELEASE, {"Front": [RELEASE]}),
    ("a pinned release and the images", pair("1.5.1"), "1.6", {"behaviour": "v1.5"}, {}, BOTH, {"Front": [IMAGE], "Worker": [IMAGE]}),
    (
        "the release and the version together open a gate",
        beta.graph(overridden("Front", "frontend", "1.5.1"), overridden("Worker", "worker", "1.5.1")),
        "1.6",
        {},
        {},
        BOTH,
        {"Front": [BOTH], "Worker": [IMAGE]},
    ),
    (
        "no cause: a version without a gate, and no hash",
        beta.graph(overridden("Worker", "worker", "1.5.0")),
        "1.5",
        {"worker_hash": "none"},
        {},
        IMAGE,
        {},
    ),
    ("the origin stays", beta.graph(MULTINODE, backendFramework="sglang"), "1.6", {"worker_hash": "none"}, {}, BOTH, {}),
    (
        "the release and the origin together open a gate",
        beta.graph(MULTINODE, backendFramework="sglang"),
        "1.6",
        {"worker_hash": "none"},
        {"new_origin": True},
        ("release", "image", "origin"),
        {"Worker": [("release", "origin")]},
    ),
    (
        "the API version alone restarts nothing",
        pair("1.5.1"),
        "1.6",
        {},
        {"api_version": dynamo_api.V1BETA1},
        ("release", "image", "api_version"),
        {"Front": [IMAGE], "Worker": [IMAGE]},
    ),
    (
        "back, which closes the gate of a probe, and hashes another origin version",
        pair("1.6.2"),
        "1.5",
        {},
        {"downgrade": True},
        BOTH,
        {"Front": [RELEASE, IMAGE], "Worker": [RELEASE, IMAGE]},
    ),
]  # fmt: skip


@cases(("graph", "target", "settings", "options", "causes", "smallest"), ROWS)
def test_a_restart_has_the_smallest_sets_of_its_causes(graph, target, settings, options, causes, smallest):
    before = copy.deepcopy(graph)
    plan = planned(graph, target=target, options=UpgradeOptions(**options), **settings)
    (step,) = plan.steps
    (upgrade,) = step.graphs
    assert (upgrade.state, upgrade.causes) == ("planned", causes)
    assert {name: [*service.smallest] for name, service in services(plan).items() if service.restarts} == smallest
    assert all(bool(service.smallest) == service.restarts for service in upgrade.services)
    assert graph == before


@pytest.mark.parametrize(("graph", "target", "settings", "options"), [row[1:5] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_plan_says_what_the_forecast_of_both_states_says(graph, target, settings, options):
    """The states are rendered as they are in files, without pins."""
    plan = planned(graph, target=target, options=UpgradeOptions(**options), **settings)
    (part,) = plan.steps[0].parts
    old, new = (rendered_state.render(state.resources, state.config) for state in (part.old, part.new))
    forecast = comparison.compare(old, new).forecast
    assert {service.service for graph in plan.steps[0].graphs for service in graph.services if service.restarts} == {*forecast.restarting}
    assert plan.steps[0].graphs[0].gpus.before == forecast.gpus.before


def test_each_cause_alone_is_shown_and_what_it_would_cost_to_move_the_rest():
    graph = beta.graph(overridden("Front", "frontend", "1.5.1"), MULTINODE, backendFramework="sglang")
    shown = services(planned(graph, worker_hash="none"))
    assert shown["Front"].alone == {"release": False, "image": False}
    assert {name: service.optional for name, service in shown.items()} == {"Front": {"origin": False}, "Worker": {"origin": True}}


def test_a_step_keeps_the_origin_version_in_an_annotation():
    plan = planned(pair("0.9.0"))
    origins = [labels.annotations(part.new.resources[0])[labels.ORIGIN_VERSION] for step in plan.steps for part in step.parts]
    assert origins == ["0.9.0"] * 4


def test_each_step_begins_with_the_state_that_the_step_before_leaves():
    plan = planned(pair("0.9.0"))
    assert [step.step.runtime for step in plan.steps] == [(1, 1, 1), (1, 3, 1), (1, 5, 1), (1, 6, 2)]
    for first, second in pairwise(plan.steps):
        assert [part.new for part in first.parts] == [part.old for part in second.parts]
        again = upgrade_planner.plan([part.new for part in first.parts], (1, 6, 2)).steps[0]
        assert again.graphs == second.graphs


def test_a_mixed_fleet_moves_each_graph_in_its_own_steps():
    graphs = [
        {**pair(version), "metadata": {"name": name, "namespace": "team"}}
        for name, version in (("a", "0.9.0"), ("b", "1.4.2"), ("c", "1.6.2"))
    ]
    plan = planned(*graphs)
    assert [[graph.key.name for graph in step.graphs] for step in plan.steps] == [["a"], ["a"], ["a"], ["a", "b"]]
    assert [key.name for _, key in plan.unchanged] == ["c"]
    assert plan.findings == ()


def test_parts_of_a_fleet_have_the_same_steps():
    """Each root has its own configuration, and each pins its own release."""
    parts = [
        *fleet_parts.parts("prod", [pair("1.5.1")], Config(behaviour="v1.5"), is_configured=True),
        *fleet_parts.parts("test", [pair("0.9.0")], Config(behaviour="v0.9"), is_configured=True),
    ]
    plan = upgrade_planner.plan(parts, (1, 6, 2))
    assert [[graph.part for graph in step.graphs] for step in plan.steps] == [["test"], ["test"], ["test"], ["prod", "test"]]
    assert [[part.new.config.behaviour for part in step.parts] for step in plan.steps] == [
        ["v1.5", "v1.2"],
        ["v1.5", "v1.3"],
        ["v1.5", "v1.5"],
        ["v1.6", "v1.6"],
    ]


def test_old_and_new_pods_that_do_not_work_together_are_a_warning():
    """The release 1.5 does not support images of 1.0, so that no path keeps all rules."""
    (step,) = planned(pair("1.0.0"), behaviour="v1.5").steps
    assert codes(step.all_findings) == ["DYN650"]
    assert not any("DYN650" in codes(step.all_findings) for step in planned(pair("0.9.0")).steps)


def test_the_markdown_of_a_large_fleet_fits_into_a_comment():
    plan = planned(pair("1.6.2"), target="1.5", options=UpgradeOptions(downgrade=True))
    steps = tuple(step._replace(graphs=step.graphs * 500) for step in plan.steps)
    findings = {
        step.step.number: [
            finding._replace(message=f"{finding.message} {number}") for finding in step.all_findings for number in range(500)
        ]
        for step in plan.steps
    }
    text = upgrade_pages.markdown(UpgradeReport(plan, {}, findings, steps))
    assert 20_000 < len(text) <= report_markdown.LIMIT
    assert re.search(r"^\| … \| and [0-9]+ more rows \|+$", text, re.MULTILINE)
    assert re.search(r"^- and [0-9]+ more findings$", text, re.MULTILINE)


def test_a_graph_with_errors_has_no_plan_and_the_others_have_one():
    broken = {**given.graph({"Worker": tagged("1.5.1", replicas="many")}, name="broken")}
    plan = planned(broken, pair("1.5.1"))
    assert codes(plan.findings) == ["DYN651"]
    assert {graph.key.name: graph.state for graph in plan.steps[0].graphs} == {"broken": "error before", "chat": "planned"}
    assert {graph.key.name: graph.edits is not None for graph in plan.steps[0].graphs} == {"broken": False, "chat": True}


@pytest.mark.parametrize(("settings", "moves"), [({}, True), ({"behaviour": "v1.5"}, False), ({"behaviour": "v1.6"}, True)])
def test_a_configuration_that_a_graph_with_errors_shares_stays(settings, moves):
    """A new release in the configuration would move the graph without a plan, too."""
    broken = {**given.graph({"Worker": tagged("1.5.1", replicas="many")}, name="broken")}
    plan = planned(broken, pair("1.5.1"), **settings)
    (step,) = plan.steps
    assert {graph.key.name for graph in step.graphs if graph.edits} == ({"chat"} if moves else set())
    assert step.parts[0].old.config == step.parts[0].new.config
    assert codes([*plan.findings, *step.all_findings]).count("DYN651") == (1 if moves else 2)


def test_a_graph_that_the_new_release_refuses_is_named_with_the_reason():
    """Dynamo 0.9 has no frontend sidecars."""
    graph = given.graph({"Worker": tagged("1.5.1", frontendSidecar={"image": "registry.example/dynamo:1.5.1"})})
    plan = planned(graph, target="0.9", options=UpgradeOptions(downgrade=True), behaviour="v1.5")
    (upgrade,) = plan.steps[-1].graphs
    assert (upgrade.state, upgrade.effect, upgrade.services) == ("error after", "unknown", ())
    assert "DYN411" in codes(upgrade.findings)


def test_a_graph_without_a_version_has_a_plan_only_for_a_pinned_release():
    graph = given.graph({"Worker": tagged("latest")})
    assert codes(planned(graph).findings) == ["DYN652"]
    assert planned(graph).steps == ()
    pinned = planned(graph, behaviour="v0.9")
    assert (codes(pinned.findings), [step.step.release for step in pinned.steps]) == ([], ["v1.2", "v1.3", "v1.5", "v1.6"])
    assert "DYN660" in codes(pinned.steps[0].all_findings)


def test_a_graph_that_is_newer_than_the_target_stays_beside_older_ones():
    newer = {**pair("1.6.2"), "metadata": {"name": "newer", "namespace": "team"}}
    plan = planned(pair("1.4.2"), newer, target="1.5")
    assert (codes(plan.findings), [graph.key.name for graph in plan.steps[0].graphs]) == (["DYN653"], ["chat"])
    alone = planned(newer, target="1.5")
    assert (codes(alone.findings), alone.steps) == (["DYN653"], ())


MIXED = [
    ("an upgrade", "1.5", False, "images of the graph have 1.6.2, which is newer than 1.5.1, so these images stay"),
    ("a downgrade", "1.3", True, "images of the graph have 0.9.1, which is older than 1.3.1, so these images stay"),
    ("above all images", "1.7", False, ""),
]


@cases(("reason", "target", "downgrade", "said"), MIXED)
def test_images_of_four_releases_in_one_graph(reason, target, downgrade, said):
    """Images beyond the target stay, and the plan says it. No image moves against the direction of the plan."""
    images = {"Front": ("0.9.1", "frontend"), "Prefill": ("1.3.1", "worker"), "Decode": ("1.4.2", "worker"), "Worker": ("1.6.2", "worker")}
    mixed = given.graph({name: tagged(version, kind) for name, (version, kind) in images.items()}, backendFramework="sglang")
    plan = planned(mixed, target=target, options=UpgradeOptions(downgrade=downgrade))
    assert codes(plan.findings) == (["DYN653"] if said else [])
    assert all(said in finding.message for finding in plan.findings)
    (resource,) = plan.steps[-1].parts[0].new.resources
    after = {name: each["extraPodSpec"]["mainContainer"]["image"].rpartition(":")[2] for name, each in resource["spec"]["services"].items()}
    end = upgrade_steps.version_text(upgrade_steps.target(target) or (0, 0, 0))
    limit = min if downgrade else max
    assert after == {name: limit(version, end) for name, (version, _) in images.items()}


def test_a_downgrade_moves_newer_graphs_back_and_leaves_older_ones():
    newer = {**pair("1.6.2"), "metadata": {"name": "newer", "namespace": "team"}}
    plan = planned(pair("1.4.2"), newer, target="1.5", options=UpgradeOptions(downgrade=True))
    (step,) = plan.steps
    assert (plan.is_downgrade, step.step.is_downgrade) == (True, True)
    assert (codes(plan.findings), [graph.key.name for graph in step.graphs]) == (["DYN653"], ["newer"])
    assert codes(step.all_findings) == ["DYN745"]


def test_a_graph_that_cannot_follow_the_release_of_a_step_is_an_error():
    """A graph of v1beta1 follows v0.9 only if the configuration pins it."""
    graph = beta.graph(beta.component("Worker", main={"image": "registry.example/dynamo:1.5.1"}))
    assert "DYN654" in codes(planned(graph, target="0.9", options=UpgradeOptions(downgrade=True)).steps[-1].all_findings)
    converted = planned(graph, target="0.9", options=UpgradeOptions(dynamo_api.V1ALPHA1, downgrade=True), behaviour="v1.5")
    assert "DYN654" not in codes(converted.steps[-1].all_findings)


def test_the_settings_of_a_rendered_graph_are_those_of_its_render():
    """An export has the graph with its annotations, and the objects, which a plan makes again."""
    expansion = given.expanded(pair("1.5.1"), config=Config(behaviour="v1.5", orchestrator="grove"))
    (part,) = fleet_parts.parts("", expansion.resources, Config(), is_configured=False)
    assert (part.config.orchestrator, part.config.behaviour) == ("grove", "")
    assert [resource["kind"] for resource in part.resources] == ["DynamoGraphDeployment"]
    (step,) = upgrade_planner.plan([part], (1, 6, 2)).steps
    assert [rollout.service and rollout.service.name for graph in step.graphs for rollout in graph.rollouts] == ["Front", "Worker"]


def test_objects_of_an_operator_are_not_planned():
    owner = {"apiVersion": dynamo_api.V1BETA1, "kind": "DynamoGraphDeployment", "name": "chat", "uid": "1"}
    deployment = given.item("Deployment", "chat-worker", api="apps/v1")
    deployment["metadata"]["ownerReferences"] = [{**owner, "kind": "DynamoComponentDeployment"}]
    component = given.item("DynamoComponentDeployment", "chat-worker", api=dynamo_api.V1BETA1)
    component["metadata"]["ownerReferences"] = [owner]
    (part,) = fleet_parts.parts("", [pair("1.5.1"), deployment, component], Config(), is_configured=False)
    assert [resource["kind"] for resource in part.resources] == ["DynamoGraphDeployment"]


SIDECARS = [
    # reason, the containers beside the main one, the init containers, the severity and the images of DYN747
    ("an image of others", [{"name": "proxy", "image": "envoyproxy/envoy:v1.30.0"}], [], [("info", "envoyproxy/envoy:v1.30.0")]),
    (
        "Dynamo in an init container, in another version",
        [],
        [{"name": "load", "image": "mirror.example/vllm-runtime:1.5.1"}],
        [("warning", "mirror.example/vllm-runtime:1.5.1")],
    ),
    ("Dynamo in the version of the step", [], [{"name": "load", "image": "mirror.example/vllm-runtime:1.6.2"}],
        [("info", "mirror.example/vllm-runtime:1.6.2")]),
    (
        "both",
        [{"name": "proxy", "image": "envoyproxy/envoy:v1.30.0"}],
        [{"name": "load", "image": "mirror.example/vllm-runtime:1.5.1"}],
        [("warning", "mirror.example/vllm-runtime:1.5.1"), ("info", "envoyproxy/envoy:v1.30.0")],
    ),
    ("none", [], [], []),
]  # fmt: skip


@cases(("reason", "containers", "inits", "shown"), SIDECARS)
def test_a_step_names_the_images_that_it_leaves(reason, containers, inits, shown):
    component = beta.component("Worker", main={"image": "registry.example/dynamo:1.5.1"})
    pod = component["podTemplate"]["spec"]
    pod["containers"] += containers
    pod["initContainers"] = inits
    older = pair("1.5.1")
    older["spec"]["services"]["Worker"]["extraPodSpec"] |= {"containers": containers, "initContainers": inits}
    for resource in (beta.graph(component), older):
        (step,) = planned(resource).steps
        notes = [
            (note.code, note.severity, note.message.rpartition(": ")[2].partition(";")[0])
            for note in step.all_findings
            if "sidecars and init containers" in note.message
        ]
        assert notes == [("DYN747", *row) for row in shown]


CAUSES = [
    ("one set for all services", [[("image",)], [("image",)]], "image"),
    ("either cause", [[("release",), ("image",)]], "release or image"),
    ("services with other sets", [[("release", "image")], [("image",)]], "image, for others release with image"),
    ("services that stay do not count", [[("image",)], []], "image"),
]


@cases(("reason", "sets", "text"), CAUSES)
def test_the_causes_of_a_graph_in_words(reason, sets, text):
    services = [
        ServiceUpgrade(Service("team", "chat", f"{number}"), "restarts", Gpus(), restarts=True, smallest=tuple(smallest))
        for number, smallest in enumerate(sets)
    ]
    key = identity.ObjectKey("nvidia.com", dynamo_api.GRAPH, "team", "chat")
    assert upgrade_report.causes_of(GraphUpgrade("", key, "planned", "restarts", services=tuple(services))) == text


def test_a_request_keeps_the_profiler_that_krm_fn_runs():
    """Its Job runs the profiler of images before 1.0 only."""
    old = "registry.example/dynamo:0.9.1"
    spec = {
        "model": "m",
        "backend": "vllm",
        "profilingConfig": {"profilerImage": old, "config": {}},
        "deploymentOverrides": {"workersImage": old},
    }
    request = given.item("DynamoGraphDeploymentRequest", "ask", api=dynamo_api.V1ALPHA1, spec=spec)
    plan = planned(pair("0.9.1"), request, target="1.5")
    (upgrade,) = [graph for graph in plan.steps[0].graphs if graph.key.kind == "DynamoGraphDeploymentRequest"]
    assert (upgrade.state, {"DYN656"} <= {*codes(upgrade.findings)}) == ("planned", True)
    assert upgrade.edits is not None
    assert [edit.path for edit in upgrade.edits.fields] == [("spec", "deploymentOverrides", "workersImage")]


def test_the_gpus_of_replicas_are_those_of_the_adapter_in_the_cluster():
    graph = given.graph({"Worker": tagged("1.5.1", replicas=2, scalingAdapter={"enabled": True}, resources={"limits": {"gpu": "4"}})})
    expansion = given.expanded(graph, config=Config(behaviour="v1.5"))
    adapters = [resource for resource in expansion.resources if resource["kind"] == dynamo_api.ADAPTER]
    adapters[0]["spec"]["replicas"] = 5
    parts = fleet_parts.parts("", expansion.resources, Config(), is_configured=False)
    assert upgrade_planner.plan(parts, (1, 6, 2)).steps[0].graphs[0].gpus.before == 20


@pytest.mark.parametrize("target", [(1, 6, 2), (0, 9, 1)])
def test_resources_with_any_mistakes_have_a_plan(target):
    """A plan never raises for what resources contain."""
    sound = mutations.seeds()
    for number in range(40):
        loaded = sources.from_files([reading.parse(mutations.case(number, sound).text().encode(), "items.yaml")])
        parts = fleet_parts.parts("", loaded.values, loaded.config, is_configured=bool(loaded.configs))
        plan = upgrade_planner.plan(parts, target, UpgradeOptions(new_origin=True, downgrade=number % 2 == 0))
        assert all(graph.services or graph.state != "planned" or not graph.rollouts for step in plan.steps for graph in step.graphs)
