"""`krm-fn check` has one error for one mistake: it leaves out what a misspelt field or a broken command causes."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import paths
from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases


def mounted(*, flag="", **mount):
    fields: dict[str, Any] = {flag: 8192} if flag else {}
    return given.graph({"Worker": given.service("worker", volumeMounts=[mount], **fields)}, pvcs=[{"name": "models", "create": False}])


def variable(**source):
    return beta.graph(beta.component("Worker", main={"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", **source}}}]}))


def command(written):
    return beta.graph(beta.component("Worker", main={"command": written, "args": ["--model", "m"]}))


def args(*words):
    image = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
    main = {"image": image, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", *words]}
    return beta.graph(beta.component("Worker", main={**main, "resources": {"limits": {"nvidia.com/gpu": "8"}}}))


def sglang(*words):
    image = "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.6.1"
    main = {"image": image, "command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "m", *words]}
    return beta.graph(beta.component("Worker", main={**main, "resources": {"limits": {"nvidia.com/gpu": "8"}}}))


def sglang_model(word):
    main = {"image": "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.6.1", "command": ["python3", "-m", "dynamo.sglang"], "args": [word, "m"]}
    return beta.graph(beta.component("Worker", main=main))


def misspelt_args():
    return beta.graph(beta.component("Worker", main={"command": ["python3"], "arg": ["-m", "dynamo.vllm"]}))


def gpus(resources):
    graph = args("--tensor-parallel-size", "8")
    return paths.replace_at(graph, ("spec", "components", 0, "podTemplate", "spec", "containers", 0, "resources"), resources)


def volume(**source):
    return beta.graph(beta.component("Worker", pod={"volumes": [{"name": "v", **source}]}))


def claim(resources):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "models", "namespace": "a"}, "spec": spec}


def alpha(**fields):
    return given.graph({"Worker": {"componentType": "worker", **fields}})


def of_sglang(*words):
    """A command of vLLM with the image and the flags of SGLang."""
    main = {"image": "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.6.1", "command": ["python3", "-m", "dynamo.vllm"], "args": [*words]}
    return beta.graph(beta.component("Worker", main={**main, "resources": {"limits": {"nvidia.com/gpu": "8"}}}))


MAIN = {"name": "main", "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}
NODES = {
    "nodeCount": 2,
    "resources": {"limits": {"gpu": "8"}},
    "extraPodSpec": {
        "mainContainer": {"image": MAIN["image"], "command": ["python3", "-m", "dynamo.vllm"], "args": ["--tensor-parallel-size", "16"]}
    },
}


def affinity(terms):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return beta.graph(beta.component("Worker", pod={"affinity": {"podAntiAffinity": required}}))


def backend(**fields):
    path = {"path": "/", "pathType": "Prefix", "backend": fields}
    spec = {"rules": [{"http": {"paths": [path]}}]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "chat", "namespace": "a"}, "spec": spec}


def main_of(**fields):
    return beta.graph(beta.component("Worker", main=fields))


ROWS = [
    ("a pod under the field of v1beta1", alpha(podTemplate={"mainContainer": {}}), ["DYN023"]),
    ("a main container in the form of v1alpha1", beta.graph({"name": "W", "podTemplate": {"spec": {"mainContainer": MAIN}}}), ["DYN029"]),
    (
        "the main container of several nodes in the form of v1beta1",
        alpha(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}}, extraPodSpec={"containers": [MAIN]}),
        ["DYN205"],
    ),
    ("nodes beside multinode", alpha(**NODES), ["DYN023"]),
    ("the module of another engine", of_sglang("--model-path", "m", "--tp", "8"), ["DYN639"]),
    ("the same with flags of both", of_sglang("--model-path", "m", "--max-model-len", "1k5"), ["DYN605", "DYN639"]),
    ("a Secret with the name of another field", volume(secret={"name": "s"}), ["DYN029"]),
    ("a ConfigMap with such a name", volume(configMap={"configMapName": "s"}), ["DYN029"]),
    ("a claim with such a name", volume(persistentVolumeClaim={"name": "s"}), ["DYN029"]),
    ("an entry with a weight in a required rule", affinity([{"weight": 1, "podAffinityTerm": {"topologyKey": "a"}}]), ["DYN029", "DYN029"]),
    ("the old form of a backend", backend(serviceName="chat-frontend", servicePort=8000), ["DYN029", "DYN029"]),
    ("a size a level too high", claim({"storage": "1Gi"}), ["DYN029"]),
    ("a variable without name and value", beta.graph(beta.component("Worker", main={"env": [{"A": "b"}]})), ["DYN029"]),
    ("a required field with another name", mounted(name="models", mountPath="/m"), ["DYN023"]),
    ("the same of Kubernetes", variable(keys="k"), ["DYN029"]),
    ("a required field that is missing", variable(), ["DYN022"]),
    ("an unknown field of another meaning", variable(zone="z"), ["DYN022", "DYN029"]),
    ("a command that is no list", command("python3 -m dynamo.vllm"), ["DYN021"]),
    ("an argument that is a number", args("--tensor-parallel-size", 8), ["DYN021"]),
    ("GPUs beside limits", gpus({"nvidia.com/gpu": "8"}), ["DYN029"]),
    ("GPUs under a misspelt field", gpus({"limit": {"nvidia.com/gpu": "8"}}), ["DYN029"]),
    ("too few GPUs", gpus({"limits": {"nvidia.com/gpu": "2"}}), ["DYN612"]),
    ("a list without a program", command([]), ["DYN623"]),
    ("a required flag under another name", sglang_model("--model_path"), ["DYN600"]),
    ("a required flag behind a number", sglang_model(8), ["DYN021"]),
    ("arguments under a misspelt field", misspelt_args(), ["DYN029"]),
    ("a GPU without its group", gpus({"limits": {"gpu": "8"}}), ["DYN229"]),
    ("a pod under the field of v1alpha1", beta.graph({"name": "W", "type": "worker", "extraPodSpec": {}}), ["DYN023"]),
    ("components of v1alpha1", {**args(), "spec": {"services": {"W": given.service("worker")}}}, ["DYN023"]),
]


@cases(("graph", "codes"), ROWS)
def test_a_mistake_has_one_error(graph, codes):
    findings = resource_findings.check([graph], Config(), is_configured=False)
    assert sorted(finding.code for finding in findings if finding.severity == "error") == codes


IMAGE = {"extraPodSpec": {"mainContainer": {"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}}}
FIXES = [
    ("a model in a service", alpha(model="acme/tiny", **IMAGE), "write --model in the args of the container main"),
    ("GPUs of a service", alpha(gpus=2, **IMAGE), 'write resources.limits.gpu: "2"'),
    ("GPUs of a container", main_of(gpus="2"), 'write resources.limits: nvidia.com/gpu: "2",'),
    ("bounds in a service", alpha(minReplicas=2, **IMAGE), "write scalingAdapter: {enabled: true}, and the bounds in an autoscaler"),
    (
        "bounds in a component",
        beta.graph({**beta.component("W"), "maxReplicas": 2}),
        "write scalingAdapter: {}, and the bounds in an autoscaler",
    ),
    ("a word for GPUs", main_of(resources={"limits": {"nvidia.com/gpu": "all"}}), "is not a quantity; write a whole number"),
    ("an entry point", main_of(entrypoint=["a"]), "; write command,"),
    ("an environment", main_of(environment=["A=b"]), "; write env, a list of entries with name and value,"),
    ("a restart", main_of(restart="always"), "; remove it, because Kubernetes restarts the containers"),
    ("shared memory of a container", main_of(shm_size="16gb"), "; write sharedMemorySize in the component,"),
    ("a value beside its variable", main_of(env=[{"name": "A"}], value="b"), "; indent it below name: A, in env,"),
    ("a Secret of a key", variable(secretName="s", key="k"), "; write name,"),
    ("the path of a probe", main_of(readinessProbe={"path": "/live"}), "; write httpGet.path,"),
    ("the port of a check of TCP", main_of(readinessProbe={"tcpSocket": "system"}), "; write port: system below it"),
    (
        "an image in the form of a chart",
        main_of(image={"repository": "nvcr.io/a/b", "tag": "1.6.1"}),
        "; write image: nvcr.io/a/b:1.6.1",
    ),
    (
        "a main container of v1beta1",
        alpha(extraPodSpec={"containers": [MAIN]}),
        "write the fields of this container in mainContainer, without name: main, and remove it from containers",
    ),
    ("a name in place of an entry", beta.graph(beta.component("W", pod={"imagePullSecrets": ["regcred"]})), "; write - name: regcred"),
    ("a Secret", volume(secret={"name": "s"}), "write secretName,"),
    ("a claim", volume(persistentVolumeClaim={"pvcName": "s"}), "write claimName,"),
    ("a size", claim({"storage": "1Gi"}), "move it below requests,"),
    ("a variable", beta.graph(beta.component("Worker", main={"env": [{"A": "b"}]})), "write name: A, and below it value: with its value,"),
    (
        "a no-break space before a field",
        beta.graph(beta.component("Worker", main={"\u00a0 args": ["a"]})),
        "write blanks in place of the character U+00A0 beside args,",
    ),
    ("a blank behind a field", beta.graph(beta.component("Worker", main={"args ": ["a"]})), "; write args,"),
    (
        "a Secret in the form of v1alpha1",
        beta.graph(beta.component("Worker", main={"envFromSecret": "s"})),
        "write envFrom: [{secretRef: {name: s}}],",
    ),
    ("a pod template under the field of v1alpha1", beta.graph({"name": "W", "extraPodSpec": {"spec": {}}}), "; write podTemplate"),
    (
        "components of v1alpha1",
        {**args(), "spec": {"services": {"W": given.service("worker")}}},
        "its entries have the form of nvidia.com/v1alpha1: write this apiVersion,",
    ),
    ("a flag as a field", mounted(name="models", mountPoint="/m", flag="max-model-len"), "write --max-model-len and its value in the args"),
    ("a list at a level too deep", beta.graph(beta.component("W", pod={"nodeSelector": {"volumes": []}})), "it belongs in "),
    (
        "an entry without its dash",
        beta.graph(beta.component("W", main={"env": {"name": "A", "value": "b"}})),
        "put a dash before its first",
    ),
    ("no blank behind a colon", given.graph({"W": {"extraPodSpec": {"mainContainer": "image:a/b:1"}}}), "behind the colon: image: a/b:1"),
    ("more GPUs than a node has", args("--tensor-parallel-size", "16"), "; set multinode.nodeCount: 2, or lower the parallel sizes"),
    ("a blank in the name of a model", args("--model", "acme/tiny "), "has a blank at its end; write acme/tiny"),
    ("another version", {**args(), "apiVersion": "nvidia.com/v1"}, "; write nvidia.com/v1beta1"),
    ("blanks of two kinds", beta.graph(beta.component("Worker", main={" \u00a0args": ["a"]})), "of the character U+00A0 beside args,"),
    (
        "GPUs that copies share",
        sglang("--tp-size", "8", "--dp-size", "8"),
        "add --enable-dp-attention, with which the data parallel ranks share these GPUs, or",
    ),
    ("an entry with a colon", args({"--max-num-seqs": 8}), "write two entries without the colon, - --max-num-seqs, and below it its value"),
    (
        "a file without the sign of a text",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "a"}, "data": {"a.yaml": {"b": 1, "c": 2}}},
        "write a.yaml: | with the lines of its text below it",
    ),
    (
        "a variable with its value in the name",
        beta.graph(beta.component("Worker", main={"env": [{"name": "A=b"}]})),
        "write name: A, and the text behind = as its value",
    ),
    (
        "a field in another case",
        beta.graph(beta.component("Worker", main={"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.UID"}}}]})),
        "write it as in metadata.uid,",
    ),
]


@cases(("graph", "fix"), FIXES)
def test_the_fix_of_the_error_is_what_the_author_means(graph, fix):
    findings = resource_findings.check([graph], Config(), is_configured=False)
    assert [fix in finding.message for finding in findings if finding.severity == "error"] == [True]


def test_an_abbreviated_variable_means_the_whole_name():
    graph = args("--kv-transfer-config", "$(KV_TRANSFER_CFG)", "--tensor-parallel-size", "8")
    env = [{"name": "KV_TRANSFER_CONFIG", "value": "{}"}, {"name": "KV_TRANSFER_PORT", "value": "1"}]
    graph = paths.replace_at(graph, ("spec", "components", 0, "podTemplate", "spec", "containers", 0, "env"), env)
    findings = resource_findings.check([graph], Config(), is_configured=False)
    (message,) = [finding.message for finding in findings if finding.code == "DYN627"]
    assert message.endswith("write $(KV_TRANSFER_CONFIG), or add the variable")


def test_a_model_gets_the_namespace_of_the_graph_that_serves_it():
    spec = {"modelName": "m", "baseModelName": "acme/tiny"}
    model = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "m", "namespace": "a"}, "spec": spec}
    graph = given.graph({"Worker": given.service("worker", modelRef={"name": "acme/tiny"})}, namespace="other")
    findings = resource_findings.check([graph, model], Config(), is_configured=False)
    (message,) = [finding.message for finding in findings if finding.code == "DYN175"]
    assert message.endswith("write metadata.namespace: other, in which a service serves it")


def test_a_broken_entry_hides_that_events_are_missing():
    """The flag can be behind the entry."""
    frontend = beta.component("Frontend", "frontend", main={"env": [{"name": "DYN_ROUTER_MODE", "value": "kv"}]})
    for words, codes in ((["--max-num-seqs", 8], ["DYN021"]), ([], ["DYN514"])):
        graph = beta.graph(frontend, args(*words)["spec"]["components"][0])
        findings = resource_findings.check([graph], Config(), is_configured=False)
        assert [finding.code for finding in findings if finding.code in ("DYN021", "DYN514")] == codes


def test_a_broken_entry_hides_that_a_model_is_missing():
    """The flag can be behind the entry, or in it."""
    graph = beta.graph(beta.component("Frontend", "frontend"), args({"--max-num-seqs": 8})["spec"]["components"][0])
    main = graph["spec"]["components"][1]["podTemplate"]["spec"]["containers"][0]
    main["args"] = ["--served-model-name", "acme/tiny", {"--model": "acme/tiny"}]
    for broken, codes in ((main["args"], ["DYN021"]), (main["args"][:2], ["DYN718"])):
        main["args"] = broken
        findings = resource_findings.check([graph], Config(), is_configured=False)
        assert [finding.code for finding in findings if finding.code in ("DYN021", "DYN718")] == codes
