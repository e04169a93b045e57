"""`krm-fn new`: the folder of a new graph passes `check`, builds with the real tools, and a server takes its objects."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from krm_fn.render import engines
from krm_fn.render.engines import NewWorker
from krm_fn.repository import new_graphs
from krm_fn.repository.new_graphs import graph_layouts
from tests.cli import console
from tests.support import build_checks, builds, definitions, golden
from tests.support import new_graphs as combinations
from tests.support.cases import cases
from tests.testbed import programs

NEEDED = ("chat", "--engine", "vllm", "--model", combinations.MODEL)
LAYOUTS = [*graph_layouts.LAYOUTS]
CHOICES = combinations.choices()
NOTES = {"flux": "DYN597"}
"""The note about an artifact, which no file of the folder can show."""


def create(folder, layout, engine, topology):
    """The folder of a graph of the command."""
    options = combinations.TOPOLOGIES[topology]
    arguments = (
        "chat",
        "--engine",
        engine,
        "--model",
        combinations.MODEL,
        "--gpus",
        "2",
        *options,
        "--for",
        layout,
        "--output-dir",
        folder,
    )
    done = console.run("new", *arguments)
    assert (done.code, done.err) == (0, "")
    return folder


def printed(tmp_path, name):
    """The objects that a render of the graph prints, without a layout."""
    folder = create(tmp_path / "plain", "plain", *name.split("-", 1))
    return build_checks.read(console.run("render", folder / "graph.yaml").out)


def by_name(objects):
    """The objects by kind and name. The path of a file, which kpt adds, does not count."""
    for item in objects:
        for annotation in [name for name in build_checks.notes(item) if name.endswith(("/path", "/index", "/file-path"))]:
            del item["metadata"]["annotations"][annotation]
    return {(item["kind"], item["metadata"]["name"]): item for item in objects}


@pytest.mark.parametrize("topology", combinations.TOPOLOGIES)
@pytest.mark.parametrize("engine", new_graphs.engine_names())
def test_a_new_graph_has_no_finding(engine, topology, tmp_path):
    """The command lines have the flags of the release, and parallel sizes that use all GPUs of all nodes."""
    folder = create(tmp_path / "chat", "plain", engine, topology)
    done = console.run("check", folder, notes=True)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("1 resource: no findings\n")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.usefixtures("kustomize_on_path")
def test_every_layout_of_every_graph_builds_without_a_finding(name, layout, tmp_path):
    """There is one exception: the note that Flux applies an artifact."""
    folder = create(tmp_path / "chat", layout, *name.split("-", 1))
    done = console.run("check", folder, notes=True)
    assert done.code == 0
    assert set(re.findall("DYN[0-9]+", done.out)) == {code for noted, code in NOTES.items() if noted == layout}, done.out
    assert re.search("built|rendered", done.err) or layout == "plain"


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout not in ("kpt", "plain")])
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.usefixtures("kustomize")
def test_kustomize_makes_the_objects_of_the_graph(name, layout, tmp_path):
    folder = create(tmp_path / "chat", layout, *name.split("-", 1))
    objects = builds.kustomize(folder / "overlays" / "prod")
    build_checks.assert_fit(objects)
    build_checks.assert_nothing_lies(objects)
    assert by_name(objects) == by_name(printed(tmp_path, name))


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.usefixtures("kpt")
def test_kpt_makes_the_objects_of_the_graph(name, tmp_path):
    folder = create(tmp_path / "chat", "kpt", *name.split("-", 1))
    expected = by_name(printed(tmp_path, name))
    golden.render(folder)
    objects = [item for file in folder.glob("*.yaml") for item in build_checks.read(file.read_text()) if item["kind"] != "DynamoRender"]
    assert by_name(objects) == expected


@pytest.fixture(scope="module")
def orchestrators_v1beta1(dynamo_v1beta1):
    """The control plane with Dynamo's kinds in v1beta1 and those of the orchestrators."""
    definitions.serve(dynamo_v1beta1, definitions.every())
    return dynamo_v1beta1


