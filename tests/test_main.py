"""Without arguments the command is the function, and imports only the modules it needs; with arguments it is the command line."""

import gc
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import krm_fn
from krm_fn import __main__, cli
from krm_fn.syncer import syncer
from tests.support.cases import cases
from tests.testbed import programs

COMMAND = [sys.executable, "-m", "krm_fn"]
NOTHING = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
GRAPH = NOTHING.replace(" []", "") + (
    "- apiVersion: nvidia.com/v1alpha1\n  kind: DynamoGraphDeployment\n  metadata: {name: llm, namespace: prod}\n"
    "  spec: {services: {Frontend: {componentType: frontend, extraPodSpec: {mainContainer: "
    "{image: a:0.9.0, env: [{name: DYN_STORE_KV, value: mem}]}}}}}\n"
)

TOO_DEAR = [
    "aiohttp",
    "argparse",
    "asyncio",
    "click",
    "contextlib",
    "dataclasses",
    "base64",
    "datetime",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json.tool",
    "logging",
    "pathlib",
    "prometheus_client",
    "pydantic",
    "subprocess",
    "tempfile",
    "typing",
    "yaml",
    "yaml.constructor",
    "yaml.reader",
    "yaml.scanner",
    "krm_fn.cli",
    "krm_fn.syncer.status",
    "krm_fn.syncer",
]


def run(*arguments, text="", **environment):
    command = [*COMMAND, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **environment})


# `-X importtime` does not list a module that importlib.import_module imports, and so no entry of a registry.
LISTING = "import sys; from krm_fn.__main__ import main; code = main(); print(*sys.modules, file=sys.stderr); sys.exit(code)"


@pytest.fixture(scope="module")
def imported():
    """The modules that rendering a graph imports."""
    done = subprocess.run([sys.executable, "-c", LISTING], input=GRAPH, capture_output=True, text=True, check=True)
    assert "kind: Deployment" in done.stdout
    return {*done.stderr.split()}


COMMANDS_LISTING = (
    "import atexit, sys; from krm_fn.__main__ import start;"
    "atexit.register(lambda: print(*[name for name in sys.modules if 'review.arguments' in name], file=sys.stderr)); start()"
)


@pytest.mark.parametrize(("verb", "judges"), [("render", False), ("check", True)])
def test_only_commands_that_judge_command_lines_import_their_rules(verb, judges, tmp_path):
    (tmp_path / "graph.yaml").write_text(yaml.safe_dump(yaml.safe_load(GRAPH)["items"][0]))
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS_LISTING, verb, tmp_path / "graph.yaml"], capture_output=True, text=True, check=False
    )
    assert ("krm_fn.review.arguments" in done.stderr) is judges


CLEANING = "import atexit, os; from krm_fn.__main__ import start; atexit.register(os.write, 2, b'cleaned'); start()"
ENDS = [
    # reason, arguments, text, exit code, whether the interpreter cleans up
    ("the function", [], GRAPH, 0, False),
    ("the function with an error", [], GRAPH.replace("services:", "service:"), 1, False),
    ("the function with more output than a pipe holds", [], GRAPH + f"functionConfig: {{a: {'x' * 500_000}}}\n", 1, False),
    ("a command", ["--version"], "", 0, True),
]


