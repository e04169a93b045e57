"""A committed render beside its source is not a second graph: it must equal a new render, and the source is judged."""

from __future__ import annotations

import shutil

import pytest

import krm_fn
from tests.cli import console
from tests.repository.clones import BUILD, FUNCTION, GRAPH, README, RENDER, codes
from tests.repository.clones import Clone as Clones
from tests.support.cases import cases

PLAIN = {"graph.yaml": GRAPH.replace("name: chat\n", "name: chat\n  namespace: prod\n")}


@pytest.fixture
def rendered(clone: Clones) -> Clones:
    """The layout of the README with its committed render."""
    return clone.put(README).save("objects.yaml", *BUILD, ".").commit()


def test_a_render_that_is_up_to_date_is_no_finding(rendered):
    """The objects count once, and nothing is a duplicate."""
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "built with kustomize" in done.err
    assert "8 resources" in done.err


def test_a_graph_that_names_its_namespace_is_no_duplicate_of_its_render(clone):
    """Without a Kustomization, the render and its source have the same identity."""
    clone.put(PLAIN).save("objects.yaml", "krm-fn", "render", "graph.yaml").commit()
    done = console.run("check", ".")
    assert (done.code, codes(done)) == (0, [])


def test_services_count_once(rendered):
    """One of two services restarts, not one of four."""
    rendered.edit("graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    done = console.run("diff", "--old", "main")
    assert "1 of 2 services restarts: Worker." in done.out
    assert codes(done) == ["DYN063"]
    assert done.code == 1


@pytest.mark.parametrize(
    ("reason", "file", "old", "new"),
    [
        ("the namespace of the Kustomization", "kustomization.yaml", "prod", "other"),
        ("the graph", "graph.yaml", "replicas: 2", "replicas: 3"),
        ("the name of the graph", "graph.yaml", "name: chat", "name: talk"),
        ("a setting", "render.yaml", "exec: {path: krm-fn}\n", "exec: {path: krm-fn}\nspec: {natsAddress: 'nats://nats:4222'}\n"),
    ],
)
def test_a_changed_source_makes_the_render_out_of_date(reason, file, old, new, rendered):
    rendered.edit(file, old, new)
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN063"])
    assert "run `kustomize build --enable-alpha-plugins --enable-exec . > objects.yaml`" in done.out


def test_the_command_of_the_finding_renders_again(rendered):
    rendered.edit("graph.yaml", "replicas: 2", "replicas: 3").save("objects.yaml", *BUILD, ".")
    assert console.run("check").code == 0


def test_a_moved_namespace_is_not_only_deleted(rendered):
    """The objects of the new namespace are in the comparison, and the stale render is an error."""
    rendered.edit("kustomization.yaml", "prod", "other")
    done = console.run("diff", "--old", "HEAD", ".")
    assert done.out.count(": created") >= 7
    assert (done.code, codes(done)) == (1, ["DYN063"])


def test_an_edited_render_names_the_field_and_the_line(rendered):
    text = (rendered.folder / "objects.yaml").read_text()
    line = next(number for number, words in enumerate(text.splitlines(), 1) if words == "  replicas: 2")
    rendered.edit("objects.yaml", "\n  replicas: 2\n", "\n  replicas: 5\n")
    done = console.run("check")
    assert codes(done) == ["DYN064"]
    assert f"objects.yaml:{line}:3: error DYN064 spec.replicas" in done.out
    assert done.code == 1


def test_another_version_of_krm_fn_alone_is_no_difference(rendered):
    rendered.edit("objects.yaml", f"rendered-by: krm-fn {krm_fn.__version__}", "rendered-by: krm-fn 0.0.9")
    assert console.run("check").code == 0


def test_a_folder_of_files_is_one_render(clone):
    """Files that `--output-dir` wrote: a new object and a stale one are named, with the command."""
    clone.put({**PLAIN, "config.yaml": RENDER})
    assert console.run("render", "graph.yaml", "config.yaml", "--output-dir", "out").code == 0
    clone.commit()
    assert (console.run("check").code, codes(console.run("check"))) == (0, [])
    clone.edit("graph.yaml", "    Worker:", "    Other:")
    done = console.run("check")
    assert codes(done) == ["DYN063"]
    assert "run `krm-fn render graph.yaml config.yaml --output-dir out --prune`" in done.out
    assert "Deployment prod/chat-other" in done.out
    assert "Deployment prod/chat-worker" in done.out


def test_objects_of_others_beside_a_render_stay(clone):
    """A document of a user in the file of a render is checked like any other."""
    clone.put(PLAIN).save("objects.yaml", "krm-fn", "render", "graph.yaml")
    text = (clone.folder / "objects.yaml").read_text()
    clone.put({"objects.yaml": f"{text}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: own, namespace: prod}}\n"}).commit()
    done = console.run("check")
    assert (done.code, "2 resources" in done.err) == (0, True)


def test_a_render_without_its_source_is_a_finished_build(clone):
    """A branch of renders has no source to compare with."""
    clone.put(README).save("objects.yaml", *BUILD, ".")
    for name in README:
        (clone.folder / name).unlink()
    clone.commit()
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "8 resources" in done.err


def test_a_package_of_kpt_is_rendered_again(clone, kpt):
    """An edited graph in a package makes its files out of date; a rendered package has no finding."""
    kptfile = (
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: chat}\npipeline: {mutators: [{exec: krm-fn, configPath: render.yaml}]}\n"
    )
    local = FUNCTION.replace("config.kubernetes.io/function: |\n      exec: {path: krm-fn}", 'config.kubernetes.io/local-config: "true"')
    clone.put({"Kptfile": kptfile, "render.yaml": local, **PLAIN}, "app")
    assert console.run("check").code == 0
    clone.shell("kpt", "fn", "render", "--allow-exec", "app")
    clone.commit()
    assert (console.run("check").code, codes(console.run("check"))) == (0, [])
    clone.edit("app/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    done = console.run("check")
    assert codes(done) == ["DYN063"]
    assert "run `kpt fn render --allow-exec app`" in done.out
    restarts = console.run("diff", "--old", "main")
    assert "1 of 2 services restarts: Worker." in restarts.out


def test_a_file_that_the_kustomization_does_not_list_is_named(clone):
    """It reaches no cluster, so it is not judged."""
    clone.put(README).put({"draft.yaml": GRAPH.replace("replicas", "replica")})
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "draft.yaml: note DYN065" in done.out


def test_a_missing_kustomize_is_an_error(clone, monkeypatch):
    """Nothing is known about the root, so the check is not green."""
    clone.put(README)
    empty = clone.folder.parent / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN594"])
    assert ".: not built" in done.err


WRONG = [
    ("a field of the graph", "graph.yaml", "replicas: 2", "replica: 2", "graph.yaml:13:7: error DYN023 spec.services.Worker.replica"),
    (
        "a setting",
        "render.yaml",
        "exec: {path: krm-fn}\n",
        "exec: {path: krm-fn}\nspec: {nats: a}\n",
        "render.yaml:8:8: error DYN023 spec.nats",
    ),
    (
        "an image that a patch removes",
        "kustomization.yaml",
        "resources:",
        "patches: [{path: p.yaml}]\nresources:",
        "graph.yaml:15:9: error DYN450",
    ),
]


@cases(("file", "old", "new", "finding"), WRONG)
def test_a_mistake_that_stops_a_build_has_its_line(file, old, new, finding, rendered):
    """krm-fn makes the build fail; the finding is that of the graph, not that of the build."""
    patch = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\n"
    rendered.put({"p.yaml": patch + "spec: {services: {Worker: {extraPodSpec: {mainContainer: {image: null}}}}}\n"})
    rendered.edit(file, old, new)
    done = console.run("check")
    assert done.code == 1
    assert finding in done.out
    assert "DYN593" not in done.out


@pytest.fixture
def branch(clone: Clones) -> Clones:
    """A branch that holds only renders: two clusters with the same objects, and no pipeline."""
    clone.put(PLAIN)
    for cluster in ("eu", "us"):
        clone.save(f"clusters/{cluster}/chat/manifests.yaml", "krm-fn", "render", "graph.yaml")
    (clone.folder / "graph.yaml").unlink()
    return clone.commit()


def test_each_cluster_of_a_branch_of_renders_is_compared_with_itself(branch):
    """The objects of the other cluster, which have the same names, hide no deletion."""
    manifests = branch.folder / "clusters" / "us" / "chat" / "manifests.yaml"
    manifests.write_text(manifests.read_text().replace("namespace: prod", "namespace: other"))
    done = console.run("diff", "--old", "HEAD")
    assert "2 services are deleted" in done.out
    assert "2 services are created" in done.out
    assert "clusters/us/chat/manifests.yaml:" in done.out


def test_a_cluster_is_added_to_a_branch_of_renders(branch):
    """The branch had one root before, and its objects are compared with those of the same cluster."""
    shutil.move(branch.folder / "clusters" / "us", branch.folder.parent / "us")
    branch.commit()
    shutil.move(branch.folder.parent / "us", branch.folder / "clusters" / "us")
    done = console.run("diff", "--old", "HEAD")
    assert "2 services are created: Frontend, Worker." in done.out
    assert "deleted" not in done.out


SHARED = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: prod}\ndata: {A: b}\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"