@pytest.mark.parametrize("name", CHOICES)
def test_an_api_server_accepts_the_objects_of_the_graph(name, orchestrators_v1beta1, tmp_path):
    orchestrators_v1beta1.namespace("prod")
    answers = {key: orchestrators_v1beta1.apply(item) for key, item in by_name(printed(tmp_path, name)).items()}
    assert {key: answer.message for key, answer in answers.items() if not answer.ok} == {}


SIZES = [
    ("one GPU needs no flag", "vllm", NewWorker("m", 1), ["--model", "m"]),
    ("vLLM on one node", "vllm", NewWorker("m", 4), ["--model", "m", "--tensor-parallel-size", "4"]),
    (
        "each node of vLLM is a stage",
        "vllm",
        NewWorker("m", 8, 2),
        ["--model", "m", "--tensor-parallel-size", "8", "--pipeline-parallel-size", "2"],
    ),
    ("SGLang has its own flag of the model", "sglang", NewWorker("m", 8, 2), ["--model-path", "m", "--tensor-parallel-size", "16"]),
    ("TensorRT-LLM counts all GPUs", "trtllm", NewWorker("m", 8, 2), ["--model", "m", "--tensor-parallel-size", "16"]),
]


@cases(("engine", "worker", "arguments"), SIZES)
def test_parallel_sizes_follow_gpus_and_nodes(engine, worker, arguments):
    assert engines.get(engine).arguments(worker) == arguments


@pytest.mark.parametrize("engine", new_graphs.engine_names())
def test_both_workers_of_a_pair_have_their_mode(engine):
    for mode in ("prefill", "decode"):
        arguments = engines.get(engine).arguments(NewWorker("m", 8, 2, mode))
        assert arguments[arguments.index("--disaggregation-mode") + 1] == mode
        assert "--pipeline-parallel-size" not in arguments  # NixlConnector refuses one


OVERLAYS = {
    # the layout: the files of the overlay `prod`, beside those of the overlay itself
    "kustomize": [],
    "argocd": ["apps/chat-prod.yaml"],
    "flux": ["flux/deploy-prod.yaml", "flux/source-prod.yaml"],
}


@pytest.mark.parametrize("layout", OVERLAYS)
@pytest.mark.parametrize("engine", new_graphs.engine_names())
@pytest.mark.usefixtures("kustomize_on_path")
def test_each_of_several_overlays_builds_without_a_finding(engine, layout, tmp_path):
    """An overlay has the namespace of its name, and the objects of the graph in it."""
    arguments = ("chat", "--engine", engine, "--model", "m", "--for", layout, "--output-dir", tmp_path)
    assert console.run("new", *arguments, "--overlays", "staging,prod").code == 0
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*prod*") if file.is_file()}
    assert sorted(files) == OVERLAYS[layout]
    done = console.run("check", tmp_path, notes=True)
    assert (done.code, set(re.findall("DYN[0-9]+", done.out))) == (0, {code for noted, code in NOTES.items() if noted == layout})
    for name in ("staging", "prod"):
        assert f"overlays/{name}: built" in done.err
        assert {item["metadata"]["namespace"] for item in builds.kustomize(tmp_path / "overlays" / name)} == {name}


