"""The real kustomize updates the references in our kinds when it adds prefixes and hashes to names, before any function runs."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import yaml

from krm_fn.base.yaml import emitter
from krm_fn.render import dynamo_api
from krm_fn.render.schema import table
from krm_fn.schemas.generate import kustomize_files
from tests.support import golden, markdown, schema_mistakes
from tests.testbed import programs

SERVICES = ("Frontend", "Worker")
GRAPH = "DynamoGraphDeployment"
EVERY = [
    (spec["kind"], spec["path"], (reference.get("group", ""), reference["kind"]))
    for reference in kustomize_files.references(SERVICES)["nameReference"]
    for spec in reference["fieldSpecs"]
    if spec.get("group") == dynamo_api.GROUP  # tests/schemas/generate/test_names_of_workloads.py has those of other groups
]
OBJECTS = {target: target[1].lower() for _, _, target in EVERY} | {
    ("", "ConfigMap"): "settings",
    ("", "Secret"): "token",
    ("", "PersistentVolumeClaim"): "cache",
    (dynamo_api.GROUP, GRAPH): "llm",
}
"""The names of the objects to which all references refer. The layer generates the first two, and each test has its graph."""
WRITTEN = [
    {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": {"name": name}}
    for (group, kind), name in OBJECTS.items()
    if kind not in {"ConfigMap", "Secret", GRAPH}
]


def fill(document, schema, path, name):
    """Writes a name at a path, through the lists and maps of the table. Raises KeyError for a path that the table does not have."""
    step, _, rest = path.partition("/")
    schema = table.load().definitions.get(schema.get("$ref", ""), schema)
    inner = schema["properties"][step] if "properties" in schema else schema["additionalProperties"]
    inner = table.load().definitions.get(inner.get("$ref", ""), inner)
    if not rest:
        assert inner["type"] == "string"
        document[step] = name
    elif inner["type"] == "array":
        fill(document.setdefault(step, [{}])[0], inner["items"], rest, name)
    else:
        fill(document.setdefault(step, {}), inner, rest, name)


def found(value, path):
    """The string at a path."""
    for step in path.split("/"):
        value = value[0][step] if isinstance(value, list) else value[step]
    return value


@pytest.fixture
def build(kustomize, tmp_path):
    """The build of resources with generated names and a prefix, by kind."""

    def built(resources, references):
        (tmp_path / "resources.yaml").write_text(yaml.safe_dump_all([*resources, *WRITTEN]))
        (tmp_path / "names.yaml").write_text(emitter.text(references))
        layer = {
            "namePrefix": "prod-",
            "namespace": "prod",
            "resources": ["resources.yaml"],
            "secretGenerator": [{"name": "token", "literals": ["A=b"]}],
            "configMapGenerator": [{"name": "settings", "literals": ["a=b"]}],
            "configurations": ["names.yaml"],
        }
        (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(layer))
        said = subprocess.run([kustomize, "build", tmp_path], capture_output=True, text=True, check=True).stdout
        return {each["kind"]: each for each in yaml.safe_load_all(said)}

    return built


VERSIONS = ("nvidia.com/v1alpha1", "nvidia.com/v1beta1")


def root(version, kind):
    """The schema of a kind; empty if the version does not have it."""
    return table.load().definitions.get(table.load().kinds[kind].get(version, ""), {})


def is_field(version, kind, path):
    """True if a path leads to a field of the kind in this version."""
    try:
        fill({}, root(version, kind), path, "")
    except KeyError:
        return False
    return True


def test_every_path_is_a_field():
    assert [(kind, path) for kind, path, _ in EVERY if not any(is_field(version, kind, path) for version in VERSIONS)] == []
    covered = {(version, kind) for kind, path, _ in EVERY for version in VERSIONS if is_field(version, kind, path)}
    without = {"DynamoBudget", "DynamoModel", "DynamoProject", "DynamoWorkerMetadata", "DynamoRender", "OperatorConfiguration"}
    assert covered == {(version, kind) for kind, known in table.load().kinds.items() for version in known if kind not in without}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_reference_follows_its_object(version, build):
    """Each path of the file, tested with a resource that has every reference."""
    targets = {
        (kind, path): target for kind, path, target in EVERY if is_field(version, kind, path)
    }  # one of several for a typed reference
    rows = [(kind, path, target) for (kind, path), target in targets.items()]
    written: dict[str, Any] = {}
    for kind, path, target in rows:
        document = written.setdefault(kind, {**schema_mistakes.other(kind, {}), "apiVersion": version})
        fill(document, root(version, kind), path, OBJECTS[target])
    built = build(written.values(), kustomize_files.references(SERVICES))
    there = {kind: each["metadata"]["name"] for kind, each in built.items()}
    assert there["Secret"].startswith("prod-token-")
    assert there["ConfigMap"].startswith("prod-settings-")
    assert [row for row in rows if found(built[row[0]], row[1]) != there[row[2][1]]] == []


def test_a_component_of_v1beta1_needs_no_names(build):
    """Its components are a list, and the paths of kustomize pass lists."""
    main = {"name": "main", "envFrom": [{"secretRef": {"name": "token"}}]}
    spec = {"components": [{"name": "Any", "podTemplate": {"spec": {"containers": [main]}}}]}
    graph = {**schema_mistakes.graph(spec), "apiVersion": "nvidia.com/v1beta1"}
    built = build([graph], kustomize_files.references())
    (container,) = built[GRAPH]["spec"]["components"][0]["podTemplate"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": built["Secret"]["metadata"]["name"]}}]


def test_a_service_that_is_not_given_is_not_followed(build):
    """The claims of its graph are not updated either, because claim and mount must have the same name."""
    graph = schema_mistakes.graph(
        {"pvcs": [{"name": "cache"}], "services": {"Other": {"envFromSecret": "token", "volumeMounts": [{"name": "cache"}]}}}
    )
    assert build([graph], kustomize_files.references())[GRAPH]["spec"] == graph["spec"]


def test_a_name_that_is_no_objects_stays(build):
    """The object may exist in the cluster."""
    graph = schema_mistakes.graph({"services": {"Worker": {"envFromSecret": "elsewhere"}}})
    assert build([graph], kustomize_files.references(["Worker"]))[GRAPH]["spec"] == graph["spec"]


RENDER = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: |
      exec: {path: krm-fn}
"""


