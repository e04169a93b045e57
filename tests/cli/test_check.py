"""`krm-fn check`: exit codes, the text of findings, and their places (real lines in files)."""

import json
import subprocess
import textwrap
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_fn.base.yaml import positions
from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support import builds
from tests.support.cases import cases
from tests.testbed import tier

RENDER = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render}
spec: {natsAddress: "nats://nats:4222"}
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain, namespace: team}\n"


def write(folder, **files):
    """Files in a folder; `__` in a name stands for a slash, and all end in .yaml that have no ending."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path = path if path.suffix else path.with_suffix(".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def heads(done):
    """The first lines of all findings, up to the message."""
    return [line.split(":", 4)[:4] for line in done.out.splitlines() if not line.startswith("    ")]


EXITS = [
    ("nothing wrong", ["graph.yaml"], 0),
    ("a warning", ["bare.yaml"], 0),
    ("an error", ["misspelt.yaml"], 1),
    ("an error among others", ["graph.yaml", "misspelt-other.yaml"], 1),
    ("not YAML", ["broken.yaml"], 1),
    ("an empty file", ["empty.yaml"], 1),
    ("no path: the current folder", [], 1),
    ("a path that is not there", ["nowhere.yaml"], 2),
    ("an unknown option", ["--stricter", "graph.yaml"], 2),
    ("an unknown format", ["--format", "xml", "graph.yaml"], 2),
    ("a configuration that is not there", ["--config", "nowhere.yaml", "graph.yaml"], 2),
    ("a root that is a file", ["--root", "graph.yaml", "graph.yaml"], 2),
]


@cases(("reason", "arguments", "code"), EXITS)
def test_exit_codes_of_the_real_program(reason, arguments, code, tmp_path):
    write(
        tmp_path,
        graph=GRAPH,
        misspelt=MISSPELT,
        bare=GRAPH.replace("  namespace: team\n", ""),
        broken="a: [",
        empty="",
    )
    (tmp_path / "misspelt-other.yaml").write_text(MISSPELT.replace("name: chat", "name: other"))
    done = console.program("check", *arguments, folder=tmp_path)
    assert done.code == code, done
    assert "Traceback" not in done.err


def test_text_is_place_severity_code_field_and_message_with_the_line_and_a_caret(tmp_path):
    done = console.run("check", write(tmp_path, graph=MISSPELT) / "graph.yaml")
    head, line, caret = done.out.splitlines()
    assert head.startswith(f"{tmp_path}/graph.yaml:14:7: error DYN023 spec.services.Worker.replica: unknown field")
    assert line.strip() == "replica: 2"
    assert line.index("replica") == caret.index("^")
    assert done.err == "1 resource: 1 error\n"


WHERE = [
    ("the second document", f"{CONFIG_MAP}---\n{MISSPELT}", "18:7"),
    ("after comments and blank lines", f"# one\n\n# two\n---\n\n{MISSPELT}", "19:7"),
    ("Windows line ends", MISSPELT.replace("\n", "\r\n"), "14:7"),
    ("a byte order mark", f"\ufeff{MISSPELT}", "14:7"),
    ("a List", f"apiVersion: v1\nkind: List\nitems:\n- {textwrap.indent(MISSPELT, '  ').lstrip()}", "17:9"),
    ("JSON on one line", json.dumps(yaml.safe_load(MISSPELT)), ""),
    ("flow style", yaml.safe_dump(yaml.safe_load(MISSPELT), default_flow_style=True, width=10**9), ""),
]


@cases(("reason", "text", "place"), WHERE)
def test_lines_and_columns_are_those_of_the_file(reason, text, place, tmp_path):
    file = tmp_path / "graph.yaml"
    file.write_text(text, newline="")
    done = console.run("check", "--format", "json", file)
    (finding,) = json.loads(done.out)["findings"]
    line = file.read_text(encoding="utf-8-sig").split("\n")[finding["line"] - 1]
    assert finding["file"] == str(file)
    assert line[finding["column"] - 1 :].strip('"').startswith("replica")
    assert place in ("", f"{finding['line']}:{finding['column']}")


def test_a_long_line_is_shown_around_the_column(tmp_path):
    file = tmp_path / "graph.json"
    graph = yaml.safe_load(MISSPELT)
    graph["metadata"]["annotations"] = {"note": "x" * 5000}
    file.write_text(json.dumps(graph))
    _, line, caret = console.run("check", file).out.splitlines()
    assert len(line) < 130
    assert line[caret.index("^") :].startswith('"replica"')


def test_control_characters_never_reach_the_terminal(tmp_path):
    file = write(tmp_path, graph=MISSPELT.replace("replica: 2", '"re\\e[31mplica": 2 # \x7f')) / "graph.yaml"
    out = console.run("check", file).out
    assert "\x1b" not in out
    assert "\x7f" not in out


def test_json_has_exactly_the_documented_shape(tmp_path):
    done = console.run("check", "--format", "json", write(tmp_path, graph=MISSPELT) / "graph.yaml")
    assert json.loads(done.out) == {
        "findings": [
            {
                "severity": "error",
                "code": "DYN023",
                "message": "unknown field; write replicas",
                "field": "spec.services.Worker.replica",
                "file": f"{tmp_path}/graph.yaml",
                "line": 14,
                "column": 7,
                "resource": {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "namespace": "team", "name": "chat"},
            }
        ]
    }
    assert done.err == ""


def test_json_says_null_for_what_is_not_known(tmp_path):
    found = json.loads(console.run("check", "--format", "json", write(tmp_path, a="") / "a.yaml").out)["findings"]
    assert [finding["resource"] for finding in found] == [None]
    assert [finding["line"] for finding in found] == [None]


def test_json_of_nothing_wrong_is_an_empty_list(tmp_path):
    done = console.run("check", "--format", "json", write(tmp_path, graph=GRAPH) / "graph.yaml")
    assert (done.code, json.loads(done.out)) == (0, {"findings": []})


def test_findings_of_several_files_come_errors_first_then_by_file_and_line(tmp_path):
    twice = MISSPELT.replace("componentType: frontend", "componentTyp: frontend")
    folder = write(tmp_path, b=twice.replace("name: chat", "name: b"), a=GRAPH.replace("  namespace: team\n", ""), c__c=MISSPELT)
    found = heads(console.run("check", folder))
    assert [(file.removeprefix(f"{tmp_path}/"), int(line)) for file, line, *_ in found] == [
        ("b.yaml", 9),
        ("b.yaml", 14),
        ("c/c.yaml", 14),
        ("a.yaml", 3),
    ]


def test_every_file_is_judged_although_one_cannot_be_read(tmp_path):
    folder = write(tmp_path, a="kind: DynamoModel\na: [", b=MISSPELT)
    (folder / "c.yaml").write_bytes(b"kind: DynamoModel\na: \xff")
    codes = {code for *_, code in heads(console.run("check", folder))}
    assert {word.split()[1] for word in codes} == {"DYN002", "DYN004", "DYN023"}


NOT_RESOURCES = [
    ("a list", "- a\n", "DYN014", 1),
    ("a text", "hello\n", "DYN014", 1),
    ("no kind", "apiVersion: v1\nmetadata: {name: a}\n", "DYN015", 1),
    ("no name", "apiVersion: v1\nkind: Service\nmetadata: {}\n", "DYN015", 3),
    ("no metadata", "apiVersion: v1\nkind: Service\n", "DYN015", 1),
    ("neither kind nor apiVersion", "name: a\n", "DYN015", 1),
]


@cases(("reason", "text", "code", "line"), NOT_RESOURCES)
def test_documents_that_are_no_resources(reason, text, code, line, tmp_path):
    done = console.run("check", write(tmp_path, a=f"{GRAPH}---\n{text}") / "a.yaml")
    assert done.code == 1
    assert f"{tmp_path}/a.yaml:{17 + line}:1: error {code}" in done.out


def test_a_folder_may_hold_files_of_other_programs(tmp_path):
    """Values of a chart, package.json: skipped and counted. A file that is named on the command line must hold a resource."""
    folder = write(tmp_path, graph=GRAPH, values="image: a\n")
    (folder / "package.json").write_text('{"name": "web"}')
    done = console.run("check", folder)
    assert (done.code, done.out) == (0, "")
    assert done.err == "1 resource: no findings; skipped 2 files: 2 without a Dynamo resource\n"
    assert console.run("check", folder / "values.yaml").code == 1


def test_one_object_in_two_files_is_an_error_that_names_both(tmp_path):
    folder = write(tmp_path, a=f"{CONFIG_MAP}---\n{GRAPH}", b=GRAPH)
    done = console.run("check", folder)
    assert done.code == 1
    assert f"{tmp_path}/b.yaml:1:1: error DYN016" in done.out
    assert f"{tmp_path}/a.yaml:5" in done.out


@pytest.mark.parametrize("paths", [["a.yaml", "a.yaml"], [".", "a.yaml"], ["a.yaml", "link.yaml"], [".", "../here/sub/.."]])
def test_one_file_named_twice_is_read_once(paths, tmp_path):
    folder = write(tmp_path / "here", a=GRAPH, sub__b=CONFIG_MAP)
    (folder / "link.yaml").symlink_to(folder / "a.yaml")
    assert console.run("check", *(folder / path for path in paths)).code == 0


def test_hidden_files_and_folders_of_a_folder_are_not_read(tmp_path):
    folder = write(tmp_path, graph=GRAPH)
    write(folder / ".git", bad=MISSPELT)
    (folder / ".draft.yaml").write_text(MISSPELT)
    assert console.run("check", folder).out == ""


def test_a_kustomization_is_named_and_not_built_with_no_build(tmp_path):
    folder = write(tmp_path, graph=GRAPH, kustomization="resources: [graph.yaml]\nnamePrefix: eu-\n")
    (folder / "component").mkdir()
    (folder / "component" / "c.yaml").write_text("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n")
    done = console.run("render", "--no-build", folder)
    assert done.code == 0
    assert f"{folder}/kustomization.yaml:1:1: note DYN071" in done.err


def test_a_kustomization_is_built(tmp_path, kustomize_on_path):
    folder = write(tmp_path, graph=GRAPH, kustomization="resources: [graph.yaml]\nnamePrefix: eu-\nnamespace: a\n")
    done = console.run("check", folder, notes=True)
    assert f"{folder}/graph.yaml:1:1: note DYN481" in done.out
    assert "(DynamoGraphDeployment a/eu-chat)" in done.out


TOOLS = [
    ("a Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n"),
    (
        "somebody's function",
        "apiVersion: a/v1\nkind: Fn\nmetadata: {name: f, annotations: {config.kubernetes.io/function: 'exec: {path: x}'}}\n",
    ),
    (
        "local configuration",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f, annotations: {config.kubernetes.io/local-config: 'true'}}\n",
    ),
]


@cases(("reason", "text"), TOOLS)
def test_what_configures_tools_is_left_out(reason, text, tmp_path):
    folder = write(tmp_path, a=text, graph=GRAPH)
    done = console.run("check", folder)
    assert (done.code, done.out, done.err) == (0, "", "1 resource: no findings\n")


def test_a_configuration_among_the_files_is_checked_with_its_lines(tmp_path):
    folder = write(tmp_path, graph=GRAPH, render=RENDER.replace("natsAddress", "natsAdress"))
    done = console.run("check", folder)
    assert done.code == 1
    assert f"{folder}/render.yaml:4:8: error" in done.out
    assert "spec.natsAdress" in done.out


def test_two_configurations_need_a_choice(tmp_path):
    folder = write(tmp_path, graph=GRAPH, render=RENDER, other=RENDER.replace("nats:4222", "other:4222"))
    done = console.run("check", folder)
    assert done.code == 1
    assert f"{folder}/render.yaml:1:1: error DYN070" in done.out
    assert console.run("check", "--config", folder / "other.yaml", folder).code == 0


def test_the_same_configuration_twice_is_one(tmp_path):
    folder = write(tmp_path, graph=GRAPH, render=RENDER, other=RENDER)
    assert console.run("check", folder).code == 0


@pytest.mark.parametrize(("reason", "text"), [("empty", "# nothing\n"), ("two", f"{RENDER}---\n{RENDER}x: 1\n"), ("a list", "- a\n")])
def test_a_named_configuration_must_be_one_resource(reason, text, tmp_path):
    folder = write(tmp_path, graph=GRAPH, config=text)
    done = console.run("check", "--config", folder / "config.yaml", folder / "graph.yaml")
    assert done.code == 1
    assert f"{folder}/config.yaml" in done.out


def test_stdin_is_read_like_a_file():
    done = console.run("check", "-", stdin=MISSPELT)
    assert done.code == 1
    head, line, _ = done.out.splitlines()
    assert head.startswith("<stdin>:14:7: error DYN023")
    assert line.strip() == "replica: 2"


def listed(*texts, config=None, **annotations):
    """A ResourceList as an orchestrator writes it."""
    items = [yaml.safe_load(text) for text in texts]
    for item in items:
        item["metadata"].setdefault("annotations", {}).update(annotations)
    more = {"functionConfig": yaml.safe_load(config)} if config else {}
    return yaml.safe_dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items, **more})


def test_a_resource_list_on_stdin_brings_its_configuration():
    done = console.run("check", "-", stdin=listed(GRAPH, config=RENDER.replace("natsAddress", "natsAdress")))
    assert done.code == 1
    assert "spec.natsAdress" in done.out
    also_an_item = listed(GRAPH, RENDER.replace("name: render", "name: other"), config=RENDER)
    assert console.run("check", "-", stdin=also_an_item).code == 0


NOTES = [
    ("kpt", {"internal.config.kubernetes.io/path": "sub/graph.yaml", "internal.config.kubernetes.io/index": "1"}),
    ("kustomize", {"config.kubernetes.io/origin": "path: sub/graph.yaml\n"}),
]


@cases(("reason", "notes"), NOTES)
def test_what_comes_from_an_orchestrator_is_of_the_file_that_it_notes(reason, notes, tmp_path):
    """The finding has no line, which only the source file has; with `--root` the command reads that file."""
    write(tmp_path, sub__graph=f"# the second document\n{CONFIG_MAP}---\n{MISSPELT}")
    stdin = listed(MISSPELT, **notes)
    alone = console.run("check", "-", stdin=stdin)
    assert alone.out.startswith("sub/graph.yaml: error DYN023")
    head, line, _ = console.run("check", "--root", tmp_path, "-", stdin=stdin).out.splitlines()
    assert head.startswith(f"{tmp_path}/sub/graph.yaml:19:7: error DYN023")
    assert line.strip() == "replica: 2"


def test_a_root_without_the_file_leaves_the_name(tmp_path):
    stdin = listed(MISSPELT, **{"config.kubernetes.io/origin": "path: sub/graph.yaml\n"})
    assert console.run("check", "--root", tmp_path, "-", stdin=stdin).out.startswith("sub/graph.yaml: error DYN023")


def test_the_lines_behind_a_real_build_are_those_of_its_files(tmp_path, kustomize):
    """kustomize's own annotations, from a base that an overlay renames; one repository holds both."""
    (tmp_path / ".git").mkdir()
    write(tmp_path, base__graph=f"{CONFIG_MAP}---\n{MISSPELT}", base__kustomization="resources: [graph.yaml]\n")
    overlay = "resources: [../base]\nnamePrefix: eu-\nnamespace: prod\nbuildMetadata: [originAnnotations]\n"
    write(tmp_path, overlay__kustomization=overlay)
    built = subprocess.run([kustomize, "build", tmp_path / "overlay"], capture_output=True, text=True, check=True).stdout
    assert console.run("check", "-", stdin=built).out.startswith("../base/graph.yaml: error DYN023")
    head, line, _ = console.run("check", "--root", tmp_path / "overlay", "-", stdin=built).out.splitlines()
    assert head.startswith(f"{tmp_path}/overlay/../base/graph.yaml:18:7: error DYN023")
    assert line.strip() == "replica: 2"


