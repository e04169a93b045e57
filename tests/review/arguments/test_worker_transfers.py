"""The workers of a graph that transfer key-value caches agree in mode, component type and settings."""

from __future__ import annotations

from tests.review.arguments.test_argument_findings import IMAGE, NIXL, OTHER, codes, findings, pair, worker
from tests.support import given
from tests.support.cases import cases


def of_version(version, prefill, decode):
    """A pair with images of another version."""
    graph = pair(f"--model a {prefill}", f"--model a {decode}")
    for service in graph["spec"]["services"].values():
        service["extraPodSpec"]["mainContainer"]["image"] = f"{IMAGE}:{version}"
    return graph


def test_before_dynamo_1_0_a_worker_has_a_connector_by_default():
    """`--connector` had the default `nixl` in 0.9."""
    assert codes(of_version("0.9.1", "--is-prefill-worker", "--is-decode-worker"), behaviour="v1.5") == []


PREFILL, DECODE = "--disaggregation-mode prefill", "--disaggregation-mode decode"
BOTH = [("error", "DYN635"), ("warning", "DYN635")]
TRANSFERS = [
    ("the first release without a default", "1.0.0", "--is-prefill-worker", "--is-decode-worker", BOTH),
    ("a newer one", "1.6.1", PREFILL, DECODE, BOTH),
    ("a patch without a table of its own", "1.6.9", PREFILL, DECODE, [("warning", "DYN635")] * 2),
    (
        "the flag in fields",
        "1.5.1",
        f"{PREFILL} --kv-transfer-config.kv_connector NixlConnector",
        f"{DECODE} --kv-transfer-config {NIXL}",
        [],
    ),
    (
        "a flag that vLLM reads as no value",
        "1.5.1",
        f"{PREFILL} --kv-transfer-config None",
        f"{DECODE} --kv-transfer-config {NIXL}",
        BOTH[:1],
    ),
    ("flags in a file", "1.5.1", f"{PREFILL} --config a.yaml", DECODE, []),
    ("a process without an endpoint", "1.5.1", f"{PREFILL} --headless", f"{DECODE} --kv-transfer-config {NIXL}", BOTH[:1]),
    ("another role", "1.3.1", f"{PREFILL} --enable-multimodal --multimodal-worker", f"{DECODE} --kv-transfer-config {NIXL}", BOTH[:1]),
    ("a decode worker alone", "1.5.1", "--enforce-eager", DECODE, []),
]


@cases(("version", "prefill", "decode", "expected"), TRANSFERS)
def test_a_worker_without_a_transfer_is_found(version, prefill, decode, expected):
    """A prefill worker ends at its start, whatever else it does, and a decode worker beside it has no cache to read."""
    found = findings(of_version(version, prefill, decode), behaviour="v1.5")
    transfers = [(finding.severity, finding.code) for finding in found if finding.code == "DYN635"]
    assert sorted(transfers) == expected


REMEDIES = [("one role up to 1.5", "1.5.1", ("kv_both", "kv_both")), ("two roles", "1.6.1", ("kv_producer", "kv_consumer"))]


@cases(("version", "roles"), REMEDIES)
def test_the_remedy_of_a_missing_transfer_is_complete(version, roles):
    """The examples of `dynamo/vllm/args.py` have these roles. Applied, no finding is left."""
    found = findings(of_version(version, PREFILL, DECODE), behaviour="v1.5")
    remedies = [finding.message.partition("; add ")[2].replace("'", "") for finding in sorted(found)]
    assert remedies == [f'--kv-transfer-config {{"kv_connector":"NixlConnector","kv_role":"{role}"}}' for role in roles]
    assert codes(of_version(version, f"{PREFILL} {remedies[0]}", f"{DECODE} {remedies[1]}"), behaviour="v1.5") == []


def test_the_remedy_names_the_connector_of_the_other_worker():
    """Only NixlConnector has the same text in each worker: another connector can have more fields."""
    (finding,) = findings(of_version("1.5.1", PREFILL, f"{DECODE} --kv-transfer-config {OTHER}"), behaviour="v1.5")
    where = "spec.services.Decode.extraPodSpec.mainContainer.args[4]"
    assert finding.message.endswith(f"; add --kv-transfer-config with the connector of Decode ({where})")


