"""The pages of requests: their tables have the states, reasons, messages and exit codes of the code, and their commands work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests.profiling import profiler_scripts
from krm_fn.syncer import profiler_output
from krm_fn.syncer.status import request_deployment, request_generation, request_profiling, version_adapter
from tests.platform import pages
from tests.testbed import programs, server, syncer

if TYPE_CHECKING:
    from types import ModuleType

PAGE = "\n".join((programs.ROOT / "docs" / f"{name}.md").read_text() for name in ("requests", "requests-status", "requests-platform"))
_PACKAGE = programs.ROOT / "krm_fn"
CODE = "".join(file.read_text() for file in (_PACKAGE / "syncer" / "profiler_output.py", *(_PACKAGE / "syncer" / "status").rglob("*.py")))
VALIDATION = {request_profiling.INVALID, request_profiling.CHANGE_REJECTED}
NO_REASONS = ("TYPE", "VALIDATION", "GROUP", "KIND")
PAGE_NAMESPACE, NAMESPACE, TRIALS = "inference", "page-requests", "page-trials"
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chosen}
spec:
  services:
    Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: "frontend:1"}}}
"""


def rows(heading: str, table: int = 0) -> list[list[str]]:
    """The cells of a table in the section with this heading, row by row."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    lines = tables[table].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def quoted(cell: str) -> str:
    return cell.strip("`")


def test_the_page_has_every_state():
    states = {
        version_adapter.PENDING,
        version_adapter.PROFILING,
        version_adapter.DEPLOYING,
        version_adapter.READY,
        version_adapter.DELETED,
        version_adapter.FAILED,
    }
    assert {quoted(row[0]) for row in rows("States")} == {"empty", *states}


def test_the_page_has_every_reason_of_every_condition():
    listed: dict[str, set[str]] = {}
    condition = ""
    for first, reason, *_ in rows("States", table=1):
        condition = quoted(first) or condition
        listed.setdefault(condition, set()).add(quoted(reason))
    assert listed == {
        request_profiling.VALIDATION: VALIDATION,
        request_profiling.TYPE: reasons(request_profiling) - VALIDATION,
        request_generation.TYPE: reasons(request_generation),
        request_deployment.TYPE: reasons(request_deployment),
    }


def reasons(module: ModuleType) -> set[str]:
    """The reasons that a module gives its condition. The states, which modules import, are no reasons."""
    constants = {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    return {value for name, value in constants.items() if name not in NO_REASONS and name[0] != "_" and not hasattr(version_adapter, name)}


def test_the_page_has_every_exit_code_of_our_containers():
    assert [int(row[0]) for row in rows("If profiling failed")] == sorted(profiler_scripts.CODES.values())


def test_every_message_about_the_output_is_one_of_the_code():
    phrases = {part.strip() for row in rows("When the output cannot be used") for part in quoted(row[0]).split("…")} - {""}
    assert len(phrases) > 5
    code = CODE.replace("{dynamo_api.GRAPH}", dynamo_api.GRAPH)
    assert [phrase for phrase in sorted(phrases) if phrase not in code] == []


def test_the_limit_of_an_output_is_that_of_the_code():
    assert profiler_output.LIMIT == 2**20
    assert "larger than 1 MiB" in PAGE


@pytest.fixture(scope="module")
def journey(tmp_path_factory, dynamo, controllers, kubelet):
    """Results of the commands on the pages, section by section. The test writes the outputs of the Jobs."""
    page = PAGE.replace(PAGE_NAMESPACE, NAMESPACE).replace("trials", TRIALS)
    folder, steps = pages.clone(tmp_path_factory.mktemp("page"), page), pages.steps(page)
    run = _Reader(dynamo, folder, steps)
    dynamo.namespace(syncer.NAMESPACE)
    run.section("Before the first request")
    run.section("Measurements on GPUs")
    run.section("Rights")
    run.section("Graphs that the syncer applies")
    account = syncer.installed(dynamo, programs.path("kustomize"), tmp_path_factory.mktemp("account"), "requests", "auto-apply", "pods")
    features = ("--requests", "--auto-apply", "--pods", f"--namespace={NAMESPACE}")
    with syncer.running(account, tmp_path_factory.mktemp("syncer"), *features):
        apply, fetch, offline = steps["Review the graph and commit it"]
        run.script(apply)
        run.publish("support")
        run.script(fetch)
        run.files["fetched"] = (folder / "graph.yaml").read_text()
        run.script(offline)
        run.files["piped"] = (folder / "graph.yaml").read_text()
        (deploy,) = steps["Apply the graph at once"]
        ask, wait = deploy.split("\n", 1)
        run.script(ask)
        run.publish("trial")
        run.said["deployed"] = run.script(wait)
        run.section("Stop a profiling")
        run.files["before"] = run.uid("job", "profile-support")
        run.section("Repeat a profiling")
        run.files["after"] = run.uid("job", "profile-support")
        run.old_request()
        run.section("From the operator")
        yield run


class _Reader:
    """Runs scripts of the page. `files` and `said` keep what the tests compare."""

    def __init__(self, plane, folder, steps):
        self.plane, self.folder, self.steps = plane, folder, steps
        self.files, self.said = {}, {}

    def script(self, text):
        return pages.run(text, self.folder, self.plane)

    def section(self, heading):
        for each in self.steps[heading]:
            self.script(each)

    def kubectl(self, *words, text=None):
        return self.plane.kubectl(*words, "--namespace", NAMESPACE, input=text)

    def uid(self, kind, name):
        return self.kubectl("get", kind, name, "--output", "jsonpath={.metadata.uid}")

    def publish(self, name):
        """Writes the ConfigMap of a Job as its last container does."""
        mark = labels.PROFILE_HASH.replace(".", r"\.")
        profiled = self.kubectl("get", "job", f"profile-{name}", "--output", f"jsonpath={{.metadata.annotations.{mark}}}")
        metadata = {
            "name": f"dgdr-output-{name}",
            "labels": {labels.REQUEST_NAME: name},
            "annotations": {
                labels.PROFILE_HASH: profiled,
                labels.OUTPUT_HASH: profiler_output.output_hash({profiler_output.CONFIG: GRAPH}),
            },
        }
        made = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**metadata, "namespace": NAMESPACE},
            "data": {profiler_output.CONFIG: GRAPH},
        }
        answer = self.plane.apply(made, dry_run=False)
        assert answer.ok, answer.message

    def old_request(self):
        """A request as an operator leaves it: with its finalizer and its output, without an annotation of a render."""
        spec = {"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "p:1", "config": {}}}
        metadata = {"name": "old", "namespace": NAMESPACE, "finalizers": ["nvidia.com/finalizer"]}
        found = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest", "metadata": metadata, "spec": spec}
        kept = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dgdr-output-old", "namespace": NAMESPACE}}
        for each in (found, kept):
            answer = self.plane.apply(each, dry_run=False)
            assert answer.ok, answer.message


def test_the_graph_of_the_request_is_a_file_for_git(journey):
    assert "name: support\n" in journey.files["fetched"]
    assert journey.files["piped"] == journey.files["fetched"]


def test_the_graph_that_is_applied_at_once_serves(journey):
    assert re.search(r"^trial .*True", journey.said["deployed"], re.MULTILINE)


def test_a_repeated_profiling_is_a_new_job(journey):
    assert journey.files["before"]
    assert journey.files["after"] not in {"", journey.files["before"]}


def test_a_request_of_the_operator_is_gone_at_once(journey):
    listed = journey.kubectl("get", "dgdr,configmaps", "--output", "name")
    server.eventually(lambda: "/old" not in journey.kubectl("get", "dgdr", "--output", "name"))
    assert "dgdr-output-old" not in listed