SEVEN = """\
# Two graphs; the mistakes are all in the second.
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: chat
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer: {image: "registry.example/front:1.6.1"}
---

# Lines count from the top of the file, comments and blank ones too.
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: chat-long
  labels:
    team: a
spec:
  pvcs:
  - name: models
  - create: true  # DYN105 in the entry, for want of a line of its own
    name: cache
    size: 10Gi
    volumeAccessMode: ReadWriteMany
  restart:
    id: one
    strategy:
      type: Sequential
      order:
      - Frontend
      - Worker
      - Wroker  # DYN108
  services:
    Frontend:
      componentType: frontend
      replicas: "2"  # DYN021
      ingress:  # DYN149
        enabled: true
        ingressControllerClassName: nginx
      extraPodSpec:
        mainContainer:
          image: registry.example/front:1.5.0
          imagePullPolcy: Always  # DYN029
    Worker:
      componentTyp: worker  # DYN023
      sharedMemory: {}  # DYN116
      extraPodSpec:
        mainContainer:
          image: registry.example/dynamo:1.5.0
"""
OVERLAY = """\
resources: [../base]
namePrefix: eu-
nameSuffix: -blue
namespace: prod
labels: [{pairs: {stage: prod}}]
patches: [{path: patch.yaml}]
buildMetadata: [originAnnotations]
"""
CONFIGURED = RENDER.replace("spec: {", "spec: {namespace: team, restart: sync, ")


