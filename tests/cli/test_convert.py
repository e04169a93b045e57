"""`krm-fn convert`: which documents it rewrites, which text it leaves, and what it says."""

import json
import os

import pytest
import yaml

from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT

COMMENTED = """\
# the head
apiVersion: v1
kind: ConfigMap   # stays
metadata: {name: plain}
data: {a: 'yes', script: "# no comment"}
---
# about the graph
"""
TAIL = """\
# below the graph

---
{apiVersion: v1,
 kind: Service, metadata: {name: s}}
"""
CLAIMS = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  pvcs: [{name: weights, create: true, size: 1Gi, storageClass: fast, volumeAccessMode: ReadWriteMany}]
  services:
    Frontend:
      componentType: frontend
      dynamoNamespace: old
      labels: {team: a}
      ingress: {enabled: true, host: chat, ingressControllerClassName: nginx}
      extraPodMetadata: {labels: {team: b}}
      extraPodSpec: {mainContainer: {image: "registry.example/front:1.5.0"}}
"""


def convert(*arguments, stdin=GRAPH, code=0):
    done = console.run("convert", *(arguments or ["-"]), stdin=stdin)
    assert done.code == code, done
    return done


def test_a_graph_becomes_v1beta1_and_comes_back():
    """v1beta1 is the default; the way back gives the same resource."""
    done = convert()
    new = yaml.safe_load(done.out)
    assert (new["apiVersion"], [each["name"] for each in new["spec"]["components"]]) == ("nvidia.com/v1beta1", ["Frontend", "Worker"])
    assert done.err == ""
    assert yaml.safe_load(convert("--to", "v1alpha1", "-", stdin=done.out).out) == yaml.safe_load(GRAPH)


def test_other_documents_and_comments_around_a_document_stay_as_they_are():
    """Only the document of the graph is written anew."""
    text = convert(stdin=COMMENTED + GRAPH + TAIL).out
    assert text.startswith(COMMENTED + "apiVersion: nvidia.com/v1beta1\n")
    assert text.endswith("\n" + TAIL)


def test_a_text_that_needs_no_conversion_is_printed_byte_by_byte():
    """A graph of the wanted version is not written anew either."""
    text = COMMENTED + GRAPH + TAIL
    assert convert("--to", "v1alpha1", "-", stdin=text).out == text


@pytest.mark.parametrize("marker", ["--- ", "---\n"])
def test_a_marker_on_the_line_of_the_document_stays(marker):
    """A document can begin on the line of its marker."""
    flow = json.dumps(yaml.safe_load(GRAPH))
    documents = list(yaml.safe_load_all(convert(stdin=f"a: 1\n{marker}{flow}\n---\nb: 2\n").out))
    assert [documents[0], documents[1]["apiVersion"], documents[2]] == [{"a": 1}, "nvidia.com/v1beta1", {"b": 2}]


def test_windows_line_ends_and_a_byte_order_mark_stay(tmp_path):
    """A converted document has the line ends of its text."""
    file = tmp_path / "graph.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + (COMMENTED + GRAPH).replace("\n", "\r\n").encode())
    convert("-w", file)
    text = file.read_bytes()
    assert text.startswith(b"\xef\xbb\xbf# the head\r\n")
    assert b"nvidia.com/v1beta1\r\n" in text
    assert b"\n" not in text.replace(b"\r\n", b"")


def test_json_stays_json():
    """Other resources that take the place of one make a List."""
    graph = yaml.safe_load(CLAIMS)
    (plain,) = [json.loads(convert(stdin=json.dumps(graph)).out)]
    assert plain["apiVersion"] == "nvidia.com/v1beta1"
    listed = json.loads(convert("--native", "-", stdin=json.dumps(graph)).out)
    assert [each["kind"] for each in listed["items"]] == ["DynamoGraphDeployment", "PersistentVolumeClaim", "Ingress"]


def test_items_of_lists_are_converted():
    """So are those of a ResourceList; its other items and its functionConfig stay."""
    items = [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}, yaml.safe_load(CLAIMS)]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    whole = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items, "functionConfig": config}
    new = yaml.safe_load(convert("--native", "-", stdin=yaml.safe_dump(whole)).out)
    assert [each["kind"] for each in new["items"]] == ["Secret", "DynamoGraphDeployment", "PersistentVolumeClaim", "Ingress"]
    assert (new["items"][0], new["functionConfig"]) == (items[0], config)


def test_write_changes_only_files_that_need_it(tmp_path):
    """Modes and links stay, and a second call finds nothing to do."""
    graph, other, link = tmp_path / "graph.yaml", tmp_path / "other.yaml", tmp_path / "link"
    graph.write_text(COMMENTED + GRAPH)
    graph.chmod(0o640)
    other.write_text(COMMENTED)
    os.utime(other, (1, 1))
    link.symlink_to(graph)
    done = convert("-w", link, other)
    assert (done.out, done.err) == ("", "converted: 1 resource in 1 file\n")
    assert graph.read_text().startswith(COMMENTED + "apiVersion: nvidia.com/v1beta1\n")
    assert (graph.stat().st_mode & 0o777, link.is_symlink(), other.stat().st_mtime) == (0o640, True, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.yaml", "link", "other.yaml"]
    assert convert("-w", tmp_path).err == "converted: no resource needs it\n"


def test_the_files_of_a_folder_are_printed_as_one_stream(tmp_path):
    """A patch of an overlay has some fields of a graph only, and the name of the graph that it changes."""
    (tmp_path / "a.yaml").write_text(GRAPH.rstrip("\n"))
    (tmp_path / "b.yaml").write_text("---\na: 1\n")
    (tmp_path / "patch.yaml").write_text(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\n"
        "spec: {services: {Worker: {replicas: 3, extraPodSpec: {mainContainer: {image: i}}}}}\n"
    )
    documents = list(yaml.safe_load_all(convert(tmp_path).out))
    assert [documents[0]["apiVersion"], documents[1]] == ["nvidia.com/v1beta1", {"a": 1}]
    assert documents[2]["spec"]["components"] == [
        {"name": "Worker", "replicas": 3, "podTemplate": {"spec": {"containers": [{"name": "main", "image": "i"}]}}}
    ]


def test_kept_fields_are_named():
    """One warning for each, at the line of the field."""
    done = convert(stdin=CLAIMS)
    assert [line.split()[1:3] for line in done.err.splitlines() if line.startswith("<stdin>:")] == [["warning", "DYN410"]] * 4
    assert "<stdin>:5:10: warning DYN410 spec.pvcs[0]: " in done.err
    assert yaml.safe_load(convert("--to", "v1alpha1", "-", stdin=done.out).out) == yaml.safe_load(CLAIMS)


def test_native_writes_fields_in_another_form():
    """Claims and Ingresses become resources, labels go into the pods, and what has no other form is named."""
    done = convert("--native", "-", stdin=CLAIMS)
    graph, claim, ingress = yaml.safe_load_all(done.out)
    assert graph["metadata"] == {"name": "chat"}
    assert graph["spec"]["components"] == [
        {
            "name": "Frontend",
            "type": "frontend",
            "podTemplate": {
                "metadata": {"labels": {"team": "b"}},
                "spec": {"containers": [{"name": "main", "image": "registry.example/front:1.5.0"}]},
            },
        }
    ]
    assert (claim["metadata"]["name"], claim["spec"]["storageClassName"]) == ("weights", "fast")
    assert (ingress["metadata"], ingress["spec"]["ingressClassName"]) == ({"name": "chat-frontend"}, "nginx")
    assert [line.split(":")[3] for line in done.err.splitlines() if line.startswith("<stdin>")] == [
        " warning DYN412 spec.services.Frontend.dynamoNamespace"
    ]


def test_native_writes_only_what_a_render_would_make(tmp_path):
    """An Ingress needs a class. A VirtualService needs the gateway of the configuration, which makes no other objects here."""
    text = CLAIMS.replace(", ingressControllerClassName: nginx", "")
    assert "DYN412 spec.services.Frontend.ingress" in convert("--native", "-", stdin=text).err
    config = tmp_path / "config.yaml"
    head = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\n"
    config.write_text(f"{head}spec: {{ingress: {{className: traefik, istioGateway: mesh/gateway}}}}\n")
    istio = "useVirtualService: true, virtualServiceGateway: mesh/gateway"
    made = convert("--native", "--config", config, "-", stdin=CLAIMS.replace("ingressControllerClassName: nginx", istio))
    assert [each["kind"] for each in yaml.safe_load_all(made.out)] == ["DynamoGraphDeployment", "PersistentVolumeClaim", "VirtualService"]
    made = convert("--native", "--config", config, "-", stdin=GRAPH)
    assert [each["kind"] for each in yaml.safe_load_all(made.out)] == ["DynamoGraphDeployment"]


def test_native_declares_volumes_for_v1alpha1():
    """v1alpha1 has details only of mounts of declared volumes."""
    component = {
        "name": "w",
        "podTemplate": {
            "spec": {
                "containers": [{"name": "main", "image": "i:1.5.0", "volumeMounts": [{"name": "d", "mountPath": "/d", "readOnly": True}]}]
            }
        },
    }
    graph = {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g"},
        "spec": {"components": [component]},
    }
    done = convert("--to", "v1alpha1", "--native", "-", stdin=json.dumps(graph))
    assert json.loads(done.out)["spec"]["services"]["w"]["extraPodSpec"] == {
        "mainContainer": {"image": "i:1.5.0", "volumeMounts": [{"name": "d", "mountPath": "/d", "readOnly": True}]},
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}],
    }
    assert done.err == ""


def test_native_names_the_graph_of_a_request_in_its_overrides():
    """`deploymentOverrides` has another form; `outputPVC` has none."""
    request = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeploymentRequest
metadata: {name: r}
spec:
  model: m
  backend: vllm
  deploymentOverrides: {name: g, labels: {a: b}}
  profilingConfig: {profilerImage: "p:1.5.0", outputPVC: out, config: {sla: {ttft: 1}}}
"""
    done = convert("--native", "-", stdin=request)
    assert yaml.safe_load(done.out)["spec"]["overrides"]["dgd"]["metadata"] == {"name": "g", "labels": {"a": "b"}}
    assert "DYN412 spec.profilingConfig.outputPVC" in done.err
    assert "deploymentOverrides" not in done.err


