"""Objects that a change moves between the roots of a repository: a cluster sees the objects only, so these are what is compared.

Each row is a commit of a platform team, built with the real kustomize. It says what the pods do, not what the folders do.
"""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.cli import console
from tests.repository import commit_lines
from tests.repository.clones import APPLICATION, FLUX, FUNCTION, GRAPH
from tests.review.diff.test_scenario import SCHEMA
from tests.support.cases import cases

OTHER = GRAPH.replace("name: chat", "name: search")
SCALE = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\nspec: {services: {Worker: {replicas: %s}}}\n"
KUSTOMIZATION = "namespace: {}\nresources: [../../base]\ntransformers: [render.yaml]\npatches: [{{path: scale.yaml}}]\n"


def overlay(namespace, replicas):
    return {
        "kustomization.yaml": KUSTOMIZATION.format(namespace),
        "render.yaml": FUNCTION,
        "scale.yaml": SCALE % replicas,
    }


@pytest.fixture
def fleet(clone):
    """Two overlays of one base, with the same names in the same namespace, as two clusters have them."""
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    clone.put(overlay("team", 4), "overlays/eu").put(overlay("team", 3), "overlays/us")
    return clone.commit()


def renamed(fleet):
    fleet.git("mv", "overlays/eu", "overlays/europe")


def renamed_and_edited(fleet):
    renamed(fleet)
    fleet.edit("overlays/europe/scale.yaml", "{replicas: 4}", "{replicas: 4, envs: [{name: A, value: b}]}")


def both_renamed(fleet):
    fleet.git("mv", "overlays/us", "overlays/america")
    fleet.git("mv", "overlays/eu", "overlays/africa")


def layer_around(fleet):
    """As the page about layouts recommends, to patch a generated object."""
    tuned = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat-worker}\nspec: {template: {metadata: {annotations: {tuned: a}}}}\n"
    )
    fleet.put(
        {
            "kustomization.yaml": "resources: [../eu]\npatches: [{path: tuned.yaml, target: {kind: Deployment, name: chat-worker}}]\n",
            "tuned.yaml": tuned,
        },
        "overlays/eu-tuned",
    )


def graph_moved(fleet):
    """A second graph was in one root, and is in another one now."""
    fleet.put({**overlay("extra", 2), "other.yaml": OTHER}, "overlays/eu")
    fleet.edit("overlays/eu/kustomization.yaml", "[../../base]", "[../../base, other.yaml]").commit()
    fleet.put({"kustomization.yaml": "namespace: extra\nresources: [other.yaml]\ntransformers: [render.yaml]\n"}, "overlays/extra")
    fleet.put({"render.yaml": FUNCTION, "other.yaml": OTHER.replace("dynamo:1.5.0", "dynamo:1.5.1")}, "overlays/extra")
    fleet.edit("overlays/eu/kustomization.yaml", "[../../base, other.yaml]", "[../../base]")


def split(fleet):
    """One root with two graphs becomes two roots."""
    fleet.put({"other.yaml": OTHER}, "overlays/eu")
    fleet.edit("overlays/eu/kustomization.yaml", "[../../base]", "[../../base, other.yaml]").commit()
    fleet.git("mv", "overlays/eu", "overlays/eu-chat")
    fleet.edit("overlays/eu-chat/kustomization.yaml", "[../../base, other.yaml]", "[../../base]")
    fleet.put({"kustomization.yaml": "namespace: team\nresources: [other.yaml]\ntransformers: [render.yaml]\n"}, "overlays/eu-search")
    fleet.put({"render.yaml": FUNCTION, "other.yaml": OTHER}, "overlays/eu-search")


SAME = "The states are the same: no object changes."
ROWS = [
    ("a folder has another name", renamed, [("overlays/europe", "overlays/eu", SAME)]),
    ("and one line changes", renamed_and_edited, [("overlays/europe", "overlays/eu", "1 of 2 services restarts: Worker.")]),
    (
        "two folders with equal names of objects",
        both_renamed,
        [("overlays/africa", "overlays/eu", SAME), ("overlays/america", "overlays/us", SAME)],
    ),
    ("a layer around the root becomes the root", layer_around, [("overlays/eu-tuned", "overlays/eu", "1 of 2 services restarts: Worker.")]),
    (
        "a graph moves to a new root",
        graph_moved,
        [("overlays/eu", None, SAME), ("overlays/extra", "overlays/eu", "1 of 2 services restarts: Worker.")],
    ),
    ("a root is split", split, [("overlays/eu-chat", "overlays/eu", SAME), ("overlays/eu-search", "overlays/eu", SAME)]),
]