VARIABLES = [
    ("a connector", "vllm", "1.5.1", {"value": "nixl"}, '; remove it, and write --kv-transfer-config \'{"kv_connector":"NixlConnector"'),
    ("several", "vllm", "1.5.1", {"value": "kvbm nixl"}, '{"kv_connector":"PdConnector"'),
    ("none", "vllm", "1.0.0", {"value": "none"}, "; remove it: no connector is the default"),
    ("an empty text", "vllm", "1.6.1", {"value": ""}, "; remove it: no connector is the default"),
    ("a value that is not known", "vllm", "1.5.1", {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, "with its JSON document"),
    ("a release that does not read it", "vllm", "0.9.0", {"value": "nixl"}, ""),
    ("another engine", "trtllm", "1.5.1", {"value": "kvbm"}, ""),
]


@cases(("engine", "version", "value", "remedy"), VARIABLES)
def test_the_variable_of_connectors_ends_a_worker_of_vllm(engine, version, value, remedy):
    """`_reject_connector_flag` reads the environment, too: also an empty variable is refused."""
    env = [{"name": "DYN_CONNECTOR", **value}]
    found = findings(worker("--model a", version=version, command=("python3", "-m", f"dynamo.{engine}"), env=env), behaviour="v1.5")
    assert [(finding.severity, finding.code) for finding in found] == [("error", "DYN643")] * bool(remedy)
    assert all(remedy in finding.message and finding.path[-2:] == ("env", 0) for finding in found)


def test_a_refused_connector_is_one_finding():
    """The finding about the connector has the transfer to write, so the missing transfer is no second one."""
    graph = of_version("1.5.1", f"{PREFILL} --connector nixl", f"{DECODE} --connector nixl")
    assert codes(graph, behaviour="v1.5") == ["DYN643", "DYN643"]


TYPES = [
    ("the type of the worker", {"kind": "prefill"}, "remove the mode and write componentType: worker"),
    ("the type below it", {"subComponentType": "prefill"}, "remove the mode and subComponentType: prefill"),
    ("no such type", {}, "remove the mode"),
]


@cases(("fields", "remedy"), TYPES)
def test_the_remedy_of_a_mode_without_its_partner_names_the_type(fields, remedy):
    """Without the mode, the type alone would be the next finding."""
    graph = with_frontend(worker(f"--model a {PREFILL} --kv-transfer-config {NIXL}", name="W", **fields))
    (finding,) = findings(graph, behaviour="v1.5")
    assert finding.code == "DYN703"
    assert finding.message.endswith(f"; add a decode worker, or {remedy}")


SGLANG_PAIRS = [
    ("two types of the cache", "--kv-cache-dtype fp8_e5m2", "--kv-cache-dtype fp8_e4m3", ["DYN636"]),
    ("a backend and the default", "--disaggregation-transfer-backend nixl", "", ["DYN618"]),
    ("the default and a backend", "", "--disaggregation-transfer-backend nixl", ["DYN618"]),
    ("the default in words", "--disaggregation-transfer-backend mooncake", "", []),
    ("two sizes of pages", "--page-size 16", "--page-size 64", ["DYN617"]),
]


@cases(("prefill", "decode", "expected"), SGLANG_PAIRS)
def test_workers_of_sglang_must_agree(prefill, decode, expected):
    """The finding stands at the worker that has the flag, and names the place of the other one."""
    mode = "--model-path a --host 0.0.0.0 --disaggregation-mode"
    found = findings(pair(f"{mode} prefill {prefill}", f"{mode} decode {decode}", "dynamo.sglang"), behaviour="v1.5")
    assert [finding.code for finding in found] == expected
    for finding in found:
        other = "Decode" if "Prefill" in finding.path else "Prefill"
        assert f"(spec.services.{other}.extraPodSpec.mainContainer." in finding.message


ENGINES = [
    ("vLLM", "dynamo.vllm", f"--model a --kv-transfer-config {NIXL}"),
    ("SGLang", "dynamo.sglang", "--model-path a --host 0.0.0.0"),
    ("TensorRT-LLM", "dynamo.trtllm", "--model a"),
]


def with_frontend(graph):
    frontend = given.service("frontend", main={"image": f"{IMAGE}:1.5.1"})
    return {**graph, "spec": {"services": {"Frontend": frontend, **graph["spec"]["services"]}}}


@cases(("module", "model"), ENGINES)
def test_a_decode_component_that_prefills_has_the_mode_to_write(module, model):
    """Beside the finding that no worker decodes, which names both workers. Applied, the remedy leaves no finding."""
    mode = "--disaggregation-mode"
    wrong = pair(f"{model} {mode} prefill", f"{model} {mode} prefill", module)
    found = {finding.code: finding for finding in findings(with_frontend(wrong), behaviour="v1.5")}
    assert sorted(found) == ["DYN637", "DYN703"]
    assert found["DYN637"].path[2] == "Decode"
    assert "; write --disaggregation-mode decode" in found["DYN637"].message
    assert "spec.services.Prefill.extraPodSpec.mainContainer.args[" in found["DYN703"].message
    right = pair(f"{model} {mode} prefill", f"{model} {mode} decode", module)
    assert codes(with_frontend(right), behaviour="v1.5") == []


@cases(("module", "model"), ENGINES)
def test_exchanged_modes_are_found_at_both_workers(module, model):
    """Each finding names the flag, the field of the type, and the mode to write."""
    mode = "--disaggregation-mode"
    found = findings(with_frontend(pair(f"{model} {mode} decode", f"{model} {mode} prefill", module)), behaviour="v1.5")
    assert [(finding.code, finding.path[2]) for finding in found] == [("DYN637", "Decode"), ("DYN637", "Prefill")]
    assert "spec.services.Prefill.componentType is prefill; write --disaggregation-mode prefill" in found[1].message


@cases(("module", "model"), ENGINES)
def test_the_only_prefill_worker_keeps_its_mode(module, model):
    """The other worker decodes already, so the type is the mistake. Applied, the remedy leaves no finding."""
    mode = "--disaggregation-mode"
    graph = with_frontend(pair(f"{model} {mode} prefill", f"{model} {mode} decode", module))
    graph["spec"]["services"]["Prefill"]["componentType"] = "decode"
    [finding] = findings(graph, behaviour="v1.5")
    assert (finding.code, finding.path[2]) == ("DYN637", "Prefill")
    assert "; write componentType: prefill there, or write --disaggregation-mode decode here" in finding.message


def test_the_type_below_a_worker_counts_too():
    graph = worker("--model a --disaggregation-mode decode", name="W", subComponentType="prefill")
    [finding] = findings(graph, behaviour="v1.5")
    assert finding.code == "DYN637"
    assert "spec.services.W.subComponentType is prefill" in finding.message


def test_a_mode_in_the_environment_is_no_flag_to_change():
    """`DYN_VLLM_DISAGGREGATION_MODE` decides without a flag."""
    env = [{"name": "DYN_VLLM_DISAGGREGATION_MODE", "value": "decode"}]
    assert codes(worker("--model a", kind="prefill", env=env), behaviour="v1.5") == []


NESTED = (
    '{"kv_connector": "MultiConnector", "kv_connector_extra_config": '
    '{"connectors": [{"kv_connector": "NixlConnector"}, {"kv_connector": "LMCacheConectorV1"}]}}'
)
NAMES = [
    ("a slip", '{"kv_connector": "NixlConector"}', "NixlConnector"),
    ("a slip in one of several", NESTED, "LMCacheConnectorV1"),
    ("a connector", '{"kv_connector": "NixlConnector"}', ""),
    ("a connector of one's own", '{"kv_connector": "TeamConnector"}', ""),
    ("a module of one's own", '{"kv_connector": "NixlConector", "kv_connector_module_path": "team.kv"}', ""),
    ("no JSON", "{", ""),
]


@cases(("text", "right"), NAMES)
def test_the_names_of_connectors(text, right):
    """Only a name that is a slip counts, because an image can register connectors."""
    graph = worker("--model a")
    graph["spec"]["services"]["Worker"]["extraPodSpec"]["mainContainer"]["args"] = ["--model", "a", "--kv-transfer-config", text]
    graph["spec"]["services"]["Worker"]["extraPodSpec"]["mainContainer"]["command"] = ["python3", "-m", "dynamo.vllm"]
    found = [
        (finding.code, finding.message.partition("; ")[2]) for finding in findings(graph, behaviour="v1.5") if finding.code == "DYN734"
    ]
    assert found == [("DYN734", f"write {right}")] * bool(right)


def test_a_name_in_a_variable_is_found_there():
    main = {
        "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1",
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": ["--model", "a", "--kv-transfer-config", "$(TRANSFER)"],
        "env": [{"name": "A", "value": "a"}, {"name": "TRANSFER", "value": '{"kv_connector": "NixlConector", "kv_role": "kv_both"}'}],
    }
    graph = given.graph({"Worker": given.service("worker", main=main)})
    (finding,) = [finding for finding in findings(graph, behaviour="v1.5") if finding.code == "DYN734"]
    assert finding.path[-3:] == ("env", 1, "value")


UNREACHABLE = "and no decode worker gets the key-value cache; "
HOSTS = [
    ("the default", "", "decode", f"{UNREACHABLE}add --host 0.0.0.0"),
    ("an address of the pod alone", "--host 127.0.0.1", "decode", f"{UNREACHABLE}write --host 0.0.0.0"),
    ("all addresses", "--host 0.0.0.0", "decode", ""),
    ("an address that is not known", "--host $(POD_IP)", "decode", ""),
    ("a file", "--config a.yaml", "decode", ""),
    ("no decode worker", "", "prefill", ""),
]


@cases(("host", "mode", "remedy"), HOSTS)
def test_a_prefill_worker_of_sglang_listens_to_other_pods(host, mode, remedy):
    """Its server for decode workers listens at `--host`, and 127.0.0.1 is the default."""
    flag = "--model-path a --disaggregation-mode"
    graph = pair(f"{flag} prefill {host}", f"{flag} {mode}", "dynamo.sglang")
    for service in graph["spec"]["services"].values():
        service["extraPodSpec"]["mainContainer"]["env"] = [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    found = [finding for finding in findings(graph, behaviour="v1.5") if finding.code == "DYN715"]
    assert [(finding.code, finding.severity, finding.path[2]) for finding in found] == [("DYN715", "warning", "Prefill")] * bool(remedy)
    assert all(finding.message.endswith(remedy) for finding in found)
