"""`krm-fn needs`: the objects that must exist beside the graphs, with their lines, and what an export of a cluster lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import krm_fn
from tests.cli import console
from tests.support import gang_faults, golden
from tests.support.cases import cases

SCHEMA = json.loads((Path(krm_fn.__file__).parent / "review" / "schemas" / "needs.json").read_text())
EXAMPLES = [recording for recording in golden.recordings() if "krm-fn render" in recording.command]
GRAPH = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  components:
  - name: Worker
    type: worker
    podTemplate:
      spec:
        %s
        containers:
        - name: main
          image: registry.example/dynamo:1.6.1
          %s
"""


def needed(tmp_path: Path, pod: str = "", container: str = "", *more: str) -> dict[str, Any]:
    """The JSON, which its schema accepts, for one graph."""
    (tmp_path / "graph.yaml").write_text(GRAPH % (pod, container) + "".join(f"---\n{text}" for text in more))
    done = console.run("needs", "-o", "json", tmp_path / "graph.yaml")
    assert done.code == 0, done.err
    output: dict[str, Any] = json.loads(done.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(output)
    return output


FIELDS = [
    # reason, fields of the pod, fields of the container, kind, group, name, keys
    (
        "a variable from a Secret",
        "",
        "env: [{name: A, valueFrom: {secretKeyRef: {name: hub, key: token}}}]",
        "Secret",
        "",
        "hub",
        ["token"],
    ),
    (
        "a variable from a ConfigMap",
        "",
        "env: [{name: A, valueFrom: {configMapKeyRef: {name: hub, key: a}}}]",
        "ConfigMap",
        "",
        "hub",
        ["a"],
    ),
    ("all variables of a Secret", "", "envFrom: [{secretRef: {name: hub}}]", "Secret", "", "hub", []),
    ("all variables of a ConfigMap", "", "envFrom: [{configMapRef: {name: hub}}]", "ConfigMap", "", "hub", []),
    ("a claim", "volumes: [{name: v, persistentVolumeClaim: {claimName: hub}}]", "", "PersistentVolumeClaim", "", "hub", []),
    ("a Secret as files", "volumes: [{name: v, secret: {secretName: hub, items: [{key: a, path: a}]}}]", "", "Secret", "", "hub", ["a"]),
    ("a ConfigMap as files", "volumes: [{name: v, configMap: {name: hub}}]", "", "ConfigMap", "", "hub", []),
    ("a projection", "volumes: [{name: v, projected: {sources: [{secret: {name: hub}}]}}]", "", "Secret", "", "hub", []),
    (
        "a Secret of a CSI driver",
        "volumes: [{name: v, csi: {driver: d.example, nodePublishSecretRef: {name: hub}}}]",
        "",
        "Secret",
        "",
        "hub",
        [],
    ),
    ("a pull secret", "imagePullSecrets: [{name: hub}]", "", "Secret", "", "hub", []),
    ("an account", "serviceAccountName: hub", "", "ServiceAccount", "", "hub", []),
    ("a priority", "priorityClassName: hub", "", "PriorityClass", "scheduling.k8s.io", "hub", []),
    ("a runtime class", "runtimeClassName: hub", "", "RuntimeClass", "node.k8s.io", "hub", []),
    ("a claim of devices", "resourceClaims: [{name: g, resourceClaimName: hub}]", "", "ResourceClaim", "resource.k8s.io", "hub", []),
    (
        "a template of claims",
        "resourceClaims: [{name: g, resourceClaimTemplateName: hub}]",
        "",
        "ResourceClaimTemplate",
        "resource.k8s.io",
        "hub",
        [],
    ),
    (
        "a Secret of a file share",
        "volumes: [{name: v, azureFile: {secretName: hub, shareName: s}}]",
        "",
        "Secret",
        "",
        "hub",
        [],
    ),
    (
        "Secrets of a provider",
        "volumes: [{name: v, csi: {driver: secrets-store.csi.k8s.io, volumeAttributes: {secretProviderClass: hub}}}]",
        "",
        "SecretProviderClass",
        "secrets-store.csi.x-k8s.io",
        "hub",
        [],
    ),
    (
        "a volume from a claim",
        (
            "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, name: hub}, "
            "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"
        ),
        "",
        "PersistentVolumeClaim",
        "",
        "hub",
        [],
    ),
    (
        "an init container",
        "initContainers: [{name: i, image: 'a:1', envFrom: [{secretRef: {name: hub}}]}]",
        "",
        "Secret",
        "",
        "hub",
        [],
    ),
]


@cases(("pod", "container", "kind", "group", "name", "keys"), FIELDS)
def test_each_field_that_names_an_object(pod, container, kind, group, name, keys, tmp_path):
    """The list has the object, its keys, and the line in the graph that has its name."""
    (required,) = [entry for entry in needed(tmp_path, pod, container)["objects"] if entry["name"] == name]
    assert (required["kind"], required.get("group", ""), required.get("keys", [])) == (kind, group, keys)
    is_namespaced = kind not in {"PriorityClass", "RuntimeClass"}
    assert required.get("namespace") == ("team" if is_namespaced else None)
    author = required["uses"][0]["author"]
    assert name in (tmp_path / "graph.yaml").read_text().splitlines()[author["line"] - 1]


LEFT_OUT = [
    ("an optional Secret", "", "envFrom: [{secretRef: {name: hub, optional: true}}]", ()),
    (
        "a Secret among the files",
        "",
        "envFrom: [{secretRef: {name: hub}}]",
        ("{apiVersion: v1, kind: Secret, metadata: {name: hub, namespace: team}}\n",),
    ),
    ("the account that each namespace has", "serviceAccountName: default", "", ()),
    ("a priority that each cluster has", "priorityClassName: system-node-critical", "", ()),
]


@cases(("pod", "container", "more"), LEFT_OUT)
def test_what_need_not_exist_is_left_out(pod, container, more, tmp_path):
    assert [entry["kind"] for entry in needed(tmp_path, pod, container, *more)["objects"]] == ["Namespace"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_needs_of_an_example_are_not_among_its_objects(example):
    """No required object is rendered, and each line names its object."""
    rendered = [each for each in yaml.safe_load_all(example.expected.read_text()) if each]
    names = {(each["kind"], each["metadata"]["name"]) for each in rendered}
    words = example.command.partition("krm-fn render ")[2].split()
    done = console.run("needs", "-o", "json", *(word.replace("examples/", f"{golden.EXAMPLES}/") for word in words))
    assert done.code == 0, done.err
    for required in json.loads(done.out)["objects"]:
        assert (required["kind"], required["name"]) not in names
        for author in (use["author"] for use in required["uses"] if "file" in use.get("author", {})):
            assert required["name"] in Path(author["file"]).read_text().splitlines()[author["line"] - 1]
    kinds = {(entry["apiVersion"], entry["kind"]) for entry in json.loads(done.out)["definitions"]}
    assert {(each["apiVersion"], each["kind"]) for each in rendered if each["apiVersion"].startswith("nvidia.com/")} >= {
        kind for kind in kinds if kind[0].startswith("nvidia.com/")
    }


EXPORT = [
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub", "namespace": "team"}, "data": {"a": "c2VjcmV0LXZhbHVl"}},
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner", "namespace": "team"}},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "other", "namespace": "team"}},
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "dynamographdeployments.nvidia.com"},
        "spec": {"group": "nvidia.com", "names": {"kind": "DynamoGraphDeployment"}, "versions": [{"name": "v1alpha1", "served": True}]},
    },
]