def test_pods_name_what_is_there_whether_rendered_after_the_build_or_in_it(build, tmp_path):
    """A render after the build reads the names from the graph. In a build, kustomize also updates what is generated."""
    # Only 0.9 reads both `envFromSecret` and `envFrom`.
    variables = {"env": [{"name": "DYN_STORE_KV", "value": "mem"}], "envFrom": [{"configMapRef": {"name": "settings"}}]}
    main = {"image": "registry.example/dynamo:0.9.0", **variables}
    fields = {"envFromSecret": "token", "volumeMounts": [{"name": "cache", "mountPoint": "/c"}], "extraPodSpec": {"mainContainer": main}}
    graph = schema_mistakes.graph({"pvcs": [{"name": "cache"}], "services": {"Worker": {"componentType": "worker", **fields}}})
    there = build([graph], kustomize_files.references(["Worker"]))
    expected = {there[kind]["metadata"]["name"] for kind in ("Secret", "ConfigMap", "PersistentVolumeClaim")}
    assert named_by_pods(f"kustomize build {tmp_path} | krm-fn render -") == expected
    layer = yaml.safe_load((tmp_path / "kustomization.yaml").read_text())
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(layer | {"transformers": [RENDER]}))
    assert named_by_pods(f"kustomize build --enable-alpha-plugins --enable-exec {tmp_path}") == expected


def named_by_pods(command):
    """The Secret, ConfigMap and claim that the pods refer to in the output of a command."""
    answer = markdown.run(command, programs.ROOT, golden.environment("kustomize"), 0)
    (pod,) = (each["spec"]["template"]["spec"] for each in yaml.safe_load_all(answer.output) if each and each["kind"] == "Deployment")
    sources = (source for container in pod["containers"] for entry in container["envFrom"] for source in entry.values())
    claims = (volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume)
    return {*claims, *(source["name"] for source in sources)}
