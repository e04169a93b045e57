"""References and selectors of a whole build, as kustomize leaves them: each finding, and the fix that it names, in a repository with a
base and an overlay.
"""

from __future__ import annotations

import pytest
import yaml

from tests.cli import console
from tests.repository.clones import FUNCTION, codes
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.6.1"
BETA = f"""\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: search}}
spec:
  backendFramework: sglang
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "{IMAGE}"}}]}}}}
  - name: Worker
    type: worker
    scalingAdapter: {{}}
    podTemplate:
      metadata: {{labels: {{app: searcher}}}}
      spec:
        containers:
        - name: main
          image: {IMAGE}
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-8B, --tp, "2"]
          envFrom: [{{secretRef: {{name: hf-token}}}}]
          resources: {{limits: {{nvidia.com/gpu: "2"}}}}
"""
ALPHA = f"""\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: search}}
spec:
  backendFramework: sglang
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: "{IMAGE}"}}}}
    Worker:
      componentType: worker
      scalingAdapter: {{enabled: true}}
      envFromSecret: hf-token
      extraPodMetadata: {{labels: {{app: searcher}}}}
      resources: {{limits: {{gpu: "2"}}}}
      extraPodSpec:
        mainContainer:
          image: {IMAGE}
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-8B, --tp, "2"]
"""
GRAPHS = {"v1alpha1": ALPHA, "v1beta1": BETA}
NEIGHBOUR = "apiVersion: v1\nkind: Secret\nmetadata: {name: hf-token}\n"


@pytest.fixture
def repository(clone):
    """Writes a repository: a base with a graph and neighbours, and an overlay with the function and more settings."""

    def written(graph: str, neighbours: str = NEIGHBOUR, *, names: bool = False, **layer: object) -> None:
        settings = {"namespace": "team", "resources": ["../base"], "transformers": ["render.yaml"], **layer}
        clone.put({"base/graph.yaml": graph})
        clone.put({"base/neighbours.yaml": neighbours})
        clone.put({"base/kustomization.yaml": "resources: [graph.yaml, neighbours.yaml]\n"})
        clone.put({"prod/render.yaml": FUNCTION})
        if names:
            clone.put({"prod/names.yaml": console.run("schema", "--for", "names", clone.folder / "base/graph.yaml").out})
            settings["configurations"] = ["names.yaml"]
        clone.put({"prod/kustomization.yaml": yaml.safe_dump(settings)})

    return written


def findings():
    """The codes of the findings about the repository, apart from the notes about API versions."""
    return codes(console.run("check"))


AFFIXES = [
    # setting, value, the labels and names of a worker
    ("namePrefix", "eu-", "eu-search-worker", "eu-search"),
    ("nameSuffix", "-eu", "search-eu-worker", "search-eu"),
]
SELECTORS = [
    # reason, an object with NAME and GRAPH for the label of the worker and of the graph
    (
        "a budget",
        (
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: workers}\n"
            "spec: {minAvailable: 1, selector: {matchLabels: {nvidia.com/selector: NAME}}}"
        ),
    ),
    (
        "a policy",
        (
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: workers}\n"
            "spec: {podSelector: {matchLabels: {nvidia.com/dynamo-graph-deployment-name: GRAPH}}, policyTypes: [Ingress]}"
        ),
    ),
    (
        "a peer of a policy",
        (
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: workers}\n"
            "spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {nvidia.com/selector: NAME}}}]}]}"
        ),
    ),
    (
        "a Service",
        "apiVersion: v1\nkind: Service\nmetadata: {name: mine}\nspec: {selector: {nvidia.com/selector: NAME}, ports: [{port: 80}]}",
    ),
    (
        "an expression",
        (
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: workers}\nspec:\n"
            "  minAvailable: 1\n  selector: {matchExpressions: [{key: nvidia.com/selector, operator: In, values: [NAME]}]}"
        ),
    ),
    (
        "a monitor",
        (
            "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: workers}\n"
            "spec: {selector: {matchLabels: {nvidia.com/selector: NAME}}, podMetricsEndpoints: [{port: system}]}"
        ),
    ),
    (
        "a policy of Istio",
        (
            "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: workers}\n"
            "spec: {selector: {matchLabels: {nvidia.com/selector: NAME}}}"
        ),
    ),
]