def test_an_older_form_is_converted_too():
    """A `pvc` of a service is a claim of the graph."""
    done = convert("--native", "-", stdin=GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      pvc: {name: w, mountPoint: /w}\n"))
    worker = yaml.safe_load(done.out)["spec"]["components"][1]
    assert worker["podTemplate"]["spec"]["containers"][0]["volumeMounts"] == [{"name": "w", "mountPath": "/w"}]
    assert done.err == ""


def test_with_an_error_nothing_is_written(tmp_path):
    """Not even the files without an error."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(GRAPH)
    bad.write_text(MISSPELT)
    done = convert("-w", good, bad, code=1)
    assert "DYN023" in done.err
    assert done.err.endswith("nothing is converted: 1 error\n")
    assert (good.read_text(), bad.read_text()) == (GRAPH, MISSPELT)


def test_too_many_kept_fields_are_an_error():
    """An API server refuses annotations of more than 256 KiB; --native needs none."""
    text = CLAIMS.replace("{team: a}", json.dumps({"team": "a" * 300_000}))
    assert "DYN414" in convert(stdin=text, code=1).err
    assert convert("--native", "-", stdin=text).code == 0


@pytest.mark.parametrize("arguments", [["-w", "-"], ["--to", "v1"]])
def test_wrong_usage(arguments):
    """Stdin has no file to write."""
    assert console.run("convert", *arguments, stdin=GRAPH).code == 2


@pytest.mark.parametrize("arguments", [[], ["--native"]])
def test_a_graph_without_a_version_of_dynamo_is_a_warning(arguments):
    """A render of the v1alpha1 graph assumes a release; a render of the v1beta1 graph refuses it until its images have a version."""
    done = convert(*arguments, "-", stdin=GRAPH.replace("1.5.0", "latest"))
    assert done.err.count("warning DYN491 spec.services.") == 1
    assert "error DYN451" in console.run("check", "-", stdin=done.out).out
    assert "DYN491" not in convert(*arguments, "-", stdin=GRAPH).err


@pytest.mark.parametrize("tag", ["0.4.0", "1.5.0"])
def test_the_former_name_of_a_type_becomes_its_name_of_today(tag):
    """v1beta1 has no type `main`, which was the name of `frontend` until Dynamo 0.4."""
    done = convert("-", stdin=CLAIMS.replace("componentType: frontend", "componentType: main").replace("1.5.0", tag))
    (converted,) = yaml.safe_load_all(done.out)
    assert [component["type"] for component in converted["spec"]["components"]] == ["frontend"]
