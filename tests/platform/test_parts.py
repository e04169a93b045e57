"""The parts of the platform fit the output of the function: addresses, labels, ports and names, compared in the files."""

from __future__ import annotations

import re

import pytest
import yaml

from krm_fn.render import config
from tests.platform import admission, installation
from tests.support import build_checks, golden
from tests.testbed import programs

pytestmark = pytest.mark.xdist_group("parts")  # so that the parts are built once

PLATFORM = admission.PLATFORM
SYSTEM = "dynamo-system"
TYPE, METRICS = "nvidia.com/dynamo-component-type", "nvidia.com/metrics-enabled"
_ADDRESS = re.compile(r"(?P<scheme>\w+)://(?P<name>[-\w]+)\.dynamo-system\.svc(?P<suffix>[-.\w]*):(?P<port>\d+)")


@pytest.fixture(scope="module")
def built(kustomize):
    """The objects of every part, by the name of its folder."""
    return {str(part.relative_to(PLATFORM)): admission.build(kustomize, part) for part in installation.parts()}


def of(objects, kind):
    return [each for each in objects if each["kind"] == kind]


def texts():
    """The texts that a reader copies: pages and examples."""
    pages = [*programs.ROOT.glob("*.md"), *programs.ROOT.glob("docs/*.md")]
    return {str(file.relative_to(programs.ROOT)): file.read_text() for file in (*pages, *golden.EXAMPLES.rglob("*.yaml"))}


def test_every_address_of_pages_and_examples_is_a_service_of_the_platform(built):
    schemes = {"nats": "nats", "etcd": "http"}
    ports = {
        (each["metadata"]["name"], str(port["port"]))
        for part in ("nats", "etcd")
        for each in of(built[part], "Service")
        for port in each["spec"]["ports"]
    }
    found = {(file, *match.groups()) for file, text in texts().items() for match in _ADDRESS.finditer(text)}
    assert {"examples/older-planner/config.yaml", "docs/platform.md"} <= {file for file, *_ in found}
    wrong = [each for each in sorted(found) if (each[2], each[4]) not in ports or schemes[each[2]] != each[1]]
    assert [each for each in wrong if "dynamo-platform" not in each[2]] == []


def test_services_lead_to_the_servers(built):
    for part in ("nats", "etcd"):
        (service,), (server,) = of(built[part], "Service"), of(built[part], "StatefulSet")
        template = server["spec"]["template"]
        assert service["metadata"]["namespace"] == server["metadata"]["namespace"] == SYSTEM
        assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
        named = {port["name"]: port["containerPort"] for container in template["spec"]["containers"] for port in container["ports"]}
        assert [named[port["targetPort"]] for port in service["spec"]["ports"]] == [port["port"] for port in service["spec"]["ports"]]


def templates():
    """The pods of every example."""
    for file in golden.EXAMPLES.glob("*/expected*.yaml"):
        for each in build_checks.read(file.read_text()):
            if each["kind"] == "Deployment":
                yield each["metadata"]["name"], each["spec"]["template"]


def matches(selector, labels):
    """True if a label selector selects a pod; for the operators that the platform uses."""
    rules = {"Exists": lambda rule: rule["key"] in labels, "In": lambda rule: labels.get(rule["key"]) in rule["values"]}
    expressions = (rules[rule["operator"]](rule) for rule in selector.get("matchExpressions", ()))
    return selector.get("matchLabels", {}).items() <= labels.items() and all(expressions)


def test_pods_of_graphs_reach_the_servers_and_nobody_else_does(built):
    pods = [template["metadata"]["labels"] for _, template in templates()]
    assert pods
    for part in ("nats", "etcd"):
        (policy,), (server,) = of(built[part], "NetworkPolicy"), of(built[part], "StatefulSet")
        own = server["spec"]["template"]["metadata"]["labels"]
        assert matches(policy["spec"]["podSelector"], own)
        ((peer,),) = [rule["from"] for rule in policy["spec"]["ingress"]]
        assert peer["namespaceSelector"] == {}
        assert all(matches(peer["podSelector"], labels) for labels in pods)
        assert not matches(peer["podSelector"], own)


