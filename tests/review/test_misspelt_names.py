"""`krm-fn check` finds names that are a slip for a name in the input, and accepts names of objects that may come from elsewhere."""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.review import misspelt_names, resource_findings
from tests.support import beta, given
from tests.support.cases import cases

CLAIM = given.item("PersistentVolumeClaim", "model-cache")
SECRET = given.item("Secret", "hf-token")
ENGINE = given.item("ConfigMap", "engine-config")
EXTERNAL = given.item("ExternalSecret", "outside", api="external-secrets.io/v1", spec={"target": {"name": "pull-secret"}})


def worker(*, pod=None, main=None):
    return beta.graph(beta.component("Worker", pod=pod, main=main))


def with_claim(name):
    return worker(pod={"volumes": [{"name": "models", "persistentVolumeClaim": {"claimName": name}}]})


def with_pvcs(name, mounted, *, create=True, declared=None):
    service = given.service("worker", volumeMounts=[{"name": mounted, "mountPoint": "/models"}])
    return given.graph({"Worker": service}, pvcs=[{"name": name, "create": create}] if declared is None else [*declared])


def with_mounts(*names):
    mounts = [{"name": name, "mountPath": f"/m{number}"} for number, name in enumerate(names)]
    return worker(main={"volumeMounts": mounts}, pod={"volumes": [{"name": "models", "emptyDir": {}}]})


def with_mount(name):
    return with_mounts(name)


def alpha_mount(version, *, name="datasets", **fields):
    main = {"image": f"registry.example/vllm-runtime:{version}", "volumeMounts": [{"name": name, "mountPath": "/m"}]}
    return given.graph({"Worker": given.service("worker", main=main, **fields)})


def with_plugin(name):
    plugins = [{"type": "dyn-decode-scorer", "name": "dyn-decode"}, {"type": "max-score-picker"}]
    config = {"plugins": plugins, "schedulingProfiles": [{"name": "decode", "plugins": [{"pluginRef": name}]}]}
    return beta.graph(beta.component("Epp", "epp", eppConfig={"config": config}))


def with_secret(name, **fields):
    variable = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "t", **fields}}}
    return worker(main={"env": [variable]})


SLIPS = [
    # reason, graph, the last steps of the path, the name that the input has
    ("two letters in the wrong order", with_claim("modle-cache"), ("claimName",), "model-cache"),
    ("a letter too many", with_secret("hf-tokens"), ("secretKeyRef", "name"), "hf-token"),
    ("one word for a claim too many", with_claim("model-cache-pvc"), ("claimName",), "model-cache"),
    ("another separator", with_claim("model_cache"), ("claimName",), "model-cache"),
    ("a Secret for all its keys", worker(main={"envFrom": [{"secretRef": {"name": "hf-tokne"}}]}), ("secretRef", "name"), "hf-token"),
    ("a Secret of a service", given.graph({"W": given.service("worker", envFromSecret="hf-tokn")}), ("envFromSecret",), "hf-token"),
    (
        "a Secret of a controller",
        worker(pod={"imagePullSecrets": [{"name": "pull-secrets"}]}),
        ("imagePullSecrets", 0, "name"),
        "pull-secret",
    ),
    (
        "a ConfigMap in a volume",
        worker(pod={"volumes": [{"name": "c", "configMap": {"name": "engine-configs"}}]}),
        ("configMap", "name"),
        "engine-config",
    ),
    ("a claim that the graph creates", with_pvcs("weights", "wieghts"), ("volumeMounts", 0, "name"), "weights"),
    ("a claim that the graph only names", with_pvcs("weights", "weight", create=False), ("volumeMounts", 0, "name"), "weights"),
    ("a declared claim of the input", with_pvcs("models-cache", "models-cache", create=False), ("pvcs", 0, "name"), "model-cache"),
    ("a volume of the pod", with_mount("model"), ("volumeMounts", 0, "name"), "models"),
    ("a mounted claim", with_mount("model-cach"), ("volumeMounts", 0, "name"), "model-cache"),
    ("the only volume that nothing mounts", with_mount("scratch-volume"), ("volumeMounts", 0, "name"), "models"),
    ("the only claim that no service mounts", with_pvcs("weights", "datasets"), ("volumeMounts", 0, "name"), "weights"),
    ("a plugin", with_plugin("dyn-decoder"), ("plugins", 0, "pluginRef"), "dyn-decode"),
    ("the type of a plugin with a name", with_plugin("dyn-decode-scorer"), ("plugins", 0, "pluginRef"), "dyn-decode"),
    ("a plugin with the name of its type", with_plugin("max-score-pickers"), ("plugins", 0, "pluginRef"), "max-score-picker"),
]


