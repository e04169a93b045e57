"""`krm-fn check` finds media, capabilities and amounts of CPUs with which no node starts a pod, and numbers of nodes that sizes need."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import refused_by_nodes, resource_findings
from tests.support import beta, given
from tests.support.cases import cases


def of_pod(pod: Any) -> list[Any]:
    """A graph of each API version with these fields in its pods."""
    return [beta.graph(beta.component("Worker", pod=pod)), given.graph({"Worker": given.service("worker", pod=pod)})]


MEDIA = [
    ("lower case", "memory", "write Memory"),
    ("a slip", "Memoy", "write Memory"),
    ("another word", "tmpfs", "write Memory, or remove it"),
    ("the medium", "Memory", ""),
    ("huge pages", "HugePages", ""),
    ("huge pages with a size", "HugePages-2Mi", ""),
    ("none", "", ""),
    ("a number", 3, ""),
]


@cases(("medium", "remedy"), MEDIA)
def test_media_of_empty_folders(medium, remedy):
    for graph in of_pod({"volumes": [{"name": "scratch", "emptyDir": {"medium": medium}}]}):
        findings = [(finding.code, finding.severity, finding.message.partition("; ")[2]) for finding in refused_by_nodes.check([graph])]
        assert findings == [("DYN730", "error", remedy)] * bool(remedy)


CAPABILITIES = [
    ("with CAP_", "CAP_IPC_LOCK", "IPC_LOCK"),
    ("a slip", "IPC_LOK", "IPC_LOCK"),
    ("in lower case with CAP_", "cap_sys_ptrace", "SYS_PTRACE"),
    ("the name", "IPC_LOCK", ""),
    ("in lower case, which runtimes read", "ipc_lock", ""),
    ("all", "ALL", ""),
    ("another word", "own", ""),
    ("a number", 3, ""),
]


@cases(("name", "right"), CAPABILITIES)
def test_capabilities(name, right):
    main = {"securityContext": {"capabilities": {"add": [name]}}}
    for graph in (beta.graph(beta.component("Worker", main=main)), given.graph({"Worker": given.service("worker", main=main)})):
        findings = [(finding.code, finding.severity, finding.proposed) for finding in refused_by_nodes.check([graph])]
        assert findings == [("DYN731", "warning", right)] * bool(right)


CPUS = [
    ("thousandths without a unit", "4000", "4000m"),
    ("an integer", 16000, "16000m"),
    ("thousandths", "4000m", ""),
    ("many CPUs", "896", ""),
    ("no round number", "1234", ""),
    ("a truth value", True, ""),
]


@cases(("amount", "right"), CPUS)
def test_amounts_of_cpus(amount, right):
    resources = {"requests": {"cpu": amount}}
    for graph in (
        beta.graph(beta.component("Worker", main={"resources": resources})),
        given.graph({"Worker": given.service("worker", resources=resources)}),
    ):
        findings = [(finding.code, finding.severity, finding.proposed) for finding in refused_by_nodes.check([graph])]
        assert findings == [("DYN732", "warning", right)] * bool(right)


def test_generated_objects_and_fields_of_any_type_are_read():
    graph = beta.graph({"podTemplate": {"spec": {"volumes": [3, {"emptyDir": []}], "containers": ["a", {"securityContext": 3}]}}})
    assert [*refused_by_nodes.check([graph, {**graph, "spec": []}, {"kind": "Pod"}])] == []


NODES = [
    ("twice the GPUs", ["--tensor-parallel-size", "16"], 2),
    ("three nodes", ["--tensor-parallel-size=8", "--pipeline-parallel-size", "3"], 3),
    ("the GPUs of a node", ["--tensor-parallel-size", "8"], None),
    ("no size", [], None),
    ("an unknown size", ["--tensor-parallel-size", "$(SIZE)"], None),
]


@cases(("flags", "nodes"), NODES)
def test_one_node_is_less_than_the_sizes_need(flags, nodes):
    main = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", *flags], "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    graph = beta.graph(beta.component("Worker", main=main, multinode={"nodeCount": 1}))
    findings = [finding for finding in resource_findings.check([graph], Config(), is_configured=False) if finding.code == "DYN025"]
    assert [finding.proposed for finding in findings] == [nodes]
    assert ("remove multinode" in findings[0].message) == (nodes is None)