@cases(("change", "roots"), ROWS)
def test_objects_that_change_their_root_are_compared_with_themselves(change, roots, fleet):
    change(fleet)
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    jsonschema.validate(report, SCHEMA)
    compared = [root for root in report["roots"] if "unchanged" not in root]
    differing = [root for root in compared if root["root"] != "overlays/us"]
    assert [(root["root"], root.get("oldRoot"), root["forecast"]["verdict"][0]) for root in differing] == roots
    for condition in ("deleted", "interrupted"):
        assert console.run("diff", "--old", "HEAD", "--fail-on", condition).code == 0
    assert console.run("diff", "--old", "HEAD", "--fail-on", "restarts").code == (3 if "restarts" in str(roots) else 0)


def clusters(clone, *names):
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    for name in names:
        clone.put(overlay("team", 2), f"clusters/{name}")
    return clone


def test_the_same_objects_in_another_cluster_are_other_objects(clone):
    """A cluster leaves the fleet and another one joins it: nothing moves, whatever is equal."""
    clusters(clone, "eu", "us").commit()
    clone.git("mv", "clusters/us", "clusters/jp")
    done = console.run("diff", "--old", "HEAD", "--fail-on", "deleted")
    assert done.code == 3
    assert "2 services are deleted: Frontend, Worker." in done.out
    assert "2 services are created: Frontend, Worker." in done.out


def test_the_kustomization_of_a_cluster_that_joins_or_leaves_is_the_origin_of_its_objects(clone):
    """Its patches and settings are as new as the objects, and decide nothing alone."""
    clusters(clone, "eu", "us").commit()
    clone.git("mv", "clusters/us", "clusters/jp")
    clone.put({"scale.yaml": SCALE % 3}, "clusters/jp")
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    assert {root["root"]: commit_lines.named(root) for root in report["roots"] if root["objects"]} == {
        "clusters/jp": {commit_lines.Line("new", "clusters/jp/kustomization.yaml", 1)},
        "clusters/us": {commit_lines.Line("old", "clusters/us/kustomization.yaml", 1)},
    }


def app(path, destination):
    return APPLICATION.format(name="chat", path=path, namespace="team").replace("server: https://kubernetes.default.svc", destination)


PIPELINES = [
    ("an Application names another cluster", app("overlays/eu", "name: one"), app("overlays/eu", "name: two"), True),
    ("an Application is new", "", app("overlays/eu", "name: one"), False),
    (
        "its own cluster by name and by address",
        app("overlays/eu", "name: in-cluster"),
        app("overlays/eu", "server: https://kubernetes.default.svc"),
        False,
    ),
    (
        "a Kustomization of Flux has another cluster",
        FLUX.format(name="chat", path="./overlays/eu", kind="GitRepository", more=", kubeConfig: {secretRef: {name: one}}"),
        FLUX.format(name="chat", path="./overlays/eu", kind="GitRepository", more=", kubeConfig: {secretRef: {name: two}}"),
        True,
    ),
]


@cases(("old", "new", "moves"), PIPELINES)
def test_a_pipeline_decides_the_cluster(old, new, moves, fleet):
    """Objects in another cluster are deleted here and created there. More knowledge about the same cluster changes nothing."""
    if old:
        fleet.put({"pipeline.yaml": old}, "pipelines").commit()
    fleet.put({"pipeline.yaml": new}, "pipelines")
    done = console.run("diff", "--old", "HEAD", "--fail-on", "deleted")
    assert done.code == (3 if moves else 0)
    assert ("2 services are deleted: Frontend, Worker." in done.out) == moves