def test_a_folder_beside_the_clusters_belongs_to_each_of_them(branch):
    branch.put({"shared/settings.yaml": SHARED}).commit()
    branch.edit("shared/settings.yaml", "{A: b}", "{A: c}")
    done = console.run("diff", "--old", "HEAD")
    assert done.out.count("ConfigMap prod/settings: updated") == 1
    assert "2 of 2 folders change." in done.out
    assert "deleted" not in done.out


def test_a_second_copy_of_another_object_divides_nothing(clone):
    """Teams write the Namespace of their objects into several folders. Objects of the other folders are not deleted then."""
    clone.put({"a/graph.yaml": PLAIN["graph.yaml"], "a/namespace.yaml": NAMESPACE, "shared/settings.yaml": SHARED})
    clone.put({"overlay/kustomization.yaml": "resources: [map.yaml]\n", "overlay/map.yaml": SHARED.replace("settings", "other")}).commit()
    clone.put({"shared/namespace.yaml": NAMESPACE})
    done = console.run("diff", "--old", "HEAD")
    assert "deleted" not in done.out
    assert "The states are the same: no object changes." in done.out


def test_a_render_in_another_folder_than_its_source_is_no_second_cluster(clone):
    clone.put(PLAIN, "source").save("rendered/objects.yaml", "krm-fn", "render", "source/graph.yaml").commit()
    clone.edit("source/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    clone.save("rendered/objects.yaml", "krm-fn", "render", "source/graph.yaml")
    done = console.run("diff", "--old", "HEAD")
    assert "1 of 2 services restarts: Worker." in done.out
