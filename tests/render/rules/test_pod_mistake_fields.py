"""A graph with a mistake in its pod gets one finding, at the field that the author wrote, in both API versions."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import expand
from tests.support import beta, given, pod_limits, pod_mistakes

_OLDER, _NEWER = ("spec", "services", "Worker"), ("spec", "components", 0, "podTemplate")


def older(template):
    """A graph of v1alpha1 whose worker has the fields of the template. Its main container has no name there."""
    main, *sidecars = template["spec"]["containers"] or [{}]
    pod: dict[str, Any] = {**template["spec"], "mainContainer": {field: value for field, value in main.items() if field != "name"}}
    del pod["containers"]
    if sidecars:
        pod["containers"] = sidecars
    fields = {"extraPodMetadata": template["metadata"]} if "metadata" in template else {}
    return given.graph({"Worker": {"componentType": "worker", "extraPodSpec": pod, **fields}})


def older_path(path):
    """The path of a template's field in that graph."""
    match path:
        case ("metadata", *rest):
            return (*_OLDER, "extraPodMetadata", *rest)
        case ("spec", "containers", 0, *rest):
            return (*_OLDER, "extraPodSpec", "mainContainer", *rest)
    return (*_OLDER, "extraPodSpec", *path[1:])


def newer(template):
    """A graph of v1beta1 whose worker has the template."""
    return beta.graph({"name": "Worker", "type": "worker", "runtimeVersionOverride": "1.5.0", "podTemplate": template})


def newer_path(path):
    """The path of a template's field in that graph."""
    return (*_NEWER, *path)


OTHER = {
    "a name with capitals": "the name of the main container is fixed",
    "a name of 64 characters": "the name of the main container is fixed",
    "a sleep longer than the grace period": "Dynamo sets a longer grace period",
    "an account in the old field": "Dynamo sets an account in the new field",
    "Windows with a capability": "Dynamo sets a group of files, too",
    "Windows with a user namespace": "Dynamo sets a group of files, too",
    "Windows with resources of the pod": "Dynamo sets a group of files, too",
}
VERSIONS = {
    "v1alpha1": (
        older,
        older_path,
        {
            "no container": "the main container is always there",
            "a port of the node in two containers": "the main container is the last one",
            "a probe of nothing": "the default handler completes the probe",
        },
    ),
    "v1beta1": (
        newer,
        newer_path,
        {
            "a mount of no volume": "a claim of that name becomes a volume",
            "limits of the pod below those of two containers together": "no container has the name of the main container",
        },
    ),
}


def errors(graph):
    """The paths of all errors about a graph."""
    return tuple(finding.path for finding in expand.expand([graph], given.settings_of(graph)).results if finding.severity == "error")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_mistake_is_reported_at_the_written_field(version):
    """Exactly the rows whose field or default is not the author's differ."""
    graph, path_of, others = VERSIONS[version]
    rows = {reason: (errors(graph(template)), tuple(map(path_of, paths))) for reason, template, paths in pod_mistakes.MISTAKES}
    assert {reason for reason, (paths, expected) in rows.items() if paths != expected} - {*OTHER, *others} == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_valid_pod_has_no_error(version):
    """A graph with the fields of a valid template has no error."""
    graph, _, others = VERSIONS[version]
    assert {reason for reason, template in pod_limits.LIMITS if errors(graph(template))} - {*others} == set()


def test_the_exceptions_are_rows():
    reasons = {row[0] for row in (*pod_mistakes.MISTAKES, *pod_limits.LIMITS)}
    assert {*OTHER, *(reason for _, _, others in VERSIONS.values() for reason in others)} <= reasons


def test_a_group_of_files_that_dynamo_sets_is_reported_at_the_operating_system():
    """The author did not write the group, so the finding is at the field that excludes it."""
    assert errors(older(pod_mistakes.pod(os={"name": "windows"}))) == ((*_OLDER, "extraPodSpec", "os", "name"),)


def test_two_components_of_one_name_hide_no_finding():
    """A conversion keeps the last of two components with one name, so the other one's containers have no path of their own."""
    first = beta.component("Decode", "prefill", main={"name": "'"})
    findings = given.expanded(beta.graph(first, beta.component("Decode", "decode"))).results
    assert {"DYN080", "DYN206", "DYN450"} <= {finding.code for finding in findings}