def test_a_root_that_cannot_be_built_under_its_new_name_deletes_nothing(fleet):
    """The build says where the mistake is. The objects are not known, so they are not called deleted."""
    renamed(fleet)
    fleet.edit("overlays/europe/kustomization.yaml", "path: scale.yaml", "path: scales.yaml")
    done = console.run("diff", "--old", "HEAD", "--fail-on", "deleted")
    assert done.code == 1
    assert "overlays/europe/kustomization.yaml" in done.out
    assert "scales.yaml" in done.out
    assert "deleted" not in done.out


def test_one_folder_that_two_applications_deliver_to_two_namespaces_has_two_comparisons(fleet):
    """The two roots have one folder, and each is compared with itself."""
    one, two = (APPLICATION.format(name=name, path="overlays/eu", namespace=name) for name in ("one", "two"))
    fleet.put({"pipelines.yaml": f"{one}---\n{two}"}, "pipelines").commit()
    fleet.edit("overlays/eu/scale.yaml", "{replicas: 4}", "{replicas: 4, envs: [{name: A, value: b}]}")
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    changed = [root["root"] for root in report["roots"] if root["objects"]]
    assert changed == ["overlays/eu", "overlays/eu"]


def test_check_compares_a_graph_with_itself_under_another_folder(fleet):
    """An engine cannot change in place, whatever the folder is called."""
    fleet.edit("base/graph.yaml", "  services:\n", "  backendFramework: vllm\n  services:\n").commit()
    renamed(fleet)
    fleet.edit("base/graph.yaml", "backendFramework: vllm", "backendFramework: sglang")
    done = console.run("check", "--old", "HEAD")
    assert done.out.count("error DYN400") == 1  # both overlays have it at one line of the base
    assert done.err.endswith("2 errors\n")


def test_objects_that_move_from_one_path_to_another_are_compared_with_themselves(fleet):
    """A command names several folders. Each object is compared with itself, whichever of them applies it."""
    fleet.git("mv", "overlays/eu", "africa")
    fleet.edit("africa/kustomization.yaml", "../../base", "../base").edit("africa/scale.yaml", "replicas: 4", "replicas: 5")
    (fleet.folder / "overlays" / "us" / "scale.yaml").write_text(SCALE % 2)
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json", "africa", "overlays").out)
    jsonschema.validate(report, SCHEMA)
    changed = {root["root"]: (root.get("oldRoot"), root["objects"]) for root in report["roots"]}
    assert {name: moved for name, (moved, _) in changed.items()} == {"africa": "overlays/eu", "overlays/us": None}
    fields = {name: [field for entry in objects for field in entry["fields"]] for name, (_, objects) in changed.items()}
    lines = {name: {line["file"] for field in listed for line in field["madeBy"]} for name, listed in fields.items()}
    assert lines == {"africa": {"africa/scale.yaml"}, "overlays/us": {"overlays/us/scale.yaml"}}
    done = console.run("diff", "--old", "HEAD", "--fail-on", "deleted,restarts", "africa", "overlays")
    assert done.code == 0
    assert "africa: built with kustomize; overlays/eu in HEAD" in done.err


def test_a_graph_that_moves_from_one_path_to_another_restarts_nothing(clone):
    """Both folders stay, and one of two graphs goes from one to the other."""
    for name in ("one", "two"):
        graph = GRAPH.replace("name: chat", f"name: {name}")
        clone.put({"graph.yaml": graph, "render.yaml": FUNCTION}, name)
        clone.put({"kustomization.yaml": "namespace: team\nresources: [graph.yaml]\ntransformers: [render.yaml]\n"}, name)
    clone.put({"search.yaml": OTHER}, "one").edit("one/kustomization.yaml", "[graph.yaml]", "[graph.yaml, search.yaml]").commit()
    clone.git("mv", "one/search.yaml", "two/search.yaml")
    clone.edit("one/kustomization.yaml", ", search.yaml", "").edit("two/kustomization.yaml", "[graph.yaml]", "[graph.yaml, search.yaml]")
    done = console.run("diff", "--old", "HEAD", "--fail-on", "deleted,changes", "one", "two")
    assert (done.code, done.out.splitlines()[0]) == (0, "The states are the same: no object changes.")