@pytest.mark.parametrize("version", GRAPHS)
@cases(("setting", "value", "name", "graph"), AFFIXES)
@cases("selector", SELECTORS)
def test_a_selector_without_the_prefix_selects_nothing(repository, version, setting, value, name, graph, selector):
    """The error names the value of the pods, and a selector with this value has no finding."""
    wrong = selector.replace("NAME", "search-worker").replace("GRAPH", "search")
    repository(GRAPHS[version], f"{NEIGHBOUR}---\n{wrong}\n", **{setting: value})
    done = console.run("check", "--format", "json")
    (finding,) = [entry for entry in yaml.safe_load(done.out)["findings"] if entry["code"] == "DYN670"]
    proposed = graph if "GRAPH" in selector else name
    assert (finding["severity"], f"write {proposed}" in finding["message"]) == ("error", True)
    right = selector.replace("NAME", name).replace("GRAPH", graph)
    repository(GRAPHS[version], f"{NEIGHBOUR}---\n{right}\n", **{setting: value})
    assert "DYN670" not in findings()


TERM = "{topologyKey: zone, labelSelector: {matchLabels: {app: LABEL}}}"
POD_FIELDS = [
    f"topologySpreadConstraints: [{{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, {TERM[1:]}]",
    f"affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{TERM}]}}}}",
    f"affinity: {{podAntiAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, podAffinityTerm: {TERM}}}]}}}}",
]


@pytest.mark.parametrize("field", POD_FIELDS, ids=["topology spread", "affinity", "anti-affinity"])
def test_a_pod_that_does_not_select_itself(repository, field):
    """A typing mistake is a warning: the pod runs, but not where its author wanted."""
    for label, expected in (("saercher", True), ("searcher", False), ("database", False)):
        graph = BETA.replace(
            "      spec:\n        containers:", f"      spec:\n        {field.replace('LABEL', label)}\n        containers:"
        )
        repository(graph)
        assert ("DYN670" in findings()) is expected, label


QUIET = [
    # reason, a neighbour that selects nothing of the build, and is right
    ("a label of another program", "spec: {podSelector: {matchLabels: {app: searcher-ui}}, policyTypes: [Ingress]}"),
    ("a word with other letters", "spec: {podSelector: {matchLabels: {app: searched}}, policyTypes: [Ingress]}"),
    ("all pods", "spec: {podSelector: {}, policyTypes: [Ingress]}"),
    (
        "a label that a controller adds",
        "spec: {podSelector: {matchLabels: {app: searcher, pod-template-hash: abc}}, policyTypes: [Ingress]}",
    ),
    (
        "a peer in another namespace",
        "spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app: ingress}}}]}]}",
    ),
    (
        "a peer of a type that the graph does not have",
        "spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {nvidia.com/dynamo-component-type: planner}}}]}]}",
    ),
]


@cases("spec", QUIET)
def test_a_selector_that_may_select_pods_of_another_build_has_no_finding(repository, spec):
    repository(
        BETA, f"{NEIGHBOUR}---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: n}}\n{spec}\n", namePrefix="eu-"
    )
    assert "DYN670" not in findings()


def test_a_budget_for_another_graph_is_a_warning(repository):
    """The graph may be in another root, so this is no error."""
    budget = SELECTORS[0][1].replace("NAME", "chat-decoder")
    repository(BETA, f"{NEIGHBOUR}---\n{budget}\n")
    done = console.run("check")
    assert (done.code, "warning DYN670" in done.out) == (0, True)
    repository("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", f"{NEIGHBOUR}---\n{budget}\n")  # no graph at all
    assert "DYN670" not in findings()