@cases(("arguments", "text", "code", "cleans"), ENDS)
def test_the_function_ends_without_cleaning_up_and_loses_nothing(arguments, text, code, cleans):
    done = subprocess.run([sys.executable, "-c", CLEANING, *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("cleaned" in done.stderr) is cleans
    assert done.stdout == run(*arguments, text=text).stdout
    assert len(done.stdout) > len(text)


THRESHOLD = (
    "import gc; from krm_fn import cli; cli.main = lambda _: print(gc.get_threshold()[0]); from krm_fn.__main__ import start; start()"
)


def test_a_command_collects_garbage_rarely():
    """Collections with Python's default cost `explain` a fifth of its time. The syncer, which does not end, sets the default again."""
    done = subprocess.run([sys.executable, "-c", THRESHOLD, "explain"], capture_output=True, text=True, check=True)
    assert int(done.stdout) == __main__._RARE > 50 * syncer._COLLECTED


def test_the_syncer_collects_garbage_as_often_as_python(monkeypatch):
    """A process that does not end must not collect rarely: garbage of 100,000 objects needs memory."""
    thresholds: list[int] = []
    monkeypatch.setattr(gc, "set_threshold", thresholds.append)
    with pytest.raises(AttributeError):
        syncer.start(None)  # type: ignore[arg-type]
    assert thresholds == [syncer._COLLECTED] == [gc.get_threshold()[0]]


GUARDED = {
    "schemas/generate/native_definitions.py": "the guard is in the text that it writes",
    "syncer/status/cached_request.py": "profiler_output needs a YAML parser, which the status logic does not import",
    "syncer/status/request_deployment.py": "the same",
    "syncer/status/request_generation.py": "the same",
    "syncer/status/request_profiling.py": "the same",
}
"""Modules outside the function's path with imports for the type checker only, and the reasons."""


def test_only_packages_of_the_function_import_for_the_type_checker_only(imported):
    """There, such a guard keeps the start fast. Everywhere else it is a second list of imports that helps nobody."""
    package = Path(krm_fn.__file__).parent
    files = [file.relative_to(package) for file in package.rglob("*.py") if "if TYPE_CHECKING:" in file.read_text()]
    imported_packages = {name.split(".")[1] for name in imported if name.startswith("krm_fn.")}
    guarded = {file.as_posix() for file in files if file.parts[0].removesuffix(".py") not in imported_packages}
    assert guarded == {*GUARDED}


def test_the_function_imports_the_entries_of_registries_that_it_needs(imported):
    """The guard below sees these; a component type of no service stays out."""
    assert {"krm_fn.render.krm.function", "krm_fn.render.kinds.types.frontend", "krm_fn.render.manifests.workloads.deployment"} <= imported
    assert "krm_fn.render.kinds.types.planner" not in imported


def test_the_function_imports_what_requests_need_only_for_requests(imported):
    assert (
        not {"krm_fn.render.manifests.profiling", "krm_fn.render.resolve.profiling_requests", "krm_fn.render.rules.request_rules"}
        & imported
    )


def test_the_function_imports_rules_about_rare_fields_only_for_pods_that_have_them(imported):
    """The package of these rules is a registry, whose modules `krm_fn.kubernetes.api_server.by_field` imports by the fields of a pod."""
    package = "krm_fn.kubernetes.api_server.by_field."
    assert not [name for name in imported if name.startswith(package)]
    graph = GRAPH.replace("{mainContainer:", "{hostAliases: [], mainContainer:")
    done = subprocess.run([sys.executable, "-c", LISTING], input=graph, capture_output=True, text=True, check=True)
    assert [name for name in done.stderr.split() if name.startswith(package)] == [f"{package}network_rules"]


def test_the_function_imports_what_newer_releases_need_only_for_them(imported):
    later = (
        "krm_fn.render.resolve.worker_hash",
        "krm_fn.kubernetes.go_json",
        "krm_fn.render.operator_config",
        "krm_fn.render.convert.versions",
    )
    assert (
        not {*later, "krm_fn.render.kinds.releases.v1_5", "krm_fn.render.rules.by_release", "krm_fn.render.manifests.sidecars"} & imported
    )
    assert not [name for name in imported if name.startswith("krm_fn.render.resolve.v1beta1")]


NEWER = GRAPH.replace("v1alpha1", "v1beta1").replace(
    "services: {Frontend: {componentType: frontend, extraPodSpec: {mainContainer: "
    "{image: a:0.9.0, env: [{name: DYN_STORE_KV, value: mem}]}}}}",
    "components: [{name: Frontend, type: KIND, podTemplate: {spec: {containers: [{name: main, image: 'example.com/dynamo:1.5.0'}]}}}]",
)


@pytest.mark.parametrize(("kind", "hashes"), [("frontend", False), ("decode", True)])
def test_the_order_of_fields_is_read_only_for_workers(kind, hashes):
    program = (
        "import sys; from krm_fn.kubernetes import go_json; from krm_fn.__main__ import main; code = main();"
        "print(go_json.pod_template.cache_info().currsize, file=sys.stderr); sys.exit(code)"
    )
    given = NEWER.replace("KIND", kind)
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True)
    assert "kind: Deployment" in done.stdout
    assert done.stderr.splitlines()[-1] == str(int(hashes))


@pytest.mark.parametrize(("behaviour", "is_imported"), [("v1.2", True), ("v1.3", True), ("v1.4", False), ("v1.5", False)])
def test_version_1_of_the_worker_hash_is_imported_only_for_releases_that_have_it(behaviour, is_imported):
    config = f"functionConfig: {{apiVersion: dynamo.krm-fn.io/v1alpha1, kind: DynamoRender, spec: {{behaviour: {behaviour}}}}}\n"
    given = NEWER.replace("KIND", "decode").replace("1.5.0", "1.2.0") + config
    done = subprocess.run([sys.executable, "-c", LISTING], input=given, capture_output=True, text=True, check=True)
    imported = {*done.stderr.split()}
    modules = {"krm_fn.render.resolve.v1_worker_hash", "krm_fn.render.convert.reconverted_services"}
    assert (modules & imported) == (modules if is_imported else set())


@pytest.mark.parametrize("module", TOO_DEAR)
def test_the_function_does_not_import(module, imported):
    assert module not in imported


def test_the_function_runs_without_arguments():
    done = run(text=NOTHING)
    assert (done.returncode, done.stdout, done.stderr) == (0, NOTHING, "")


def test_arguments_are_for_people():
    assert run("--version").stdout == f"krm-fn {krm_fn.__version__}\n"


def test_help_comes_before_anything_is_read():
    """kpt shows the documentation of a function by its --help, and gives it no input that ends."""
    reading, writing = os.pipe()
    try:
        done = subprocess.run([*COMMAND, "--help"], stdin=reading, capture_output=True, text=True, check=True, timeout=300)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.stdout.startswith("Usage: krm-fn")


def test_a_person_without_arguments_gets_help():
    theirs, ours = pty.openpty()
    try:
        done = subprocess.run(COMMAND, stdin=ours, capture_output=True, text=True, check=True, timeout=300)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout == run("--help").stdout


def test_a_shell_that_completes_is_no_orchestrator():
    assert cli.COMPLETE_VARIABLE == __main__._COMPLETION
    assert "krm-fn" in run(**{cli.COMPLETE_VARIABLE: "bash_source"}).stdout


def test_nobody_reads_the_output():
    """No traceback, neither from us nor from the interpreter on its way out."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(COMMAND, input=GRAPH.encode(), stdout=writing, stderr=subprocess.PIPE, check=False, timeout=300)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


FULL = "No space left on device"
CLOSED = "Bad file descriptor"
LISTED, GRAPHS = "printf '%s' \"$LIST\" | ", "printf '%s' \"$GRAPH\" | "
STREAMS = [
    # reason, command, exit code, the only line on stderr
    ("the function, closed stdout", LISTED + "$FN >&-", 1, CLOSED),
    ("the function, closed stderr", LISTED + "$FN 2>&-", 0, ""),
    ("the function, full disk", LISTED + "$FN >/dev/full", 1, FULL),
    ("the function, stdin open for writing only", "$FN 0>written", 1, "cannot read stdin"),
    ("the plugin, full disk", GRAPHS + "$FN $PWD/settings.yaml >/dev/full", 1, FULL),
    ("the plugin, closed stdout", GRAPHS + "$FN $PWD/settings.yaml >&-", 1, CLOSED),
    ("render, full disk", "$FN render graph.yaml >/dev/full", 1, FULL),
    ("render, closed stdout", "$FN render graph.yaml >&-", 1, CLOSED),
    ("check, full disk", "$FN check -q misspelt.yaml >/dev/full", 1, FULL),
    ("check, closed stdout", "$FN check --format sarif graph.yaml >&-", 1, CLOSED),
    ("check, closed stdout and nothing to print", "$FN check -q graph.yaml >&-", 0, ""),
    ("crds, full disk", "$FN crds >/dev/full", 1, FULL),
    ("crds, closed stdout", "$FN crds >&-", 1, CLOSED),
    ("schema, closed stdout", "$FN schema >&-", 1, CLOSED),
    ("explain, full disk", "$FN explain DYN021 >/dev/full", 1, FULL),
    ("completion, closed stdout", "$FN completion bash >&-", 1, CLOSED),
    ("help, full disk", "$FN --help >/dev/full", 1, FULL),
    ("nowhere to say it", "$FN render graph.yaml >/dev/full 2>&-", 1, ""),
]


@cases(("command", "code", "words"), STREAMS)
def test_a_stream_that_cannot_be_used_is_one_line_and_no_success(command, code, words, tmp_path):
    (tmp_path / "settings.yaml").write_text("apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\n")
    graph = yaml.safe_dump(yaml.safe_load(GRAPH)["items"][0])
    (tmp_path / "graph.yaml").write_text(graph)
    (tmp_path / "misspelt.yaml").write_text(graph.replace("componentType", "componentTyp"))
    environment = {**os.environ, "FN": f"{sys.executable} -m krm_fn", "LIST": NOTHING, "GRAPH": graph, "PYTHONPATH": str(programs.ROOT)}
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=tmp_path,
        env=environment,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (code, int(bool(words))), done.stderr
    assert words in done.stderr


@pytest.mark.parametrize("arguments", ["", "check -", "render -", "schema --for names -"])
def test_a_closed_stdin_is_an_empty_input(arguments):
    command = f"{sys.executable} -m krm_fn {arguments} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=300)  # noqa: S602
    assert done.returncode == 1
    assert "error DYN001" in done.stdout + done.stderr
    assert "DYN019" not in done.stderr
