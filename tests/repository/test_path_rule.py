"""One rule for PATH: every command over every kind of path. A folder with roots is built, and no command judges what it did not read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from krm_fn import review
from tests.cli import console
from tests.repository.clones import BUILD, FUNCTION, GRAPH, codes, documents
from tests.support.cases import cases

SCALE = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: chat}}
spec: {{services: {{Worker: {{replicas: {0}}}}}}}
"""
OVERLAY = "namespace: {0}\nresources: [../base]\ntransformers: [render.yaml]\npatches: [{{path: scale.yaml}}]\n"
BASE = {"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: package}\npipeline: {mutators: [{exec: krm-fn}]}\n"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example/web:1"}]}
"""
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: chat\nversion: 1.0.0\n",
    "templates/graph.yaml": GRAPH.replace("name: chat", "name: {{ .Release.Name }}"),
}
MERGED = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def overlay(namespace, replicas):
    return {"kustomization.yaml": OVERLAY.format(namespace), "render.yaml": FUNCTION, "scale.yaml": SCALE.format(replicas)}


@pytest.fixture
def repository(clone):
    """One root, four roots, a base without the function, plain files, a package, a chart, a build without Dynamo, and an empty folder."""
    clone.put(BASE, "one/base").put(overlay("prod", 3), "one/prod")
    clone.put(BASE, "four/base")
    for replicas, name in enumerate("abcd", 3):
        clone.put(overlay(name, replicas), f"four/{name}")
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": MERGED + "resources: [graph.yaml]\n"}, "no-function")
    clone.put({"graph.yaml": GRAPH}, "plain").put({"graph.yaml": GRAPH, "Kptfile": KPTFILE}, "package").put(CHART, "chart")
    clone.put({"deployment.yaml": WEB, "kustomization.yaml": "resources: [deployment.yaml]\n"}, "web")
    (clone.folder / "empty").mkdir()
    return clone.commit()


def conforming(document, name):
    """The document, which follows the schema of its command."""
    jsonschema.validate(document, json.loads((Path(review.__file__).parent / "schemas" / f"{name}.json").read_text()))
    return document


OPTIONS = {"explain": ["--object", "Deployment/chat-worker", "--field", "spec.replicas"], "upgrade": ["--to", "1.6"]}
READERS = ("check", "explain", "render", "needs", "graph", "images", "upgrade")
"""The commands that judge or render what a path applies."""


def run(verb, *arguments):
    return console.run(verb, *OPTIONS.get(verb, ()), *arguments, stdin=GRAPH)


BUILT = {
    "check": "built with kustomize",
    "explain": "spec.replicas: 3",
    "render": "replicas: 3",
    "needs": "built with kustomize",
    "graph": "3 replicas",
    "images": "Deployment prod/chat-worker",
    "upgrade": "prod/chat",
}
"""What a command says only if it built the overlay `one/prod`, which has three replicas in the namespace prod."""
PLAIN = {
    "check": "1 resource",
    "explain": "spec.replicas: 2",
    "render": "replicas: 2",
    "needs": "CustomResourceDefinition",
    "graph": "2 replicas",
    "images": "Deployment default/chat-worker",
    "upgrade": "default/chat",
}
"""What a command says about the graph as it is written."""
ROWS = [
    # the kind of path, the path, what each command says
    ("a folder with one root", ["one"], BUILT),
    ("the root itself", ["one/prod"], BUILT),
    ("the file that makes the root", ["one/prod/kustomization.yaml"], BUILT),
    ("a folder of a revision", ["HEAD:one"], BUILT),
    ("the folder twice removed", ["-f", "one/prod"], BUILT),
    ("a Kustomization without the function", ["no-function"], {**PLAIN, "check": "built with kustomize"}),
    ("a folder of plain files", ["plain"], PLAIN),
    ("a file", ["plain/graph.yaml"], PLAIN),
    ("a file of a Kustomization", ["one/base/graph.yaml"], PLAIN),
    ("a file of a revision", ["HEAD:one/base/graph.yaml"], PLAIN),
    ("stdin", ["-"], PLAIN),
    ("the files of a folder with a root", ["--no-build", "one"], PLAIN),
]


@pytest.mark.parametrize("verb", READERS)
def test_every_command_reads_a_path_in_the_same_way(verb, repository):
    for reason, paths, phrases in ROWS:
        done = run(verb, *paths)
        assert (reason, done.code) == (reason, 0), done.out + done.err
        assert phrases[verb] in done.out + done.err, reason


@pytest.mark.parametrize("verb", READERS)
def test_without_a_path_it_is_the_current_folder(verb, repository, monkeypatch):
    monkeypatch.chdir(repository.folder / "one")
    done = run(verb)
    assert done.code == 0
    assert BUILT[verb] in done.out + done.err


NOTHING = [
    # the kind of path, the path, the exit code, a phrase about what was looked at
    ("a missing path", "missing", 2, "missing"),
    ("a missing path of a revision", "HEAD:missing", 2, "HEAD:missing"),
    ("a revision that git does not know", "none:plain", 2, "none:plain"),
    ("an empty folder", "empty", 1, "in empty"),
    ("a build without Dynamo", "web", 1, "1 root without a Dynamo resource"),
    ("a chart", "chart", 1, "2 in Helm charts"),
    ("a patch", "one/prod/scale.yaml", 1, "DYN741"),
]


@pytest.mark.parametrize("verb", [*READERS, "diff"])
def test_a_path_without_resources_is_an_error_that_names_it(verb, repository):
    """No verdict about what was not read: no list, no forecast, and never exit 0."""
    for reason, path, code, phrase in NOTHING:
        done = run(verb, path, *(["--old", "HEAD"] if verb == "diff" else []))
        assert (reason, done.code) == (reason, code), done.out + done.err
        assert phrase in done.out + done.err, reason
        assert "The states are the same" not in done.out
        if code == 1:
            assert {"DYN001", "DYN741"}.intersection(codes(done)), reason


def test_explain_answers_for_each_of_several_roots(repository):
    done = run("explain", "four")
    assert [line for line in done.out.splitlines() if line.startswith(("==", "  spec"))] == [
        line for number, name in enumerate("abcd", 3) for line in (f"== four/{name}", f"  spec.replicas: {number}")
    ]
    entries = conforming(json.loads(run("explain", "--format", "json", "four").out), "explain")["objects"]
    assert [(entry["root"], entry["fields"][0]["value"]) for entry in entries] == [(f"four/{n}", v) for v, n in enumerate("abcd", 3)]


def test_several_roots_are_not_printed_as_one_render(repository):
    """A pipe into kubectl apply would otherwise apply the objects of all clusters to one of them."""
    done = run("render", "four")
    assert (done.code, done.out, codes(done)) == (1, "", ["DYN740"])
    assert "four/a, four/b, four/c, four/d" in done.err


def test_several_roots_are_written_into_a_folder_each(repository):
    out = ("--output-dir", "manifests")
    assert run("render", "four", *out).code == 0
    assert sorted(path.name for path in (repository.folder / "manifests").iterdir()) == ["a", "b", "c", "d"]
    written = yaml.safe_load((repository.folder / "manifests/d/deployment_chat-worker.yaml").read_text())
    assert (written["metadata"]["namespace"], written["spec"]["replicas"]) == ("d", 6)
    assert run("render", "four", *out, "--check").code == 0
    repository.edit("four/b/scale.yaml", "replicas: 4", "replicas: 9")
    done = run("render", "four", *out, "--check")
    assert (done.code, codes(done)) == (1, ["DYN063"])
    assert "manifests/b/deployment_chat-worker.yaml" in done.err
    assert run("render", "four", "one/prod", "one", *out).code == 1


@pytest.mark.parametrize("path", ["one", "one/prod", "HEAD:one/prod"])
def test_a_render_of_a_root_is_what_the_cluster_gets(path, repository):
    built = documents(repository.shell(*BUILD, "one/prod"))
    assert sorted(documents(run("render", path).out), key=json.dumps) == sorted(built, key=json.dumps)


def test_a_render_keeps_what_a_later_layer_changed(repository):
    """The layer around the function scales and patches the finished objects."""
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat-worker, namespace: prod}\nspec: {revisionHistoryLimit: 7}\n"
    layer = "resources: [../prod]\npatches: [{path: patch.yaml}]\n"
    repository.put({"kustomization.yaml": layer, "patch.yaml": patch}, "one/layer")
    built = documents(repository.shell(*BUILD, "one/layer"))
    assert sorted(documents(run("render", "one").out), key=json.dumps) == sorted(built, key=json.dumps)
    done = console.run("explain", "--object", "Deployment/chat-worker", "--field", "spec.revisionHistoryLimit", "one")
    assert "  spec.revisionHistoryLimit: 7\n" in done.out


def test_the_settings_of_a_build_are_those_of_its_function(repository):
    """A later look at a build must not fall back to the defaults."""
    repository.edit("one/prod/render.yaml", "metadata:\n", "spec: {natsAddress: 'nats://nats:4222'}\nmetadata:\n")
    assert "nats://nats:4222" in run("graph", "one").out
    done = console.run("explain", "--object", "Deployment/chat-worker", "one")
    assert '.value: "nats://nats:4222"\n    config' in done.out


def test_the_images_of_a_build_are_those_of_its_objects(repository):
    """With the default settings, the same graph would have Deployments."""
    repository.edit("one/prod/render.yaml", "metadata:\n", "spec: {orchestrator: grove}\nmetadata:\n")
    out = run("images", "one").out
    assert "PodCliqueSet prod/chat" in out
    assert "Deployment" not in out


def test_needs_and_graph_name_the_root(repository):
    rows = [line.split()[:2] for line in run("needs", "four").out.splitlines()]
    assert rows == [["ROOT", "KIND"], *([f"four/{name}", kind] for name in "abcd" for kind in ("Namespace", "CustomResourceDefinition"))]
    document = conforming(json.loads(run("needs", "--format", "json", "four").out), "needs")
    assert {entry["root"] for entry in document["definitions"]} == {f"four/{name}" for name in "abcd"}
    assert run("graph", "four").out.count("four/a: DynamoGraphDeployment a/chat") == 1


def test_a_change_of_one_root_is_drawn(repository):
    repository.edit("four/b/scale.yaml", "replicas: 4", "replicas: 5, annotations: {team: x}")
    drawn = run("graph", "--old", "HEAD", "four").out
    assert "four/b: DynamoGraphDeployment b/chat" in drawn
    assert drawn.count("RESTARTS") == 1


def test_a_finished_render_beside_its_source_does_not_stop_a_new_one(repository):
    """The render that repairs a stale folder must not fail because the folder is stale."""
    repository.save("one/prod/objects.yaml", "krm-fn", "render", "one/prod")
    repository.edit("one/prod/scale.yaml", "replicas: 3", "replicas: 4")
    done = run("render", "one/prod")
    assert (done.code, "replicas: 4" in done.out) == (0, True)
    assert codes(run("check", "one/prod")) == ["DYN063"]


def test_names_of_one_command_are_accepted_by_another(repository):
    """The folder, the file with its line, the object and the field of a comparison are arguments of explain."""
    repository.edit("one/prod/scale.yaml", "replicas: 3", "replicas: 4")
    lines = console.run("diff", "--old", "HEAD", "one").out.splitlines()
    (change,) = (line for line in lines if "spec.replicas: 3 -> 4" in line)
    location, field = change[change.index("(") + 1 : -1].split()
    obj = lines[lines.index(change) - 1].partition(":")[0]
    assert (obj, location) == ("Deployment prod/chat-worker", "one/prod/scale.yaml:4")
    for arguments in (
        ["--object", obj, "--field", "spec.replicas"],
        ["--from", location],
        ["--field", field],
        ["--object", obj, "--field", field],
    ):
        done = console.run("explain", *arguments, "one")
        assert "Deployment/chat-worker in prod\n  spec.replicas: 4\n" in done.out, arguments


BETA = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {spec: {containers: [{name: main, image: "registry.example/front:1.5.0"}]}}
  - name: Worker
    type: worker
    replicas: 2
    podTemplate: {spec: {containers: [{name: main, image: "registry.example/dynamo:1.5.0", env: [{name: A, value: b}]}]}}
"""
FIELDS = [
    ("the index of a component", "spec.components[1].replicas"),
    ("its name", "spec.components[Worker].replicas"),
    ("its name with the key", "spec.components[name=Worker].replicas"),
    ("its name after a dot", "spec.components.Worker.replicas"),
    ("a field of the object", "spec.replicas"),
]


@cases("field", FIELDS)
def test_a_field_has_the_index_or_the_name_of_an_entry(field):
    done = console.run("explain", "--object", "Deployment/chat-worker", "--field", field, "-", stdin=BETA)
    assert done.code == 0
    assert "  spec.replicas: 2\n" in done.out


def test_a_field_of_an_object_has_the_name_of_a_container_and_of_a_variable():
    field = "spec.template.spec.containers[main].env[A].value"
    done = console.run("explain", "--object", "Deployment/chat-worker", "--field", field, "-", stdin=BETA)
    assert (done.code, done.out.count('.value: "b"\n')) == (0, 1)


@pytest.mark.parametrize("field", ["spec.components[2].replicas", "spec.components[Other].replicas", "spec.components[", "[]", ""])
def test_a_field_that_nothing_has_is_wrong_usage(field):
    done = console.run("explain", "--field", field, "-", stdin=BETA)
    assert (done.code, done.out) == (2, "")
    assert "--field" in done.err


def test_a_line_of_a_base_without_effect_is_reported_once(repository):
    """It is unused only if it has no effect in any root."""
    used = GRAPH.replace("frontend\n", "frontend\n      ingress: {hostSuffix: example.com}\n")
    repository.put({"graph.yaml": used}, "four/base")
    done = console.run("explain", "--unused", "four")
    assert done.out.count("DYN500") == 1
    assert "four/base/graph.yaml" in done.out


def test_commands_that_change_files_build_nothing(repository):
    assert "namespace: prod\nresources: [../base]" in console.run("convert", "one/prod").out
    assert console.run("convert", "one/prod/scale.yaml").code == 0
    assert console.run("convert", "empty").code == 1
    assert console.run("prune", "--dry-run", "one").code == 0
    assert console.run("upgrade", "--to", "1.6", "--write", "HEAD:one").code == 2


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: chat, namespace: prod}
spec: {interval: 10m, chart: {spec: {chart: graph, sourceRef: {kind: HelmRepository, name: charts}}}}
"""
OF_CHARTS = {"check": 0, "explain": 1, "needs": 1, "images": 0, "upgrade": 1}


def test_the_graphs_of_a_chart_are_not_known(clone):
    """Each command says why it has no answer about a HelmRelease, and how to get one."""
    clone.put({"release.yaml": RELEASE})
    for verb, code in OF_CHARTS.items():
        done = run(verb, ".")
        assert (verb, done.code) == (verb, code)
        if verb != "explain":  # errors only
            assert "note DYN742 krm-fn renders no charts, so the graphs of HelmRelease chat are not known" in done.out + done.err, verb
    clone.put({"graph.yaml": GRAPH})
    assert "DYN742" not in run("check", ".").out


def test_a_kpt_package_is_rendered(repository, kpt):
    for verb in READERS:
        done = run(verb, "package")
        assert (verb, done.code) == (verb, 0)
        assert "package: rendered with kpt" in done.err


def dropped(repository):
    """An overlay whose build has the objects and not the graph, with its committed render."""
    text = FUNCTION.replace("metadata:\n", "spec: {source: drop}\nmetadata:\n", 1)
    repository.put({"render.yaml": text}, "one/prod").edit("one/prod/kustomization.yaml", "namespace:", "namePrefix: eu-\nnamespace:")
    return repository.save("rendered/objects.yaml", *BUILD, "one/prod")


def test_a_committed_render_of_a_build_is_not_pruned(repository):
    """The owner of its objects has its final name in the build only."""
    before = (dropped(repository).folder / "rendered/objects.yaml").read_text()
    done = console.run("prune", "one", "rendered")
    assert (done.code, done.out, "nothing to remove" in done.err) == (0, "", True)
    repository.edit("one/prod/kustomization.yaml", "namePrefix: eu-", "namePrefix: us-")
    assert "would remove Deployment prod/eu-chat-worker" in console.run("prune", "--dry-run", "one", "rendered").out
    repository.edit("one/prod/kustomization.yaml", "../base", "../none")
    done = console.run("prune", "one", "rendered")
    assert (done.code, codes(done)) == (1, ["DYN593"])
    assert (repository.folder / "rendered/objects.yaml").read_text() == before


def test_a_build_without_its_graph_is_rendered_and_not_explained(repository):
    dropped(repository)
    built = documents(repository.shell(*BUILD, "one/prod"))
    done = run("render", "one/prod")
    assert (done.code, "DYN053" in done.err) == (0, False)
    assert sorted(documents(done.out), key=json.dumps) == sorted(built, key=json.dumps)
    for verb in ("explain", "graph"):
        assert codes(run(verb, "one/prod"))[-1] == "DYN743", verb


def test_needs_are_those_of_the_finished_objects(repository):
    """A later layer can write another name into the pods, also if the build has no graph."""
    repository.edit("one/base/graph.yaml", "      replicas: 2\n", "      replicas: 2\n      envFromSecret: token\n")
    patch = "- {op: replace, path: /spec/template/spec/containers/0/envFrom/0/secretRef/name, value: other}\n"
    layer = "resources: [../prod]\npatches: [{target: {kind: Deployment, name: chat-worker}, path: patch.yaml}]\n"
    repository.put({"kustomization.yaml": layer, "patch.yaml": patch}, "one/layer")
    done = run("needs", "one")
    names = [line.split()[1] for line in done.out.splitlines()[1:]]
    assert "prod/other" in names, done.err
    assert "prod/token" not in names
    repository.edit("one/prod/render.yaml", "metadata:\n", "spec: {source: drop}\nmetadata:\n")
    assert "prod/other" in run("needs", "one").out