def test_every_pod_with_metrics_is_scraped_once_at_a_port_that_it_has(built):
    monitors = of(built["pod-monitors"], "PodMonitor")
    seen = set()
    for name, template in templates():
        labels = template["metadata"]["labels"]
        chosen = [each for each in monitors if matches(each["spec"]["selector"], labels)]
        if labels[TYPE] == "epp":  # asks whoever reads its metrics for a token
            assert chosen == []
            continue
        assert len(chosen) == 1, name
        scraped = {endpoint["port"] for endpoint in chosen[0]["spec"]["podMetricsEndpoints"]}
        ports = {port.get("name") for container in template["spec"]["containers"] for port in container.get("ports", ())}
        engines = {port for port in ports if f"{port}".startswith("system-")}
        assert scraped & ports == (engines or {"system", "http", "metrics"} & scraped), name
        assert not any(matches(each["spec"]["selector"], {**labels, METRICS: ""}) for each in monitors)
        seen.add(labels[TYPE])
    assert seen == {"frontend", "worker", "prefill", "decode", "planner"}


def test_monitors_of_one_namespace_look_nowhere_else(tmp_path):
    component = ["platform/pod-monitors/own-namespace"]
    layer = installation.overlay(tmp_path / "layer", resources=["platform/pod-monitors"], components=component, namespace="team")
    for each in installation.objects(layer):
        assert each["metadata"]["namespace"] == "team"
        assert "namespaceSelector" not in each["spec"]


def test_the_queue_is_the_default(built):
    queues = {each["metadata"]["name"]: each["spec"] for each in built["kai-queues"]}
    assert queues[config.Config().grove.kai_scheduler.queue]["parentQueue"] in queues


def test_the_job_makes_the_secret_of_the_default(built):
    (job,) = of(built["ssh-key"], "Job")
    assert config.Config().mpi_secret_name in job["spec"]["template"]["spec"]["containers"][0]["command"]


def containers(built):
    for part, objects in built.items():
        for each in objects:
            if each["kind"] in {"StatefulSet", "Job", "Deployment"}:
                for container in each["spec"]["template"]["spec"]["containers"]:
                    yield part, container


def test_containers_are_modest(built):
    """Rules beyond the restricted standard: a read-only root, resource limits and pinned images.

    The syncer has no CPU limit: a process without CPU time loses its lease.
    """
    found = [*containers(built)]
    assert {"nats", "etcd", "ssh-key", "namespaced", "syncer"} <= {part for part, _ in found}
    for part, container in found:
        assert container["securityContext"]["readOnlyRootFilesystem"], part
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys(), part
        assert container["resources"]["limits"].keys() == {"cpu", "memory"} - ({"cpu"} if "syncer" in part else set()), part
        assert re.search(r":v?\d+\.\d+\.\d+", container["image"]), part


def test_no_rule_has_a_wildcard(built):
    rules = [rule for objects in built.values() for each in objects for rule in each.get("rules", ())]
    assert rules
    assert [rule for rule in rules if "*" in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}] == []
    assert [rule for rule in rules if "secrets" in rule["resources"] and rule["verbs"] != ["create"]] == []


def test_every_file_is_part_of_something():
    """A kustomization names every YAML file under platform/."""
    for file in PLATFORM.rglob("kustomization.yaml"):
        content = yaml.safe_load(file.read_text())
        generated = [name for each in content.get("configMapGenerator", ()) for name in each["files"]]
        named = {*content.get("resources", ()), *content.get("configurations", ()), *generated, file.name}
        beside = {each.name for each in file.parent.iterdir() if each.is_file()}
        assert beside <= named, file.parent.name