def test_the_page_has_the_commands_of_each_overlay(tmp_path):
    console.run("new", *NEEDED, "--overlays", "staging,prod", "--output-dir", tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert "* Render: `krm-fn build overlays/staging`, and `krm-fn build overlays/prod`\n" in page
    assert "`kubectl create namespace staging`, and `kubectl create namespace prod`\n" in page
    assert "* Status: `krm-fn status --namespace staging`, and `krm-fn status --namespace prod`\n" in page


@pytest.mark.parametrize("layout", ["argocd", "flux"])
def test_what_applies_an_overlay_has_its_name(layout, tmp_path):
    console.run("new", *NEEDED, "--overlays", "staging,prod", "--for", layout, "--output-dir", tmp_path)
    if layout == "argocd":
        spec = yaml.safe_load((tmp_path / "apps" / "chat-staging.yaml").read_text())["spec"]
        assert (spec["source"]["path"], spec["destination"]["namespace"]) == ("overlays/staging", "staging")
    else:
        deploy, source = (yaml.safe_load((tmp_path / "flux" / f"{name}-staging.yaml").read_text()) for name in ("deploy", "source"))
        assert deploy["spec"]["sourceRef"]["name"] == source["metadata"]["name"] == "chat-staging"
        assert source["spec"]["url"].endswith("/chat-staging")


def test_the_comment_about_the_token_is_the_yaml_of_the_option(tmp_path):
    """Without the signs of the comment, the file is that of `--token-secret hf-token`, which all components read."""
    console.run("new", *NEEDED, "--for", "plain", "--output-dir", tmp_path / "open")
    console.run("new", *NEEDED, "--for", "plain", "--token-secret", "hf-token", "--output-dir", tmp_path / "named")
    text = (tmp_path / "open" / "graph.yaml").read_text()
    uncommented = re.sub(r"^  # (?!If)", "  ", text, flags=re.MULTILINE)
    assert yaml.safe_load(uncommented) == yaml.safe_load((tmp_path / "named" / "graph.yaml").read_text()) != yaml.safe_load(text)
    needed = console.run("needs", tmp_path / "named").out
    assert re.search(r"Secret +prod/hf-token +HF_TOKEN ", needed)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_line_for_editors_names_the_file_that_the_last_command_writes(layout, tmp_path, monkeypatch):
    folder = tmp_path / "chat"
    out = console.run("new", *NEEDED, "--for", layout, "--output-dir", folder).out
    graph = next(folder.rglob("graph.yaml"))
    prefix, _, schema = graph.read_text().partition("\n")[0].rpartition("=")
    assert prefix == "# yaml-language-server: $schema"
    written = re.search(r"krm-fn schema > (\S+)", out)
    assert written
    assert (graph.parent / schema).resolve() == (folder / written[1]).resolve()
    monkeypatch.chdir(folder)
    Path(written[1]).write_text("{}")
    assert layout != "kpt" or not any(folder.rglob("*.json"))  # kpt would read it as a resource


def test_the_page_has_the_commands(tmp_path, monkeypatch):
    create(tmp_path / "chat", "plain", "vllm", "disaggregated")
    page = (tmp_path / "chat" / "README.md").read_text()
    assert [line.split(":")[0] for line in page.splitlines() if line.startswith("*")] == [
        "* What",
        "* Render",
        "* Check",
        "* Once for each cluster",
        "* Apply",
        "* Status",
    ]
    assert "1 prefill worker and 1 decode worker of 2 GPUs each" in page
    assert "does not know if Qwen/Qwen3-32B fits" in page
    monkeypatch.chdir(tmp_path / "chat")
    for words in re.findall("(?:Render|Check): `krm-fn (.*)`", page):
        assert console.run(*words.split()).code == 0


def test_the_path_of_an_application_begins_at_the_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    folder = create(tmp_path / "graphs" / "chat", "argocd", "vllm", "aggregated")
    application = yaml.safe_load((folder / "apps" / "chat.yaml").read_text())
    assert application["spec"]["source"]["path"] == "graphs/chat/overlays/prod"
    assert application["spec"]["source"]["plugin"] == {"name": "krm-fn"}  # as docs/argocd.md recommends, and not the build options


def test_the_last_lines_name_the_files_and_the_next_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = console.run("new", *NEEDED).out
    files = sorted(str(path.relative_to("chat")) for path in Path("chat").rglob("*") if path.is_file())
    assert out.splitlines()[: len(files) + 1] == [f"{len(files)} files in chat:", *(f"  {file}" for file in files)]
    for command in ("cd chat", "krm-fn check", "krm-fn build overlays/prod", "krm-fn diff"):
        assert f"\n  {command}" in out


def test_all_missing_options_are_named_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = console.run("new", "--gpus", "2")
    assert done.code == 2
    assert f"missing: NAME, --engine ({', '.join(new_graphs.engine_names())}), --model" in done.err
    assert not any(tmp_path.iterdir())


WRONG = [
    ("no DNS label", ["Chat"], "'Chat' is not a name"),
    ("a name that makes the names of pods too long", ["c" * 60], "DYN"),
    ("a namespace", ["chat", "--namespace", "a.b"], "is not a namespace"),
    ("a model with a blank", ["chat", "--model", "a b"], "is not a model"),
    ("a model that is an option", ["chat", "--model", "-x"], "is not a model"),
    ("a Secret", ["chat", "--token-secret", "HF_TOKEN"], "is not the name of a Secret"),
    ("an overlay with a slash", ["chat", "--overlays", "eu/prod,test"], "'eu/prod' is not a name of its own"),
    ("an overlay twice", ["chat", "--overlays", "prod,prod"], "'prod' is not a name of its own"),
    ("overlays of a layout without them", ["chat", "--overlays", "test,prod", "--for", "kpt"], "kpt has no overlays"),
    ("another namespace beside overlays", ["chat", "--overlays", "test,prod", "-n", "team"], "leave out --namespace"),
    ("no GPU", ["chat", "--gpus", "0"], "0 is not in the range"),
]


@cases(("arguments", "message"), WRONG)
def test_nothing_is_written_for_a_wrong_value(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = console.run("new", "--engine", "vllm", "--model", "m", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not any(tmp_path.iterdir())


def test_a_folder_with_files_stays_as_it_is(tmp_path):
    (tmp_path / "graph.yaml").write_text("mine")
    done = console.run("new", *NEEDED, "--output-dir", tmp_path)
    assert done.code == 2
    assert "has files: graph.yaml; name another folder" in done.err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("graph.yaml", "mine")]


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = console.run("new", *NEEDED, "--output-dir", tmp_path / "file" / "chat")
    assert done.code == 1
    assert "Not a directory" in done.err


def test_an_empty_clone_can_be_the_folder(tmp_path):
    (tmp_path / ".git").mkdir()
    assert console.run("new", *NEEDED, "--output-dir", tmp_path).code == 0
    assert (tmp_path / "base" / "graph.yaml").exists()


@pytest.mark.parametrize("moved", [0, 2, 4])
def test_all_files_are_written_or_none(moved, tmp_path, monkeypatch):
    """The disk is full after some files."""
    replace, left = Path.replace, iter(range(moved))

    def fail(self, target):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    done = console.run("new", *NEEDED, "--output-dir", tmp_path / "graphs" / "chat")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert not any(tmp_path.iterdir())


def answered(folder, answers, *arguments):
    """The exit code and the output of the command on a terminal, on which a user types the answers."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "krm_fn", "new", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(programs.ROOT), "TERM": "dumb"},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        assert running.stdout
        text = running.stdout.read()
        code = running.wait(timeout=300)
    os.close(ours)
    return code, text


def test_a_terminal_is_asked_for_all_that_is_open(tmp_path):
    """A wrong answer is asked again, an empty one is the default, and an option that is given is not asked."""
    answers = ["Chat", "chat", "tgi", "sglang", "m", "y", "", "3", "plain", "", ""]
    code, text = answered(tmp_path, answers, "--gpus", "2")
    assert code == 0, text
    for question in (
        "The name of the graph",
        "The inference engine (sglang, trtllm, vllm)",
        "(kustomize, kpt, plain, argocd, flux) [kustomize]",
    ):
        assert question in text
    assert "'Chat' is not a name" in text
    assert "GPUs of a worker" not in text
    graph = yaml.safe_load((tmp_path / "chat" / "graph.yaml").read_text())
    components = {component["name"]: component for component in graph["spec"]["components"]}
    assert graph["metadata"] == {"name": "chat", "namespace": "prod"}
    assert {name: component["replicas"] for name, component in components.items()} == {"Frontend": 1, "Prefill": 3, "Decode": 3}
    assert components["Decode"]["podTemplate"]["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "2"}


def test_a_terminal_is_not_asked_if_nothing_needed_is_missing(tmp_path):
    code, text = answered(tmp_path, [], *NEEDED, "--for", "plain")
    assert (code, text.splitlines()[0]) == (0, "2 files in chat:")


def test_the_function_does_not_import_the_command():
    """A render starts for every build."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, krm_fn.render.krm.function; print([name for name in sys.modules if 'new_graphs' in name])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_a_shell_completes_the_layouts():
    done = console.program(_KRM_FN_COMPLETE="bash_complete", COMP_WORDS="krm-fn new --for ", COMP_CWORD="3")
    assert done.out.split() == [f"plain,{layout}" for layout in LAYOUTS]