@cases(("graph", "path", "known"), SLIPS)
def test_a_slip_is_a_warning_with_the_known_name(graph, path, known):
    findings = [*misspelt_names.check([graph, CLAIM, SECRET, ENGINE, EXTERNAL], Config())]
    assert [(finding.code, finding.severity, finding.proposed) for finding in findings][:1] == [("DYN707", "warning", known)]
    assert findings[0].path[-len(path) :] == path
    assert f"write {known}, " in findings[0].message
    found = resource_findings.check([graph, CLAIM, SECRET, ENGINE, EXTERNAL], Config(), is_configured=False)
    assert "DYN707" in {finding.code for finding in found}


RIGHT = [
    ("the name of the input", with_claim("model-cache")),
    ("an object from elsewhere", with_secret("other-token")),
    ("a claim of another name", with_claim("datasets-pvc")),
    ("a name with a number more", with_secret("hf-token2")),
    ("a part with another letter", with_claim("model-cacha-a")),
    ("an optional object", with_secret("hf-tokens", optional=True)),
    ("a claim of one's own", with_pvcs("models-cache", "models-cache")),
    ("a mounted claim that the input has", with_mount("model-cache")),
    ("a volume", with_mount("models")),
    ("a plugin", with_plugin("dyn-decode")),
    ("the type of a named plugin", with_plugin("prefix-scorer")),
    ("another namespace", beta.graph(namespace="other", env=[{"valueFrom": {"secretKeyRef": {"name": "hf-tokens"}}}])),
]


@cases("graph", RIGHT)
def test_a_right_name_and_one_of_another_object_are_no_slips(graph):
    assert [*misspelt_names.check([graph, CLAIM, SECRET, ENGINE, EXTERNAL], Config())] == []


def with_secrets(*names):
    services = {f"W{number}": given.service("worker", envFromSecret=name) for number, name in enumerate(names)}
    return given.graph({**services, "Frontend": given.service("frontend", envFromSecret="s3-token-secret")})


WORDS = [
    # reason, the Secrets of the workers, those of the input, the right name, the findings
    ("the longer one", ["hf", "hf-secret"], [], "hf-secret", 1),
    ("the one that more read", ["hf", "hf", "hf-secret"], [], "hf", 1),
    ("the one of the input", ["hf", "hf-secret", "hf-secret"], ["hf"], "hf", 2),
    ("both in the input", ["hf", "hf-secret"], ["hf", "hf-secret"], "", 0),
    ("other words", ["hf-token", "s3-token"], [], "", 0),
]


@cases(("names", "known", "right", "count"), WORDS)
def test_secrets_that_differ_in_the_word_for_a_secret(names, known, right, count):
    found = [*misspelt_names.check([with_secrets(*names), *(given.item("Secret", name) for name in known)], Config())]
    assert [(finding.code, finding.severity) for finding in found] == [("DYN707", "info")] * count
    assert all(f"; write {right}, " in finding.message for finding in found)


PULLS = [
    # reason, the pull secret of each component, the Secrets of the input, the name that is meant
    ("two letters in the wrong order", ["nvcr-pull", "nvcr-pull", "ncvr-pull"], [], "nvcr-pull"),
    ("a letter less", ["nvcr-pull", "nvcr-pul"], [], "nvcr-pull"),
    ("both in the input", ["nvcr-pull", "nvcr-pul"], ["nvcr-pull", "nvcr-pul"], ""),
    ("names that differ on purpose", ["team-a", "team-b"], [], ""),
    ("one name", ["nvcr-pull", "nvcr-pull"], [], ""),
]


@cases(("names", "known", "right"), PULLS)
def test_pull_secrets_of_one_graph(names, known, right):
    components = [beta.component(f"W{number}", pod={"imagePullSecrets": [{"name": name}]}) for number, name in enumerate(names)]
    found = [*misspelt_names.check([beta.graph(*components), *(given.item("Secret", name) for name in known)], Config())]
    assert [(finding.code, finding.proposed, finding.path[2]) for finding in found] == [("DYN707", right, len(names) - 1)] * bool(right)


UNDECLARED = [
    # reason, graph, the last steps of the path, words of the fix
    ("no volume of v1beta1", with_mounts("datasets", "models"), ("volumeMounts", 0, "name"), "add the volume datasets to volumes"),
    ("no volume of v1alpha1 since 1.0", alpha_mount("1.2.0"), ("mainContainer", "volumeMounts", 0, "name"), "add the volume datasets"),
    (
        "no claim of a graph",
        with_pvcs("datasets", "datasets", declared=()),
        ("volumeMounts", 0, "name"),
        "add name: datasets and create: false to spec.pvcs",
    ),
]


