"""`krm-fn check` finds keys and ports that an object in the input does not have."""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.review import missing_contents, resource_findings
from tests.support import beta, given
from tests.support.cases import cases

EXTERNAL = given.item("ExternalSecret", "token", api="external-secrets.io/v1")


def secret(**fields):
    return given.item("Secret", "token", **fields)


def promised(**spec):
    return EXTERNAL | {"spec": {"data": [{"secretKey": "HF_TOKEN", "remoteRef": {"key": "hf"}}], **spec}}


def variable(key, **fields):
    return {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "token", "key": key, **fields}}}]}


def volume(key):
    return {"volumes": [{"name": "t", "secret": {"secretName": "token", "items": [{"key": "A", "path": "a"}, {"key": key, "path": "b"}]}}]}


KEYS = [
    # reason, fields of the main container, fields of the pod, the objects, the last steps of the path, words of the message
    ("the only key", variable("token"), {}, [secret(stringData={"HF_TOKEN": "x"})], ("secretKeyRef", "key"), "; write HF_TOKEN"),
    (
        "a key with a slip",
        variable("HF_TOKNE"),
        {},
        [secret(data={"HF_TOKEN": "eA==", "B": ""})],
        ("secretKeyRef", "key"),
        "; write HF_TOKEN",
    ),
    (
        "one of several keys",
        variable("C"),
        {},
        [secret(data={"A": ""}, stringData={"B": "x"})],
        ("secretKeyRef", "key"),
        "; write one of A, B",
    ),
    (
        "the key with the name of the variable",
        {"env": [{"name": "AWS_SECRET_ACCESS_KEY", "valueFrom": {"secretKeyRef": {"name": "token", "key": "AWS_SECRET_KEY"}}}]},
        {},
        [secret(data={"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})],
        ("secretKeyRef", "key"),
        "; write AWS_SECRET_ACCESS_KEY",
    ),
    ("a key in a volume", {}, volume("C"), [secret(data={"A": "", "B": ""})], ("items", 1, "key"), "; write one of A, B"),
    ("a key of an External Secret", variable("token"), {}, [promised()], ("secretKeyRef", "key"), "; write HF_TOKEN"),
    ("more keys of an External Secret", variable("token"), {}, [promised(dataFrom=[{"extract": {"key": "hf"}}])], (), ""),
    ("a key that is there", variable("HF_TOKEN"), {}, [secret(stringData={"HF_TOKEN": "x"})], (), ""),
    ("keys of two states of one object", variable("B"), {}, [secret(data={"A": ""}), secret(data={"B": ""})], (), ""),
    ("an optional key", variable("token", optional=True), {}, [secret(stringData={"HF_TOKEN": "x"})], (), ""),
    ("an object without keys, which another program fills", variable("token"), {}, [secret()], (), ""),
    (
        "a Secret that a controller fills",
        variable("token"),
        {},
        [secret(data={"A": ""}, type="kubernetes.io/service-account-token")],
        (),
        "",
    ),
    ("a Secret of a controller", variable("token"), {}, [secret(data={"A": ""}), EXTERNAL], (), ""),
    ("a Secret from elsewhere", variable("token"), {}, [], (), ""),
    ("data of another type", variable("token"), {}, [secret(data=["A"])], (), ""),
]


@cases(("main", "pod", "around", "path", "words"), KEYS)
def test_keys_of_an_object_in_the_input(main, pod, around, path, words):
    graph = beta.graph(beta.component("Worker", main=main, pod=pod))
    findings = [*missing_contents.check_keys([graph, *around], Config())]
    assert [(finding.code, finding.severity, finding.path[-len(path) :]) for finding in findings] == [("DYN708", "warning", path)] * bool(
        path
    )
    assert all(finding.message.endswith(words) for finding in findings)


def ingress(**port):
    backend = {"service": {"name": "chat-frontend", "port": port}}
    rules = [{"host": "chat.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]
    return given.item("Ingress", "entry", api="networking.k8s.io/v1", spec={"rules": rules})


def route(name="chat-frontend", **fields):
    return given.item(
        "HTTPRoute", "entry", api="gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [{"name": name, **fields}]}]}
    )


PORTS = [
    # reason, the object with the port, the last steps of the path, words of the message
    ("a number in an Ingress", ingress(number=8080), ("port", "number"), "has no port 8080; write 8000"),
    ("a name in an Ingress", ingress(name="https"), ("port", "name"), "has no port https; write http"),
    ("a number in a route", route(port=80), ("backendRefs", 0, "port"), "has no port 80; write 8000"),
    ("the number of the port", ingress(number=8000), (), ""),
    ("the name of the port", ingress(name="http"), (), ""),
    ("the port in a route", route(port=8000), (), ""),
    ("another Service", route(name="other", port=80), (), ""),
    ("the Service of another namespace", route(namespace="other", port=80), (), ""),
    ("no port", route(), (), ""),
]


@cases(("entry", "path", "words"), PORTS)
def test_ports_of_rendered_services(entry, path, words):
    graph = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"))
    found = resource_findings.check([graph, entry], Config(), is_configured=False)
    findings = [finding for finding in found if finding.code == "DYN708"]
    assert [(finding.severity, finding.ref and finding.ref.name, finding.path[-len(path) :]) for finding in findings] == [
        ("warning", "entry", path)
    ] * bool(path)
    assert all(finding.message.endswith(words) for finding in findings)


def test_a_port_that_a_layer_added_to_the_service_is_there():
    graph = beta.graph(beta.component("Frontend", "frontend"))
    rendered = given.expanded(graph).resources
    service = next(resource for resource in rendered if (resource["kind"], resource["metadata"]["name"]) == ("Service", "chat-frontend"))
    patched = {**service, "spec": {**service["spec"], "ports": [*service["spec"]["ports"], {"name": "admin", "port": 8080}]}}
    for built, codes in (([graph, service], ["DYN708"]), ([graph, patched], [])):
        findings = missing_contents.check_ports([*built, ingress(number=8080)], rendered, Config())
        assert [finding.code for finding in findings] == codes


POOL = ("inference.networking.k8s.io", "InferencePool")
KINDS = [
    ("an older group", "inference.networking.x-k8s.io", "InferencePool", "group", "write group: inference.networking.k8s.io,"),
    ("another kind", "inference.networking.k8s.io", "Service", "kind", "write kind: InferencePool,"),
    ("a Service", "", "Service", "kind", "write kind: InferencePool and group: inference.networking.k8s.io,"),
    ("the pool", *POOL, "", ""),
]


@cases(("group", "kind", "field", "remedy"), KINDS)
def test_backends_with_the_name_of_an_object_of_another_kind(group, kind, field, remedy):
    """A graph makes the pool, and nothing in the input has its name otherwise."""
    rules = [{"backendRefs": [{"group": group, "kind": kind, "name": "chat-pool"}]}]
    entry = given.item("HTTPRoute", "chat", api="gateway.networking.k8s.io/v1", spec={"rules": rules})
    service = next(resource for resource in given.expanded(beta.graph()).resources if ownership.is_marked(resource))
    pool = {**service, "apiVersion": f"{POOL[0]}/v1", "kind": POOL[1], "metadata": {**service["metadata"], "name": "chat-pool"}}
    findings = [*missing_contents.check_backends([entry], [pool], Config())]
    assert [(finding.code, finding.path[-1], remedy in finding.message) for finding in findings] == [("DYN708", field, True)] * bool(remedy)
    other = given.item(kind, "chat-pool", api=f"{group}/v1" if group else "v1")
    assert [*missing_contents.check_backends([entry, other], [pool], Config())] == []


POOL_NAMES = [
    # reason, the group and the name of the backend, the remedy; empty for another kind
    ("the picker", POOL[0], "chat-epp", "write chat-pool, or"),
    ("the picker, and an older group", "inference.networking.x-k8s.io", "chat-epp", f"write chat-pool and group: {POOL[0]}, or"),
    ("a worker", POOL[0], "chat-decode", "write chat-pool, or"),
    ("the picker of another graph", POOL[0], "other-epp", "write kind: Service"),
    ("the pool", POOL[0], "chat-pool", ""),
]


@cases(("group", "name", "remedy"), POOL_NAMES)
def test_a_pool_with_the_name_of_a_service_means_the_pool_of_its_graph(group, name, remedy):
    """The kind says what the author means: a gateway cannot send requests to the Service of a picker."""
    template = next(resource for resource in given.expanded(beta.graph()).resources if ownership.is_marked(resource))

    def made(kind, name, graph, version="v1"):
        metadata = {**template["metadata"], "name": name, "labels": {**template["metadata"]["labels"], labels.GRAPH: graph}}
        return {**template, "apiVersion": version, "kind": kind, "metadata": metadata}

    services = [made("Service", name, name.partition("-")[0]) for name in ("chat-epp", "chat-decode", "other-epp")]
    rendered = [*services, made(POOL[1], "chat-pool", "chat", f"{POOL[0]}/v1")]
    entry = route(group=group, kind=POOL[1], name=name)
    findings = [*missing_contents.check_backends([entry], rendered, Config())]
    assert [(remedy in finding.message, finding.proposed) for finding in findings] == [
        (True, "chat-pool" if remedy == "write chat-pool, or" else None)
    ] * bool(remedy)


def test_a_component_in_a_route_with_the_name_of_its_graph():
    """Another route can name the Service of another program."""
    graph = beta.graph(beta.component("Frontend", "frontend"))
    for name, known in (("chat", ["chat-frontend"]), ("chat-api", ["chat-frontend"]), ("search", [])):
        entry = route(name="frontend")
        entry["metadata"]["name"] = name
        findings = resource_findings.check([graph, entry], Config(), is_configured=False)
        assert [finding.proposed for finding in findings if finding.code == "DYN708"] == known


BACKENDS = [
    ("a word too many", route(name="chat-frontend-svc"), "chat-frontend"),
    ("the name of the graph", route(name="chat"), "chat-frontend"),
    ("the right name", route(name="chat-frontend"), ""),
    ("the Service of another program", route(name="search"), ""),
    ("a name that begins alike", route(name="chat-frontends"), ""),
    ("another namespace", route(name="chat", namespace="other"), ""),
]


def test_a_backend_without_the_prefix_of_the_graph():
    """kustomize writes a prefix before the name of a graph, and not into routes. One word can be the Service of another program."""
    graph = beta.graph(beta.component("Frontend", "frontend"), name="eu-chat")
    for name, known in (("chat-frontend", ["eu-chat-frontend"]), ("frontend", [])):
        found = resource_findings.check([graph, route(name=name)], Config(), is_configured=False)
        assert [finding.proposed for finding in found if finding.code == "DYN708"] == known


def test_the_key_of_the_configuration_of_a_picker():
    graph = beta.graph({"name": "Epp", "type": "epp", "eppConfig": {"configMapRef": {"name": "epp", "key": "config.yaml"}}})
    findings = [*missing_contents.check_keys([graph, given.item("ConfigMap", "epp", data={"epp.yaml": "a"})], Config())]
    assert [(finding.code, finding.path[-2:], finding.proposed) for finding in findings] == [
        ("DYN708", ("configMapRef", "key"), "epp.yaml")
    ]


@cases(("entry", "known"), BACKENDS)
def test_backends_with_almost_the_name_of_a_rendered_service(entry, known):
    """A Service of this name in the input is the backend."""
    graph = beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker"))
    rendered = given.expanded(graph).resources
    findings = [*missing_contents.check_backends([graph, entry], rendered, Config())]
    assert [(finding.code, finding.severity, finding.proposed) for finding in findings] == [("DYN708", "warning", known)] * bool(known)
    others = [given.item("Service", finding.current) for finding in findings]
    assert [*missing_contents.check_backends([graph, entry, *others], rendered, Config())] == []
    found = resource_findings.check([graph, entry], Config(), is_configured=False)
    assert [finding.proposed for finding in found if finding.code == "DYN708" and finding.path[-1] == "name"] == [known] * bool(known)


FILES = [
    ("another ending", "/etc/trt/agg.yml", {}, "write /etc/trt/agg.yaml"),
    ("a slip", "/etc/trt/prefil.yaml", {}, "write /etc/trt/prefill.yaml"),
    ("a line for a shell", "exec python3 -m dynamo.trtllm --extra-engine-args=/etc/trt/agg.yml", {}, "write /etc/trt/agg.yaml"),
    ("a folder without a volume", "/etc/engine/agg.yaml", {}, "but agg.yaml is in /etc/trt; write /etc/trt/agg.yaml"),
    ("another file in such a folder", "/etc/engine/other.yaml", {}, ""),
    ("the right name", "/etc/trt/agg.yaml", {}, ""),
    ("a file that the mount hides", "/etc/trt/other.yaml", {}, "write one of agg.yaml, prefill.yaml, or add the key"),
    ("a name with a word more", "/etc/trt/prefill_config.yaml", {}, "write /etc/trt/prefill.yaml"),
    ("a file in a line", "cat /etc/trt/other.yaml", {}, ""),
    ("another folder", "/etc/trt-2/agg.yml", {}, ""),
    ("a folder below", "/etc/trt/more/agg.yml", {}, ""),
    ("a variable", "/etc/trt/agg.$KIND", {}, ""),
    ("chosen keys", "/etc/trt/agg.yml", {"items": [{"key": "agg.yaml", "path": "agg.yml"}]}, ""),
]


@cases(("word", "fields", "words"), FILES)
def test_files_of_a_mounted_config_map(word, fields, words):
    """The engine ends without its file."""
    engine = {**given.item("ConfigMap", "engine"), "data": {"agg.yaml": "a: 1", "prefill.yaml": "a: 1"}}
    main = {"args": ["--extra-engine-args", word], "volumeMounts": [{"name": "trt", "mountPath": "/etc/trt"}]}
    pod = {"volumes": [{"name": "trt", "configMap": {"name": "engine", **fields}}]}
    for graph in (
        beta.graph(beta.component("Worker", main=main, pod=pod)),
        given.graph({"Worker": given.service("worker", main=main, pod=pod)}),
    ):
        findings = [*missing_contents.check_keys([graph, engine], Config())]
        assert [(finding.code, finding.path[-2:]) for finding in findings if not fields] == [("DYN708", ("args", 1))] * bool(words)
        assert all(finding.message.endswith(words) for finding in findings if not fields)
        assert not any("has no file" in finding.message for finding in findings if fields)


def test_a_variable_with_a_file_of_a_mounted_config_map():
    """A variable of a service in v1alpha1 is one of its main container."""
    authority = given.item("ConfigMap", "ca", data={"ca.pem": "a"})
    main = {"volumeMounts": [{"name": "ca", "mountPath": "/etc/ca"}]}
    pod = {"volumes": [{"name": "ca", "configMap": {"name": "ca"}}]}
    for file, is_found in (("/etc/ca/ca.crt", True), ("/etc/ca/ca.pem", False), ("/etc/other/tls.crt", False)):
        env = [{"name": "SSL_CERT_FILE", "value": file}]
        for graph in (
            beta.graph(beta.component("Worker", main={**main, "env": env}, pod=pod)),
            given.graph({"Worker": given.service("worker", main=main, pod=pod, envs=env)}),
        ):
            found = [(finding.path[-1], finding.proposed) for finding in missing_contents.check_keys([graph, authority], Config())]
            assert found == [("value", "/etc/ca/ca.pem")] * is_found


ONLY_FILES = [
    ("the value of a flag", "/etc/trt/agg.yaml", {}, True),
    ("behind =", "--extra-engine-args=/etc/trt/agg.yaml", {}, True),
    ("a path in a line", "cat /etc/trt/agg.yaml", {}, False),
    ("a file of another volume", "/etc/trt/agg.yaml", {"volumeMounts": [{"name": "own", "mountPath": "/etc/trt/agg.yaml"}]}, False),
]


@cases(("word", "fields", "is_found"), ONLY_FILES)
def test_the_only_file_of_a_mounted_config_map(word, fields, is_found):
    """A ConfigMap is mounted read-only, so no program can write the file."""
    engine = given.item("ConfigMap", "engine", data={"engine.yaml": "a: 1"})
    mounts = [{"name": "trt", "mountPath": "/etc/trt"}, *fields.get("volumeMounts", ())]
    volumes = [{"name": "trt", "configMap": {"name": "engine"}}, {"name": "own", "emptyDir": {}}]
    graph = beta.graph(beta.component("Worker", main={"args": [word], "volumeMounts": mounts}, pod={"volumes": volumes}))
    findings = [*missing_contents.check_keys([graph, engine], Config())]
    assert [finding.message.rpartition("; ")[2] for finding in findings] == ["write /etc/trt/engine.yaml"] * is_found


POOLS = [
    ("no group", {"kind": "InferencePool"}, True),
    ("the core group", {"kind": "InferencePool", "group": ""}, True),
    ("the group of pools", {"kind": "InferencePool", "group": "inference.networking.k8s.io"}, False),
    ("a Service", {"kind": "Service"}, False),
    ("no kind", {}, False),
]


@cases(("fields", "is_found"), POOLS)
def test_a_pool_as_a_backend_needs_its_group(fields, is_found):
    graph = beta.graph(beta.component("Worker"))
    found = resource_findings.check([graph, route(name="elsewhere", **fields)], Config(), is_configured=False)
    groups = [finding.message.rpartition("; ")[2] for finding in found if finding.code == "DYN708"]
    assert groups == ["write group: inference.networking.k8s.io"] * is_found
