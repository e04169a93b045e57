"""`krm-fn check` finds hosts that get a suffix, paths of mounts with a mode of Docker, and memory without a unit."""

from __future__ import annotations

from krm_fn.render.config import Config
from krm_fn.review import altered_values, resource_findings
from tests.support import beta, given
from tests.support.cases import cases

CLASS = {"enabled": True, "ingressControllerClassName": "nginx"}
HOSTS = [
    ("a whole host", {**CLASS, "host": "chat.example.com"}, "host: chat and hostSuffix: example.com, or hostSuffix: local"),
    ("a domain", {**CLASS, "host": "example.com"}, "host: example and hostSuffix: com,"),
    ("a wildcard", {**CLASS, "host": "*.example.com"}, "host: * and hostSuffix: example.com,"),
    ("a prefix", {**CLASS, "host": "chat.example.com", "hostPrefix": "eu-"}, "the host becomes eu-chat.example.com.local,"),
    ("one word", {**CLASS, "host": "chat"}, ""),
    ("a suffix", {**CLASS, "host": "chat.prod", "hostSuffix": "example.com"}, ""),
    ("a suffix that is meant", {**CLASS, "host": "chat.prod", "hostSuffix": "local"}, ""),
    ("no Ingress", {"enabled": False, "host": "chat.example.com"}, ""),
    ("no class, so no Ingress", {"enabled": True, "host": "chat.example.com"}, ""),
    ("no valid host", {**CLASS, "host": "chat..com-"}, ""),
    ("the suffix twice", {**CLASS, "host": "chat.example.com", "hostSuffix": "example.com"}, "; write host: chat"),
    ("a number", {**CLASS, "host": 3}, ""),
]


@cases(("ingress", "words"), HOSTS)
def test_hosts_without_a_suffix(ingress, words):
    graph = given.graph({"Frontend": given.service("frontend", ingress=ingress)})
    findings = [*altered_values.check([graph])]
    path = ("spec", "services", "Frontend", "ingress", "host")
    assert [(finding.code, finding.severity, finding.path) for finding in findings] == [("DYN709", "warning", path)] * bool(words)
    assert all(words in finding.message for finding in findings)


def test_the_proposed_host_and_suffix_make_the_wanted_host():
    """Both halves of the remedy, applied as they are written."""
    ingress = {**CLASS, "host": "chat", "hostSuffix": "example.com"}
    rendered = given.rendered({**given.graph({"Frontend": given.service("frontend", ingress=ingress)})})
    hosts = [rule["host"] for resource in rendered.values() if resource["kind"] == "Ingress" for rule in resource["spec"]["rules"]]
    assert hosts == ["chat.example.com"]


FOLDERS = [
    ("a relative path with a mode", "models:ro", "is /models:ro; write /models, with readOnly: true"),
    ("a path with a mode", "/models:rw", "is /models:rw; write /models"),
    ("a path", "/models", ""),
    ("another colon", "/a:b", ""),
    ("a mode alone", ":ro", ""),
    ("a number", 3, ""),
]


@cases(("folder", "words"), FOLDERS)
def test_folders_with_a_mode(folder, words):
    """In both API versions, and in containers beside the main one."""
    mounts = {"volumeMounts": [{"name": "models", "mountPath": folder}]}
    for graph in (
        beta.graph(beta.component("Worker", main=mounts)),
        given.graph({"Worker": given.service("worker", main=mounts)}),
        beta.graph(beta.component("Worker", pod={"initContainers": [{"name": "load", **mounts}]})),
    ):
        findings = [*altered_values.check([graph])]
        assert [(finding.code, finding.path[-1]) for finding in findings] == [("DYN709", "mountPath")] * bool(words)
        assert all(finding.message.endswith(words) for finding in findings)


def test_check_reports_both():
    ingress = {**CLASS, "host": "chat.example.com"}
    main = {"volumeMounts": [{"name": "models", "mountPath": "/models:ro"}]}
    graph = given.graph({"Frontend": given.service("frontend", ingress=ingress, main=main)})
    found = [finding.code for finding in resource_findings.check([graph], Config(), is_configured=False)]
    assert found.count("DYN709") == 2


SIZES = [
    ("bytes", 32, "32Gi"),
    ("bytes as text", "80", "80Gi"),
    ("thousandths", "128m", "128Gi"),
    ("many mebibytes", "16384", "16384Mi"),
    ("none", "0", ""),
    ("a unit", "8Gi", ""),
    ("a number of bytes", 17179869184, ""),
    ("no quantity", "much", ""),
    ("no amount", True, ""),
]


@cases(("size", "proposed"), SIZES)
def test_memory_without_a_unit(size, proposed):
    """Shared memory, limits and requests, in both API versions."""
    limits = {"resources": {"limits": {"memory": size}}}
    for graph, end in (
        (beta.graph(beta.component("Worker", sharedMemorySize=size)), "sharedMemorySize"),
        (given.graph({"Worker": given.service("worker", sharedMemory={"size": size})}), "size"),
        (beta.graph(beta.component("Worker", main=limits)), "memory"),
        (given.graph({"Worker": given.service("worker", main=limits)}), "memory"),
        (given.graph({"Worker": given.service("worker", resources={"requests": {"memory": size}})}), "memory"),
    ):
        findings = [(finding.code, finding.path[-1], finding.proposed) for finding in altered_values.check([graph])]
        assert findings == [("DYN709", end, proposed)] * bool(proposed)