@cases(("graph", "path", "words"), UNDECLARED)
def test_a_claim_that_a_graph_does_not_declare_is_a_note(graph, path, words):
    """The claim may be in the cluster. With the claim in the input there is no note."""
    findings = [*misspelt_names.check([graph, CLAIM], Config())]
    assert [(finding.code, finding.severity, finding.path[-len(path) :]) for finding in findings] == [("DYN711", "info", path)]
    assert words in findings[0].message
    assert [*misspelt_names.check([graph, CLAIM, given.item("PersistentVolumeClaim", "datasets")], Config())] == []


def test_a_volume_that_another_pod_has_is_forgotten():
    """The claim of this volume is probably meant, and not one with the name of the volume."""
    other = beta.component("Frontend", "frontend", pod=with_claim("model-cache")["spec"]["components"][0]["podTemplate"]["spec"])
    graph = beta.graph(other, beta.component("Worker", main={"volumeMounts": [{"name": "models", "mountPath": "/m"}]}))
    (finding,) = misspelt_names.check([graph, CLAIM], Config())
    assert (finding.code, finding.severity, finding.path[:3]) == ("DYN711", "warning", ("spec", "components", 1))
    assert finding.message.endswith("; add the volume models with persistentVolumeClaim.claimName: model-cache, as another pod has it")


QUIET = [
    ("an error of Dynamo 0.9", alpha_mount("0.9.0")),
    ("the default shared memory", worker(main={"volumeMounts": [{"name": "shared-memory", "mountPath": "/m"}]})),
    ("a mount without a name", worker(main={"volumeMounts": [{"mountPath": "/m"}]})),
    (
        "a claim of a service, mounted again",
        alpha_mount("1.2.0", volumeMounts=[{"name": "model-cache", "mountPoint": "/d"}], name="model-cache"),
    ),
]


@cases("graph", QUIET)
def test_no_note_for_a_mount_that_means_something_else(graph):
    assert [*misspelt_names.check([graph, CLAIM], Config())] == []


def test_an_object_of_the_missing_name_is_no_slip():
    """Two objects may have similar names."""
    assert [*misspelt_names.check([with_claim("models-cache"), CLAIM, given.item("PersistentVolumeClaim", "models-cache")], Config())] == []


def test_fields_of_any_type_are_read():
    graph = beta.graph({"podTemplate": {"spec": {"containers": [3, {"name": "main", "volumeMounts": "a"}]}}, "eppConfig": {"config": [1]}})
    assert [*misspelt_names.check([graph, {**graph, "spec": []}, {**graph, "spec": {"pvcs": [3, {"name": 4}]}}], Config())] == []


UNREAD = [
    ("a word less", "hf-token-secret", ["hf-token"], "hf-token"),
    ("a word more", "hf-token", ["hf-token-v2"], "hf-token-v2"),
    ("another word for Hugging Face, and a word less", "hf-token-secret", ["huggingface-token"], "huggingface-token"),
    ("a word more in the middle", "hf-secret", ["hf-token-secret"], "hf-token-secret"),
    ("two that it can mean", "hf-token", ["hf-token-a", "hf-token-b"], ""),
    ("one word in common", "other-token", ["hf-token"], ""),
    ("one word alone", "token", ["hf-token"], ""),
    ("two words more", "hf-token", ["hf-token-of-team"], ""),
    ("a missing word at both", "hf-token-a", ["hf-token-b"], ""),
    ("another word for it", "epp-settings", ["epp-config"], "epp-config"),
    ("another form of a word", "compilation-cache", ["compile-cache"], "compile-cache"),
    ("the plural of a short word", "engine-aggs", ["engine-agg"], "engine-agg"),
    ("a number as a word", "2-gpus", ["two-gpus"], "two-gpus"),
    ("another number", "2-gpus", ["four-gpus"], ""),
]


@cases(("name", "secrets", "known"), UNREAD)
def test_an_object_that_nothing_reads_is_meant(name, secrets, known):
    """With a reader of the object there is no finding: then it is there for that one."""
    objects = [given.item("Secret", secret) for secret in secrets]
    findings = [*misspelt_names.check([with_secret(name), *objects], Config())]
    assert [(finding.code, finding.severity, finding.proposed) for finding in findings] == [("DYN707", "warning", known)] * bool(known)
    readers = [beta.graph(beta.component("W", main={"envFrom": [{"secretRef": {"name": secret}}]}), name="reader") for secret in secrets]
    assert [*misspelt_names.check([with_secret(name), *objects, *readers], Config())] == []


READERS = [
    ("a claim of a cache", "PersistentVolumeClaim", "v1", {"compilationCache": {"pvcName": "gpu-settings"}}),
    ("a configuration of a picker", "ConfigMap", "v1", {"eppConfig": {"configMapRef": {"name": "gpu-settings", "key": "a"}}}),
    (
        "a template of claims",
        "ResourceClaimTemplate",
        "resource.k8s.io/v1",
        {"podTemplate": {"spec": {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "gpu-settings"}]}}},
    ),
]


