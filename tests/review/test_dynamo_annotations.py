"""`krm-fn check` finds annotations that Dynamo ignores: misspelt keys, other values, and keys at another level."""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.review import dynamo_annotations, resource_findings
from tests.support import beta, given
from tests.support.cases import cases


def of_graph(**annotations):
    return given.graph({"Worker": given.service("worker")}, annotations=keys(annotations))


def of_service(**annotations):
    return given.graph({"Worker": given.service("worker", annotations=keys(annotations))})


def of_pods(**annotations):
    return beta.graph(beta.component("Worker", metadata={"annotations": keys(annotations)}))


def keys(annotations):
    return {key if "/" in key else f"nvidia.com/{key}": value for key, value in annotations.items()}


IGNORED = [
    ("a strategy in small letters", of_service(**{"deployment-strategy": "recreate"}), "write Recreate"),
    ("a strategy with a dash", of_service(**{"deployment-strategy": "rolling-update"}), "write RollingUpdate"),
    ("a strategy of other workloads", of_pods(**{"deployment-strategy": "OnDelete"}), "write RollingUpdate or Recreate"),
    ("Grove, off in another word", of_graph(**{"enable-grove": "no"}), 'write "false"'),
    ("metrics, off in another case", of_graph(**{"enable-metrics": "False"}), 'write "false"'),
    ("no pull secrets, in another word", of_pods(**{"disable-image-pull-secret-discovery": "yes"}), 'write "true"'),
    ("an abbreviated backend", of_graph(**{"dynamo-discovery-backend": "k8s"}), "write kubernetes"),
    ("a backend of no release", of_graph(**{"dynamo-discovery-backend": "consul"}), "write kubernetes or etcd"),
    ("a misspelt key", of_graph(**{"enable-grov": "false"}), "write nvidia.com/enable-grove"),
    ("a key with underscores", of_graph(enable_grove="false"), "write nvidia.com/enable-grove"),
    ("a misspelt domain", of_graph(**{"nvidia/enable-grove": "false"}), "write nvidia.com/enable-grove"),
    ("a key of a graph on a service", of_service(**{"enable-grove": "false"}), "under metadata.annotations of the graph"),
    ("a key of a service on a graph", of_graph(**{"deployment-strategy": "Recreate"}), "under annotations of a service"),
]
READ = [
    ("a strategy", of_service(**{"deployment-strategy": "Recreate"})),
    ("a strategy of pods", of_pods(**{"deployment-strategy": "RollingUpdate"})),
    ("Grove, off in any case", of_graph(**{"enable-grove": "False"})),
    ("Grove, on", of_graph(**{"enable-grove": "yes"})),
    ("metrics, on", of_graph(**{"enable-metrics": "on"})),
    ("pull secrets, as by default", of_service(**{"disable-image-pull-secret-discovery": "false"})),
    ("a backend", of_graph(**{"dynamo-discovery-backend": "etcd"})),
    ("an annotation of the operator", of_graph(**{labels.PRESERVED_GRAPH: "{}"})),
    ("an annotation of another operator", of_graph(**{"nvidia.com/gpu-driver-upgrade-enabled": "true"})),
    ("the same name of another domain", of_graph(**{"acme.example/enable-grov": "false"})),
    ("a key without a domain", of_graph(**{"/team": "a"})),
]


@cases(("graph", "words"), IGNORED)
def test_an_annotation_without_effect_is_a_warning(graph, words):
    findings = [*dynamo_annotations.check([graph])]
    assert [(finding.code, finding.severity) for finding in findings] == [("DYN712", "warning")]
    assert words in findings[0].message
    found = resource_findings.check([graph], Config(), is_configured=False)
    assert "DYN712" in {finding.code for finding in found}


@cases("graph", READ)
def test_an_annotation_that_dynamo_reads_has_no_finding(graph):
    assert [*dynamo_annotations.check([graph])] == []


def test_fields_of_any_type_are_read():
    graph = of_graph()
    assert [*dynamo_annotations.check([{**graph, "spec": []}, {**graph, "metadata": {"name": "a", "annotations": [1]}}])] == []