NAMESPACES = [
    # reason, what is in place of the namespace of the graph, other documents, the namespaces in the list
    ("the namespace of the graph", "namespace: team", [], ["team"]),
    ("a Namespace among the files", "namespace: team", ["apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"], []),
    ("a namespace of each cluster", "namespace: default", [], []),
    ("no namespace", "labels: {}", [], []),
    (
        "another file has a graph in another namespace",
        "namespace: team",
        [GRAPH.replace("namespace: team", "namespace: other") % ("", "")],
        ["other", "team"],
    ),
]


@cases(("written", "more", "names"), NAMESPACES)
def test_namespaces_must_exist(written, more, names, tmp_path):
    (tmp_path / "graph.yaml").write_text("---\n".join([(GRAPH % ("", "")).replace("namespace: team", written), *more]))
    objects = json.loads(console.run("needs", "-o", "json", tmp_path / "graph.yaml").out)["objects"]
    assert [entry["name"] for entry in objects if entry["kind"] == "Namespace"] == names
    assert all(entry["uses"][0]["author"]["line"] for entry in objects)


def test_an_export_with_namespaces_says_which_are_missing(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH % ("", ""))
    for name, state in (("team", "present"), ("other", "missing")):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        (tmp_path / "export.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [namespace]}))
        done = console.run("needs", "--live", tmp_path / "export.json", "-o", "json", tmp_path / "graph.yaml")
        assert [entry["state"] for entry in json.loads(done.out)["objects"]] == [state]


def test_an_export_says_what_is_missing(tmp_path):
    """Each state of an object: present, missing, without a key, and unknown because the export has no object of the kind."""
    volumes = "[{name: v, persistentVolumeClaim: {claimName: models}}, {name: w, configMap: {name: c}}]"
    pod = f"serviceAccountName: runner\n        volumes: {volumes}"
    container = (
        "env: [{name: A, valueFrom: {secretKeyRef: {name: hub, key: a}}}, {name: B, valueFrom: {secretKeyRef: {name: hub, key: b}}}]"
    )
    (tmp_path / "graph.yaml").write_text(GRAPH % (pod, container))
    (tmp_path / "export.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": EXPORT}))
    done = console.run("needs", "--live", tmp_path / "export.json", "-o", "json", tmp_path / "graph.yaml")
    assert done.code == 3
    output = json.loads(done.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(output)
    states = {entry["name"]: (entry["state"], entry.get("missingKeys", [])) for entry in output["objects"]}
    assert states == {
        "runner": ("present", []),
        "models": ("missing", []),
        "c": ("unknown", []),
        "hub": ("lacks keys", ["b"]),
        "team": ("present", []),
    }
    assert output["definitions"] == [{"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "state": "missing"}]
    text = console.run("needs", "--live", tmp_path / "export.json", tmp_path / "graph.yaml").out
    assert "lacks keys: b" in text
    assert f"{tmp_path / 'graph.yaml'}:" in text


def test_a_cluster_with_searches_needs_its_own_definition_of_requests(tmp_path):
    """The definitions of krm-fn have no v1beta2, and would take it away."""
    names = {"kind": "DynamoGraphDeploymentRequest"}
    versions = [{"name": name, "served": True} for name in ("v1beta1", "v1beta2")]
    spec = {"group": "nvidia.com", "names": names, "versions": versions}
    searches = {**EXPORT[-1], "metadata": {"name": "dynamographdeploymentrequests.nvidia.com"}, "spec": spec}
    (tmp_path / "graph.yaml").write_text(GRAPH % ("", ""))
    for items, is_warned in ((EXPORT, False), ([*EXPORT, searches], True)):
        (tmp_path / "export.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        done = console.run("needs", "--live", tmp_path / "export.json", tmp_path / "graph.yaml")
        assert ("warning: keep the definition of requests of Dynamo 1.7" in done.err) is is_warned


def test_no_value_of_a_secret_is_printed(tmp_path):
    """Logs of CI are read by many. An export that cannot be read is refused without its lines."""
    (tmp_path / "graph.yaml").write_text(GRAPH % ("", "envFrom: [{secretRef: {name: hub}}]"))
    good = json.dumps({"apiVersion": "v1", "kind": "List", "items": EXPORT})
    for text in (good, good.replace("}}", "}", 1), good.replace('"kind": "Secret"', '"kind": 1')):
        (tmp_path / "export.json").write_text(text)
        done = console.run("needs", "--live", tmp_path / "export.json", tmp_path / "graph.yaml")
        assert "c2VjcmV0" not in done.out + done.err


def test_an_error_in_a_graph_makes_the_list_incomplete(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH.replace("type: worker", "type: woker") % ("", ""))
    done = console.run("needs", tmp_path / "graph.yaml")
    assert done.code == 1
    assert "the list is not complete: 1 error" in done.err


def test_gangs_of_kubernetes_need_an_api_of_a_feature_gate(tmp_path):
    """The API server itself serves PodGroups, so no definition is listed: the APIService shows whether its feature gate is on."""
    graph, settings = tmp_path / "graph.json", tmp_path / "config.yaml"
    graph.write_text(json.dumps(gang_faults.worker()))
    settings.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: render}\ndata: {gangScheduling: kubernetes}\n")
    output = json.loads(console.run("needs", "-o", "json", graph, "--config", settings).out)
    assert ("APIService", "v1beta1.scheduling.k8s.io") in [(required["kind"], required["name"]) for required in output["objects"]]
    assert [definition["kind"] for definition in output["definitions"]] == ["LeaderWorkerSet", "DynamoGraphDeployment"]
