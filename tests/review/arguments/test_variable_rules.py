"""Findings about the variables that Dynamo's programs read."""

from __future__ import annotations

from tests.review.arguments.test_argument_findings import IMAGE, findings, worker
from tests.support import given
from tests.support.cases import cases


def frontend(name, value, version="1.5.1", **fields):
    """A graph with a frontend that has a variable."""
    service = given.service("frontend", envs=[{"name": name, "value": value}], main={"image": f"{IMAGE}:{version}", **fields})
    return given.graph({"Frontend": service})


NAMES = [
    ("a missing underscore", "DYN_ROUTERMODE", "DYN_ROUTER_MODE"),
    ("a missing letter", "DYN_ROUTER_MOD", "DYN_ROUTER_MODE"),
    ("lower case", "DYN_router_mode", "DYN_ROUTER_MODE"),
    ("a variable of Dynamo", "DYN_ROUTER_TEMPERATURE", ""),
    ("a name of the author", "DYN_TEAM", ""),
    ("a number, which means another one", "DYN_ROUTER_MODE2", ""),
    ("another prefix", "ROUTERMODE", ""),
]


@cases(("name", "meant"), NAMES)
def test_a_misspelt_variable_is_found_at_its_name(name, meant):
    found = findings(frontend(name, "kv"), behaviour="v1.5")
    entry = ("spec", "services", "Frontend", "envs", 0, "name")
    assert [(finding.code, finding.path, finding.proposed) for finding in found] == [("DYN736", entry, meant)] * bool(meant)


HUB = [
    ("no token", ["HUGGINGFACE_TOKEN"], {}, "HF_TOKEN"),
    ("no cache", ["HUGGINGFACE_HOME"], {}, "HF_HOME"),
    ("a token beside it", ["HUGGINGFACE_TOKEN", "HF_TOKEN"], {}, ""),
    ("an older name beside it", ["HUGGINGFACE_TOKEN", "HUGGING_FACE_HUB_TOKEN"], {}, ""),
    ("a Secret with any variables", ["HUGGINGFACE_TOKEN"], {"envFromSecret": "s"}, ""),
    ("the right name", ["HF_TOKEN"], {}, ""),
    ("two letters in the wrong order", ["HF_TOEKN"], {}, "HF_TOKEN"),
    ("a letter too many", ["HF_HOMES"], {}, "HF_HOME"),
    ("another variable of the Hub", ["HF_TOKEN_PATH"], {}, ""),
]


@cases(("names", "fields", "meant"), HUB)
def test_a_variable_that_the_hub_does_not_read(names, fields, meant):
    graph = worker("--model acme/tiny", env=[{"name": name, "value": "x"} for name in names], **fields)
    found = [(finding.code, finding.path[-1], finding.proposed) for finding in findings(graph, behaviour="v1.5")]
    assert found == [("DYN736", "name", meant)] * bool(meant)


ADDRESSES = [
    ("no scheme", "nats.dynamo-system:4222", "nats://nats.dynamo-system:4222"),
    ("the scheme of another server", "http://nats:4222", "nats://nats:4222"),
    ("an address", "nats://nats:4222", ""),
    ("a reference", "$(NATS)", ""),
    ("no address", "", ""),
]


@cases(("address", "meant"), ADDRESSES)
def test_an_address_of_nats_has_its_scheme(address, meant):
    found = [(finding.code, finding.path[-1], finding.proposed) for finding in findings(frontend("NATS_SERVER", address), behaviour="v1.5")]
    assert found == [("DYN774", "value", meant)] * bool(meant)


def test_a_variable_that_the_command_names_is_the_authors():
    graph = worker("--model $(DYN_MODEL_PATHS)", env=[{"name": "DYN_MODEL_PATHS", "value": "acme/tiny"}])
    assert findings(graph, behaviour="v1.5") == []


def test_a_variable_of_the_graph_is_found_once():
    graph = frontend("DYN_NAMESPACE", "a")
    service = graph["spec"]["services"]["Frontend"]
    del service["envs"]
    graph["spec"] |= {"envs": [{"name": "DYN_ROUTERMODE", "value": "kv"}], "services": {"Frontend": service, "Other": service}}
    assert [finding.path for finding in findings(graph, behaviour="v1.5")] == [("spec", "envs", 0, "name")]


MODES = [
    ("a value", "kv", "1.5.1", [], []),
    ("a value with another word", "kv_router", "1.5.1", [], [("error", "write kv")]),
    ("upper case", "KV", "1.5.1", [], [("error", "write kv")]),
    ("an underscore", "round_robin", "1.5.1", [], [("error", "write round-robin")]),
    ("another word", "fastest", "1.5.1", [], [("error", "write one of these values")]),
    ("a release that routes all the same", "kv-aware", "1.2.1", [], [("warning", "write kv")]),
    ("the flag beside it", "kv_router", "1.5.1", ["--router-mode", "kv"], []),
    ("a reference", "$(MODE)", "1.5.1", [], []),
]


@cases(("value", "version", "args", "expected"), MODES)
def test_a_mode_of_the_router_is_one_of_its_flag(value, version, args, expected):
    """`build_router_config` raises an error since 1.5, and `frontend/main.py` before it has round-robin for other modes."""
    fields = {"command": ["python3", "-m", "dynamo.frontend"], "args": args} if args else {}
    found = findings(frontend("DYN_ROUTER_MODE", value, version, **fields), behaviour="v1.5")
    assert [(finding.severity, finding.message.rpartition("; ")[2]) for finding in found if finding.code == "DYN604"] == expected