@cases(("kind", "api", "fields"), READERS)
def test_every_field_with_the_name_of_an_object_is_compared(kind, api, fields):
    graph = beta.graph({"name": "Worker", "type": "worker", **fields})
    findings = [*misspelt_names.check([graph, given.item(kind, "gpu-config", api=api)], Config())]
    assert [(finding.code, finding.proposed) for finding in findings] == [("DYN707", "gpu-config")]


def test_a_name_with_the_hash_of_kustomize_is_not_to_be_written():
    """The hash changes with each change of the content."""
    config = given.item("ConfigMap", "engine-settings-b2h5cbc274")
    graph = worker(main={"envFrom": [{"configMapRef": {"name": "engine-settings"}}]})
    (finding,) = misspelt_names.check([graph, config], Config())
    assert (finding.code, finding.proposed) == ("DYN707", None)
    assert "; set disableNameSuffixHash: true" in finding.message


def secret_in(namespace, **annotations):
    metadata = {"name": "hf-token", "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def secret_without_namespace():
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hf-token"}}


def graph_in(namespace):
    main = {"envFrom": [{"secretRef": {"name": "hf-token"}}]}
    return {**(graph := worker(main=main)), "metadata": {**graph["metadata"], "name": f"of-{namespace}", "namespace": namespace}}


def rendered_in(namespace):
    """A graph as a render prints it: whoever applies the objects, such as Argo CD, adds the namespace of the others."""
    graph = graph_in(namespace)
    return {**graph, "metadata": {**graph["metadata"], "annotations": {labels.RENDERED_BY: "krm-fn 0.1.0 v1.6 {}"}}}


NAMESPACES = [
    ("another namespace", [graph_in("team"), secret_in("default")], True),
    ("the same namespace", [graph_in("team"), secret_in("team")], False),
    ("both namespaces", [graph_in("team"), secret_in("team"), secret_in("default")], False),
    ("two other namespaces", [graph_in("team"), secret_in("a"), secret_in("b")], False),
    ("a copied Secret", [graph_in("team"), secret_in("default", **{"reflector.v1.k8s.emberstack.com/reflection-allowed": "true"})], False),
    ("no namespace", [graph_in("team"), secret_without_namespace()], True),
    ("no namespace, beside a render", [rendered_in("team"), secret_without_namespace()], False),
    ("no namespace, and the same one", [graph_in("team"), secret_without_namespace(), secret_in("team")], False),
    ("no namespace in both", [{**graph_in("team"), "metadata": {"name": "g"}}, secret_without_namespace()], False),
    ("a reader beside the Secret", [graph_in("team"), secret_in("default"), graph_in("default")], False),
    ("a graph without a namespace", [{**graph_in("team"), "metadata": {"name": "g"}}, secret_in("default-2")], False),
]


@cases(("resources", "is_found"), NAMESPACES)
def test_an_object_of_another_namespace_is_not_read(resources, is_found):
    """Pods read Secrets, ConfigMaps and claims of their own namespace."""
    findings = [finding.message for finding in misspelt_names.check(resources, Config())]
    assert ["write namespace: team in the Secret" in message for message in findings] == [True] * is_found


JOBS = [
    # reason, the claim of the Job, the claim that is meant; empty for none
    ("a word for a claim", "model-cache-pvc", "model-cache"),
    ("such a word before the name", "pvc-model-cache", "model-cache"),
    ("no such word", "datasets", "datasets-pvc"),
    ("a slip", "modle-cache", "model-cache"),
    ("the claim", "model-cache", ""),
    ("another word, for a copy", "model-cache-staging", ""),
    ("two such names", "logs", ""),
    ("another name", "prompts", ""),
]


@cases(("name", "known"), JOBS)
def test_the_claim_of_a_job(name, known):
    """A Job fills the claim that a graph reads. The claim of a Job alone can be in the cluster."""
    volumes = [{"name": "models", "persistentVolumeClaim": {"claimName": name}}]
    job = given.item("Job", "download", api="batch/v1", spec={"template": {"spec": {"volumes": volumes}}})
    claims = [given.item("PersistentVolumeClaim", other) for other in ("datasets-pvc", "logs-pvc", "logs-claim")]
    findings = [*misspelt_names.check([CLAIM, *claims, job], Config())]
    assert [(finding.code, finding.path[-1], finding.proposed) for finding in findings] == [("DYN707", "claimName", known)] * bool(known)
    assert [*misspelt_names.check([job], Config())] == []
