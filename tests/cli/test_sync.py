"""`krm-fn sync` before it reaches a cluster: its settings, and what it says about those that are wrong."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from krm_fn import cli
from krm_fn.cli import sync_command
from krm_fn.render.config import Config
from krm_fn.syncer import fleet_estimate, syncer
from krm_fn.syncer.options import Options
from krm_fn.syncer.status import SyncFeatures
from tests.testbed import programs


@pytest.fixture
def run(monkeypatch):
    """Runs the verb up to the start of the syncer, which returns 0. `run(*words, **environment)` returns the result and what started."""
    started: list[tuple[Options, list[str]]] = []

    def start(chosen, warnings):
        started.append((chosen, list(warnings)))
        return 0

    monkeypatch.setattr(syncer, "start", start)

    def run(*words, **environment):
        started.clear()
        variables = {f"KRM_FN_SYNC_{name}": value for name, value in environment.items()}
        # A command that runs without its group keeps another help option, and so another help text, for the rest of the process.
        result = CliRunner().invoke(cli.group, ["sync", *words], env=variables, prog_name=cli.PROGRAM)
        return result, *(started[0] if started else (None, None))

    return run


def test_without_options(run):
    result, chosen, warnings = run()
    assert (result.exit_code, chosen, warnings) == (0, Options(), [])
    assert chosen.features == SyncFeatures(pods=False, restarts=False, scaling=True, grove_counts=True)


def test_only_this_machine_reaches_the_metrics_unless_somebody_asks_for_more(run):
    """They have the names of all graphs and namespaces, and no password protects them."""
    chosen = [run()[1], run(LISTEN="0.0.0.0:8080")[1], run("--listen", ":9090")[1]]
    addresses = [(options.address, options.port) for options in chosen]
    assert addresses == [("127.0.0.1", 8080), ("0.0.0.0", 8080), ("0.0.0.0", 9090)]  # noqa: S104 - nothing listens


def settings(tmp_path, text="orchestrator: grove"):
    """A file with a configuration."""
    file = tmp_path / "render.yaml"
    file.write_text(f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {{name: render}}\nspec: {{{text}}}\n")
    return str(file)


def test_every_option(run, tmp_path):
    words = shlex.split(
        "--kubeconfig k --context c -n a --namespace b --pods --restarts --no-scaling --no-grove-counts --graph-replicas --no-events "
        "--pod-messages --requests --auto-apply --other-namespaces --models --loras --device-claims --services "
        "--hold-namespaces --no-leader-election --lease-namespace l --listen [::1]:9 --workers 3 --log-format json "
        f"--log-level debug --config {settings(tmp_path)}"
    )
    result, chosen, _ = run(*words)
    assert result.exit_code == 0, result.output
    assert chosen == Options(
        kubeconfig="k",
        context="c",
        namespaces=("a", "b"),
        features=SyncFeatures(
            pods=True,
            pod_messages=True,
            restarts=True,
            scaling=False,
            grove_counts=False,
            graph_replicas=True,
            requests=True,
            auto_apply=True,
            other_namespaces=True,
            models=True,
            loras=True,
            device_claims=True,
            services=True,
        ),
        config=Config(orchestrator="grove"),
        events=False,
        hold_namespaces=True,
        leader_election=False,
        lease_namespace="l",
        shards=False,
        address="::1",
        port=9,
        workers=3,
        log_format="json",
        log_level="debug",
    )
    unset = [name for name in Options._fields if getattr(chosen, name) == getattr(Options(), name)]
    assert unset == ["shards"], "no option is left out"
    assert run("--shards")[1] == Options(shards=True)
    assert all(value != default for value, default in zip(chosen.features, SyncFeatures(), strict=True))


def test_every_option_is_also_a_variable(run):
    """A list of namespaces may have commas or blanks, as an environment has no lists."""
    _, chosen, warnings = run(PODS="true", SCALING="false", NAMESPACE="a,b c", LEADER_ELECTION="yes", LOG_LEVEL="error", WORKERS="2")
    assert warnings == []
    assert chosen.namespaces == ("a", "b", "c")
    assert (chosen.features.pods, chosen.features.scaling, chosen.leader_election) == (True, False, True)
    assert (chosen.log_level, chosen.workers) == ("error", 2)
    assert run(SHARDS="true")[1].shards
    for parameter in sync_command.COMMAND.params:
        if not getattr(parameter, "allow_from_autoenv", False):
            continue  # an estimate has no variables
        assert run(**{parameter.name.upper(): ""})[2] == [], parameter.name


def test_a_word_of_the_command_wins_over_its_variable(run):
    assert run("--no-pods", PODS="true")[1].features.pods is False


def test_an_unknown_variable_is_a_warning(run):
    result, _, warnings = run(NAMESPACES="a")
    assert result.exit_code == 0
    assert warnings == ["The environment variable KRM_FN_SYNC_NAMESPACES is unknown and sets nothing; did you mean KRM_FN_SYNC_NAMESPACE?"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--hold-namespaces", "--hold-namespaces needs --namespace"),
        ("--pod-messages", "--pod-messages needs --pods"),
        ("--auto-apply", "--auto-apply needs --requests"),
        ("--loras", "--loras needs --models"),
        ("--requests --other-namespaces", "--other-namespaces needs --auto-apply"),
        ("--requests --config /dev/null", "--config needs --auto-apply"),
        ("--shard 2/5", "--shard 2/5 was replaced; use --shards, with the same flags in each process"),
        ("--shards --no-leader-election", "--shards has no leader; remove --leader-election or --no-leader-election"),
        ("--listen 8080x", "is not ADDRESS:PORT"),
        ("--listen 127.0.0.1:99999", "is not ADDRESS:PORT"),
        ("-n Team", "'Team' is not a namespace"),
        ("--workers 0", "0 is not in the range"),
        ("--log-level loud", "'loud' is not one of"),
        ("--pod", "Did you mean one of"),
        ("graph.yaml", "does not exist"),
    ],
)
def test_wrong_usage(words, said, run):
    result, chosen, _ = run(*words.split())
    assert (result.exit_code, chosen) == (2, None)
    assert said.lower() in result.output.lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "does not exist"),
        ("orchestrater: grove", "DYN023 spec.orchestrater: unknown field"),
        ("ingress: 5", "DYN021 spec.ingress"),
    ],
)
def test_a_configuration_with_an_error_is_wrong_usage(text, said, run, tmp_path):
    """The findings are those of a render, with their places. A syncer that starts would apply graphs with other settings."""
    file = settings(tmp_path, text) if text else str(tmp_path / "missing.yaml")
    result, chosen, _ = run("--requests", "--auto-apply", "--config", file)
    assert (result.exit_code, chosen) == (2, None)
    assert said in result.output
    assert file in result.output


def command(*words, code="from krm_fn import __main__; __main__.start()"):
    program = [sys.executable, "-c", f"import sys; {code}", *words]
    return subprocess.run(program, capture_output=True, text=True, check=False, cwd=programs.ROOT, timeout=60)


@pytest.mark.parametrize("package", ["aiohttp", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(package):
    done = command("sync", code=f"sys.modules[{package!r}] = None; from krm_fn import __main__; __main__.start()")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: krm-fn sync needs more packages; run: pip install 'aiohttp>=3.12' 'prometheus_client>=0.21'\n"


def test_without_the_extra_help_works_and_no_other_verb_imports_it():
    refused = "sys.modules['aiohttp'] = sys.modules['prometheus_client'] = None; from krm_fn import __main__; __main__.start()"
    assert "sync " in command("--help", code=refused).stdout
    assert "--shards" in command("sync", "--help", code=refused).stdout


@pytest.mark.slow  # imports the syncer in three processes
def test_a_kubeconfig_that_cannot_be_used_is_wrong_usage(tmp_path):
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps({"contexts": [{"name": "a", "context": {"cluster": "none"}}], "current-context": "a"}))
    for words in (["--kubeconfig", str(tmp_path / "missing")], ["--kubeconfig", str(file), "--context", "b"], ["--kubeconfig", str(file)]):
        done = command("sync", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert " error " in done.stderr


class TestEstimate:
    """`--estimate` reads files, no cluster."""

    EXAMPLE = str(programs.ROOT / "examples" / "agg-vllm")

    def test_a_repository_and_its_render_have_the_same_objects(self, run):
        for file in ("graph.yaml", "expected.yaml"):
            result, started, _ = run("--estimate", "--pods", "--format", "json", f"{self.EXAMPLE}/{file}")
            printed = json.loads(result.stdout)
            assert (result.exit_code, started) == (0, None)
            assert printed["objects"] == {"Deployment": 2, "DynamoGraphDeployment": 1, "Pod": printed["pods"]}
            assert (printed["graphs"], printed["pods"], printed["shipped"]["shards"]) == (1, 3, 1)

    def test_the_pods_of_an_export_count_and_foreign_objects_do_not(self, run, tmp_path):
        mine = {"nvidia.com/dynamo-graph-deployment-name": "chat"}
        pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{n}", "namespace": "a", "labels": mine}} for n in range(3)]
        other = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": "a"}}
        (tmp_path / "export.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*pods, other]}))
        result, _, _ = run("--estimate", "--pods", "--format", "json", str(tmp_path / "export.json"))
        assert json.loads(result.stdout)["objects"] == {"Pod": 3}
        result, _, _ = run("--estimate", "--pods", "-n", "b", "--format", "json", str(tmp_path / "export.json"))
        assert json.loads(result.stdout)["objects"] == {}
        result, _, _ = run("--estimate", str(tmp_path / "export.json"))
        assert "pods: 0 (not read without --pods)\n" in result.stdout

    def test_managed_fields_count_also_where_kubectl_left_them_out(self, run, tmp_path):
        received = []
        for managed in ({}, {"managedFields": [{"manager": "m" * 1000}]}):
            metadata = {"name": "p", "namespace": "a", "labels": {"nvidia.com/dynamo-graph-deployment-name": "chat"}, **managed}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "n" * 1000}}
            (tmp_path / "export.json").write_text(json.dumps(pod))
            result, _, _ = run("--estimate", "--pods", "--format", "json", str(tmp_path / "export.json"))
            received.append((json.loads(result.stdout)["start"]["receivedBytes"], len(json.dumps(pod, separators=(",", ":")))))
        (without, size), (whole, whole_size) = received
        assert without == round(size * fleet_estimate.WITH_MANAGED_FIELDS)
        assert whole == whole_size

    def test_an_input_with_an_error_is_not_complete(self, run, tmp_path):
        (tmp_path / "broken.yaml").write_text(
            "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: a}\nspec: 5\n"
        )
        result, _, _ = run("--estimate", str(tmp_path))
        assert result.exit_code == 1
        assert "the estimate is not complete: " in result.stderr

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--estimate"], "--estimate needs a PATH"),
            (["--estimate", EXAMPLE, "--kubeconfig", "x"], "--kubeconfig does not go together with --estimate"),
            (["--estimate", EXAMPLE, "--shards"], "--shards does not go together with --estimate"),
            ([EXAMPLE], "PATH needs --estimate"),
            (["--changes", "5"], "--changes needs --estimate"),
            (["--format", "json"], "--format needs --estimate"),
        ],
    )
    def test_options_of_which_one_excludes_the_other(self, run, words, message):
        result, started, _ = run(*words)
        assert (result.exit_code, started) == (2, None)
        assert message in result.output