REFERENCES = [
    # reason, a neighbour with a reference, the fix
    (
        "a route to the Service of the frontend",
        (
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\n"
            "spec: {rules: [{backendRefs: [{name: search-frontend, port: 8000}]}]}"
        ),
        "search-frontend",
    ),
    (
        "an Ingress to the Service of the frontend",
        (
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n"
            "spec: {defaultBackend: {service: {name: search-frontend, port: {number: 8000}}}}"
        ),
        "search-frontend",
    ),
    (
        "an autoscaler of a Deployment",
        (
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
            "spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: search-frontend}}"
        ),
        "search-frontend",
    ),
    (
        "an autoscaler of an adapter",
        (
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
            "spec:\n  maxReplicas: 3\n"
            "  scaleTargetRef: {apiVersion: nvidia.com/v1beta1, kind: DynamoGraphDeploymentScalingAdapter, name: search-worker}"
        ),
        "search-worker",
    ),
]


@pytest.mark.parametrize("names", [False, True], ids=["", "with the file of names"])
@cases(("setting", "value", "workload", "graph"), AFFIXES)
@cases(("neighbour", "name"), REFERENCES)
def test_a_reference_to_an_object_that_the_function_makes(repository, neighbour, name, setting, value, workload, graph, names):
    """No setting of kustomize follows such an object, so the error asks for the full name. With a patch that writes it, nothing is left."""
    repository(BETA, f"{NEIGHBOUR}---\n{neighbour}\n", names=names, **{setting: value})
    full = name.replace("search", graph)
    done = console.run("check")
    assert (done.code, f"write {full}, for example with a patch in the layer with the function" in done.out) == (1, True)
    content = yaml.safe_load(neighbour)
    patch = {**content, "spec": yaml.safe_load(neighbour.replace(name, full))["spec"]}
    repository(BETA, f"{NEIGHBOUR}---\n{neighbour}\n", names=names, patches=[{"patch": yaml.safe_dump(patch)}], **{setting: value})
    assert console.run("check").code == 0


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
"""
CLAIMED = {
    "v1beta1": BETA.replace(
        "      spec:\n        containers:",
        "      spec:\n        resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]\n        containers:",
    ),
    "v1alpha1": ALPHA.replace(
        "      extraPodSpec:\n        mainContainer:",
        "      extraPodSpec:\n        resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]\n        mainContainer:",
    ),
}


@pytest.mark.parametrize(("setting", "value"), [row[:2] for row in AFFIXES])
@pytest.mark.parametrize("version", CLAIMED)
def test_a_claim_of_devices_with_another_name(repository, version, setting, value):
    """kustomize does not know the field. With the file of names, the pods and the graph have the new name."""
    repository(CLAIMED[version], f"{NEIGHBOUR}---\n{CLAIM}", **{setting: value})
    done = console.run("check")
    assert (done.code, "DYN671 spec.template.spec.resourceClaims[0].resourceClaimTemplateName" in done.out) == (1, True)
    assert "list the file of `krm-fn schema --for names` under configurations of the layer with the prefix or suffix" in done.out
    repository(CLAIMED[version], f"{NEIGHBOUR}---\n{CLAIM}", names=True, **{setting: value})
    assert "DYN671" not in findings()


GRANDCHILDREN = [
    # reason, the settings of the layer, the Secret among the neighbours
    ("a hash", {"secretGenerator": [{"name": "hf-token", "literals": ["A=b"]}]}, "DYN501"),
    ("a hash and a prefix", {"secretGenerator": [{"name": "hf-token", "literals": ["A=b"]}], "namePrefix": "eu-"}, "DYN501"),
    ("a prefix", {"namePrefix": "eu-"}, "DYN671"),
    ("a suffix", {"nameSuffix": "-eu"}, "DYN671"),
]


@cases(("layer", "code"), GRANDCHILDREN)
def test_the_pods_of_a_group_need_the_file_of_names(repository, layer, code):
    """kustomize does not know the pods of a LeaderWorkerSet."""
    graph = BETA.replace("    scalingAdapter: {}\n", "    multinode: {nodeCount: 2}\n").replace('"2"]', '"4"]')
    neighbours = CLAIM if "secretGenerator" in layer else f"{NEIGHBOUR}---\n{CLAIM}"
    repository(graph, neighbours, **layer)
    assert code in findings()
    repository(graph, neighbours, names=True, **layer)
    assert findings() == []


RESEMBLING = [
    # reason, the name of the graph, a route, the Service of the route, a Service in the build
    ("the route has the same ending", "search", "web-frontend", "api", "api-frontend"),
    ("the route has the same beginning", "search", "team-web", "api", "team-api"),
    ("the Service of another graph", "team-search", "web", "api-frontend", "team-api-frontend"),
]


@cases(("graph", "route", "service", "other"), RESEMBLING)
def test_names_that_resemble_each_other(repository, graph, route, service, other):
    """Without a prefix that the graph has too, a Service with a similar name is another Service."""
    neighbours = (
        f"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {route}}}\n"
        f"spec: {{rules: [{{backendRefs: [{{name: {service}, port: 80}}]}}]}}\n"
        f"---\napiVersion: v1\nkind: Service\nmetadata: {{name: {other}}}\nspec: {{ports: [{{port: 80}}]}}\n"
    )
    repository(BETA.replace("name: search", f"name: {graph}"), f"{NEIGHBOUR}---\n{neighbours}")
    assert findings() == []


def test_a_name_of_the_cluster_that_only_resembles_one_of_the_build(repository):
    """kustomize follows the Secrets of a Deployment, so a Secret with another name is one of the cluster."""
    graph = BETA.replace("name: hf-token", "name: token")
    repository(graph.replace("name: search", "name: team-search"), NEIGHBOUR.replace("hf-token", "team-token"))
    assert findings() == []


GENERATED = [
    ({}, "a hash"),
    ({"namePrefix": "eu-"}, "a hash and a prefix"),
    ({"nameSuffix": "-blue"}, "a hash and a suffix"),
    ({"namePrefix": "prod-eu-", "nameSuffix": "-blue"}, "a hash, a prefix and a suffix"),
    ({"namePrefix": "eu-", "generatorOptions": {"disableNameSuffixHash": True}}, "a prefix"),
]


@pytest.mark.parametrize("version", GRAPHS)
@pytest.mark.parametrize("layer", [row[0] for row in GENERATED], ids=[row[1] for row in GENERATED])
def test_the_documented_secret_has_no_finding(repository, version, layer):
    """A generated Secret with the file of names: the pods have its new name, and the workers keep the hash that the function computed."""
    secret = {"secretGenerator": [{"name": "hf-token", "literals": ["A=b"]}]}
    repository(GRAPHS[version], CLAIM, names=True, **secret, **layer)
    assert findings() == []


def test_a_changed_image_beside_a_renamed_secret_is_found(repository, clone):
    """A layer around the function changes the graph itself, too, which is what the warning is for."""
    repository(BETA, CLAIM, names=True, secretGenerator=[{"name": "hf-token", "literals": ["A=b"]}])
    around = {"resources": ["../prod"], "images": [{"name": IMAGE.rpartition(":")[0], "newTag": "1.6.0"}]}
    clone.put({"around/kustomization.yaml": yaml.safe_dump(around)})
    assert "DYN503" in findings()


LABELS = [
    ({"labels": [{"pairs": {"team": "a"}}]}, "labels"),
    ({"labels": [{"pairs": {"team": "a"}, "includeTemplates": True}]}, "labels of templates"),
    ({"commonLabels": {"team": "a"}}, "common labels"),
    ({"commonAnnotations": {"team": "a"}}, "common annotations"),
]


@pytest.mark.parametrize("layer", [row[0] for row in LABELS], ids=[row[1] for row in LABELS])
def test_labels_of_the_layer_with_the_function(repository, clone, layer):
    """They reach the graph only. In a layer around the function, they reach every object."""
    repository(BETA, **layer)
    done = console.run("check")
    assert (done.code, "note DYN672" in done.out) == (0, True)
    assert "prod/kustomization.yaml" in done.out
    repository(BETA)
    clone.put({"around/kustomization.yaml": yaml.safe_dump({"resources": ["../prod"], **layer})})
    assert "DYN672" not in console.run("check").out


def test_labels_of_a_layer_without_the_function_have_no_finding(repository, clone):
    """They are those of the base, and nobody expects them on objects that another layer makes."""
    repository(BETA)
    clone.put({"base/kustomization.yaml": "resources: [graph.yaml, neighbours.yaml]\nlabels: [{pairs: {team: a}}]\n"})
    assert "DYN672" not in console.run("check").out


@pytest.mark.parametrize("entry", [{"newTag": "1.6.2"}, {"newName": "registry.example/sglang-runtime"}], ids=["a tag", "a mirror"])
def test_an_image_of_a_layer_reaches_a_v1alpha1_graph_with_the_file_of_names(repository, entry):
    images = [{"name": IMAGE.rpartition(":")[0], **entry}]
    repository(ALPHA, images=images)
    done = console.run("check")
    assert (done.code, "warning DYN673" in done.out) == (0, True)
    repository(ALPHA, names=True, images=images)
    assert findings() == []
    repository(BETA, images=images)
    assert findings() == []


def test_both_versions_in_one_build(repository, clone):
    other = ALPHA.replace("name: search", "name: other")
    repository(BETA, f"{NEIGHBOUR}---\n{other}")
    done = console.run("check")
    assert (done.code, "warning DYN674" in done.out) == (0, True)
    assert "base/neighbours.yaml" in done.out
    assert "DynamoGraphDeployment search in base/graph.yaml" in done.out
    piped = console.run("check", "-", stdin=clone.shell("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", "prod"))
    assert "warning DYN674" in piped.out
    clone.put({"base/neighbours.yaml": console.run("convert", clone.folder / "base/neighbours.yaml").out})
    assert "DYN674" not in findings()


def test_both_versions_in_two_roots_of_one_cluster(clone):
    """Roots of different clusters may have different versions, as during an upgrade."""
    for folder, text in (("eu/search", BETA), ("eu/other", ALPHA.replace("name: search", "name: other")), ("us/search", BETA)):
        layer = {"namespace": "team", "resources": ["graph.yaml"], "transformers": [FUNCTION]}
        clone.put({f"clusters/{folder}/graph.yaml": text, f"clusters/{folder}/kustomization.yaml": yaml.safe_dump(layer)})
    done = console.run("check")
    (line,) = [line for line in done.out.splitlines() if "DYN674" in line]
    assert all(text in line for text in ("the cluster eu", "clusters/eu/search/graph.yaml", "clusters/eu/other/graph.yaml"))
    clone.put({"clusters/eu/other/graph.yaml": BETA.replace("name: search", "name: other")})
    assert "DYN674" not in findings()


@pytest.mark.parametrize("use", [(), ("--for", "kustomize"), ("--for", "names")], ids=["editor", "kustomize", "names"])
@pytest.mark.parametrize("folder", ["prod", "base", "schemas", "."])
def test_our_own_schemas_are_no_resources(repository, clone, use, folder):
    """Copies in overlays, beside graphs and at the top of a repository, in a build and among plain files."""
    repository(BETA)
    name = "schema.yaml" if "names" in use else "schema.json"
    clone.put({f"{folder}/{name}": console.run("schema", *use).out})
    assert findings() == []
    clone.put({"plain/graph.yaml": BETA.replace("name: search", "name: other, namespace: team")})
    clone.put({f"plain/{name}": console.run("schema", *use).out})
    assert findings() == []