def mistakes(text):
    """The lines with a comment that names their mistake."""
    return sorted((number, line.partition("# ")[2].split()[0]) for number, line in enumerate(text.splitlines(), 1) if "# DYN" in line)


def seen(done):
    found = json.loads(done.out)["findings"]
    return sorted((each["line"], each["code"]) for each in found), {each["file"] for each in found}


def test_seven_mistakes_are_seven_findings_each_on_its_line(tmp_path):
    folder = write(tmp_path, graph=SEVEN, render=CONFIGURED)
    done = console.run("check", "--format", "json", folder)
    assert done.code == 1
    assert len(mistakes(SEVEN)) == 7
    assert seen(done) == (mistakes(SEVEN), {f"{tmp_path}/graph.yaml"})


def test_seven_mistakes_stay_on_their_lines_behind_a_real_build(tmp_path, kustomize):
    """A base, and an overlay that renames, moves, labels and patches; kustomize drops comments and sorts keys."""
    (tmp_path / ".git").mkdir()
    patch = GRAPH.partition("spec:")[0].replace("  namespace: team\n", "") + "spec: {services: {Frontend: {replicas: 3}}}\n"
    write(tmp_path, base__graph=SEVEN, base__kustomization="resources: [graph.yaml]\n", render=CONFIGURED)
    write(tmp_path, overlay__kustomization=OVERLAY, overlay__patch=patch)
    built = subprocess.run([kustomize, "build", tmp_path / "overlay"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "build.yaml").write_text(built)
    arguments = ("check", "--format", "json", "--config", tmp_path / "render.yaml", "--root", tmp_path / "overlay")
    for paths, stdin in (([tmp_path / "build.yaml"], ""), (["-"], built)):
        done = console.run(*arguments, *paths, stdin=stdin)
        assert done.code == 1
        assert seen(done) == (mistakes(SEVEN), {f"{tmp_path}/overlay/../base/graph.yaml"})


ONLY_RENDERS = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoComponentDeployment
metadata: {name: alone, namespace: team}
spec:
  multinode: {nodeCount: 2}
  extraPodSpec:
    mainContainer: {image: "registry.example/dynamo:0.9.0", env: [{name: ETCD_ENDPOINTS, value: "http://etcd:2379"}]}
"""


def test_what_only_some_renders_need_is_a_warning_until_a_configuration_says_which_one_it_is(tmp_path):
    folder = write(tmp_path, graph=ONLY_RENDERS)
    open_ = console.run("check", folder)
    (folder / "render.yaml").write_text(RENDER)
    settled = console.run("check", folder)
    needed = {"DYN124", "DYN156", "DYN161", "DYN162"}
    assert (open_.code, settled.code) == (0, 1)
    assert {words.split()[1] for *_, words in heads(open_) if words.startswith(" warning")} == needed
    assert {words.split()[1] for *_, words in heads(settled) if words.startswith(" error")} == needed


def test_a_render_never_lacks_what_a_check_with_its_configuration_passed(tmp_path):
    folder = write(tmp_path, graph=ONLY_RENDERS, render=RENDER)
    assert console.run("check", folder).code == console.run("render", folder).code == 1


@pytest.fixture
def readings(monkeypatch):
    """Records the texts that the check reads again to find places."""
    texts = []
    read = positions.positions

    def counted(text, paths):
        texts.append(text)
        return read(text, paths)

    monkeypatch.setattr(positions, "positions", counted)
    return texts


def test_many_findings_in_one_list_cost_one_reading_of_it(tmp_path, readings):
    """The check does not read the text again for each finding."""
    items = [MISSPELT.replace("name: chat", f"name: chat-{number:02}") for number in range(50)]
    listed = "".join(f"- {textwrap.indent(item, '  ').lstrip()}" for item in items)
    file = tmp_path / "list.yaml"
    file.write_text(f"apiVersion: v1\nkind: List\nitems:\n{listed}")
    done = console.run("check", "--format", "json", file)
    lines = [finding["line"] for finding in json.loads(done.out)["findings"]]
    assert lines == [number for number, line in enumerate(file.read_text().splitlines(), 1) if line.strip() == "replica: 2"]
    assert len(readings) == 1


def test_many_of_one_identity_cost_few_readings(tmp_path, readings):
    file = tmp_path / "list.yaml"
    file.write_text("apiVersion: v1\nkind: List\nitems:\n" + f"- {textwrap.indent(CONFIG_MAP, '  ').lstrip()}" * 50)
    done = console.run("check", file)
    assert done.out.count("error DYN016") == 49
    assert len(readings) == 2


def build():
    """The output of an inner layer."""
    return list(yaml.safe_load_all(console.run("render", "-", stdin=GRAPH).out))


def overlaid(**metadata):
    resources = build()
    for resource in resources:
        resource["metadata"].update({key: value(resource["metadata"][key]) for key, value in metadata.items()})
    return builds.text(resources)


def test_a_finished_build_passes():
    done = console.run("check", "-", stdin=builds.text(build()))
    assert (done.code, done.out) == (0, "")


def test_a_finished_build_with_objects_that_only_its_configuration_asks_for(tmp_path):
    """Without a configuration the check accepts these objects. With another one it reports that a render would remove them."""
    write(tmp_path, hosts=RENDER.replace("spec: {", "spec: {ingress: {className: nginx, hostSuffix: example.com}, "), bare=RENDER)
    built = console.run("render", "--config", tmp_path / "hosts.yaml", "-", stdin=GRAPH).out
    assert "kind: Ingress" in built
    assert console.run("check", "-", stdin=built).out == ""
    assert console.run("check", "--config", tmp_path / "hosts.yaml", "-", stdin=built).out == ""
    assert "note DYN056" in console.run("check", "--config", tmp_path / "bare.yaml", "-", stdin=built).out


@pytest.mark.parametrize(
    ("code", "metadata"),
    [("DYN060", {"namespace": lambda _: "prod"}), ("DYN061", {"name": lambda name: f"eu-{name}"})],
)
def test_a_finished_build_over_which_something_was_laid(code, metadata, tmp_path):
    file = tmp_path / "build.yaml"
    file.write_text(overlaid(**metadata))
    found = json.loads(console.run("check", "--format", "json", file).out)["findings"]
    addresses = [json.dumps(finding["resource"]) for finding in found]
    assert code in {finding["code"] for finding in found}
    assert len(addresses) == len(set(addresses)), "one finding for each object"
    lines = file.read_text().split("\n")
    for finding in found:
        last = finding["field"].rpartition(".")[2].split("[")[0].split("'")[0]
        assert last in lines[finding["line"] - 1] or "[" in finding["field"]


def test_objects_whose_graph_is_gone_are_a_warning():
    """The same warning as in a render."""
    done = console.run("check", "-", stdin=builds.text(item for item in build() if item["kind"] != "DynamoGraphDeployment"))
    assert done.code == 0
    assert "warning DYN053" in done.out


@settings(max_examples=tier.number(60, 10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(alphabet="-:[]{}&*!|>'\"%@`#,? \n\tab1\x00\u2028\x85", max_size=60).map(str.encode))
def test_no_bytes_break_it(tmp_path, data):
    file = tmp_path / "any.yaml"
    file.write_bytes(data)
    for paths in ([file], [tmp_path], ["--config", file, file]):
        done = console.run("check", *paths)
        assert done.code in (0, 1)
        assert done.code == 0 or "error DYN" in done.out


def test_a_finished_build_is_checked_with_the_release_that_made_it(tmp_path):
    """Release 1.5 replaces a mount of shared memory, release 0.9 refuses it. The images alone choose release 0.9."""
    main: dict[str, Any] = {"image": "registry.example/dynamo:0.9.0", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
    main["volumeMounts"] = [{"name": "a", "mountPath": "/dev/shm"}]  # noqa: S108 - the kernel's name for it
    pod = {"volumes": [{"name": "a", "emptyDir": {}}], "mainContainer": main}
    graph = yaml.safe_load(GRAPH)
    graph["spec"]["services"] = {"Worker": {"componentType": "worker", "extraPodSpec": pod}}
    write(tmp_path, graph=yaml.safe_dump(graph), render=RENDER.replace("natsAddress:", "behaviour: v1.5, natsAddress:"))
    built = console.run("render", "--config", tmp_path / "render.yaml", tmp_path / "graph.yaml")
    assert built.code == 0, built.err
    done = console.run("check", "-", stdin=built.out)
    assert done.code == 0, done.out
    assert "DYN209" in console.run("check", tmp_path / "graph.yaml").out
