"""Endpoints of routers, planes of a graph, speculative decoding, and variables that a shell does not replace, with right neighbours."""

from __future__ import annotations

import json

from tests.review.arguments.test_argument_findings import IMAGE, findings
from tests.support import given
from tests.support.cases import cases

_VARIABLES = [{"name": "MODEL", "value": "acme/tiny"}]


def service(program, *args, kind="worker", version="1.5.1", command=None):
    main = {"image": f"{IMAGE}:{version}", "command": command or ["python3", "-m", program], "args": [*args], "env": _VARIABLES}
    return given.service(kind, main=main)


def of(code, **services):
    return [(finding.severity, finding.message.rpartition("; ")[2]) for finding in findings(given.graph(services)) if finding.code == code]


ENDPOINTS = [
    ("two parts", "chat.prefill", True),
    ("a slash in place of a dot", "$(DYN_NAMESPACE)/prefill", True),
    ("four parts", "chat.prefill.generate.now", True),
    ("three parts", "chat.prefill.generate", False),
    ("the variable with the namespace", "$(DYN_NAMESPACE).prefill.generate", False),
    ("a variable with any text", "$(ENDPOINT)", False),
]


@cases(("value", "is_found"), ENDPOINTS)
def test_an_endpoint_of_a_router_has_three_parts(value, is_found):
    for words in (["--endpoint", value], [f"--endpoint={value}"]):
        found = of("DYN541", Router=service("dynamo.router", *words))
        assert [severity for severity, _ in found] == ["error"] * is_found
    line = f"exec python3 -m dynamo.router --endpoint '{value}'"
    assert bool(of("DYN541", Router=service("", line, command=["sh", "-c"]))) == is_found


def test_the_endpoint_to_write():
    ((_, fix),) = of("DYN541", Router=service("dynamo.router", "--endpoint", "$(DYN_NAMESPACE)/prefill"))
    assert fix == "write $(DYN_NAMESPACE).prefill.generate"


PLANES = [
    ("another request plane", ["--request-plane", "nats"], ["--request-plane", "tcp"], True),
    ("another discovery", ["--discovery-backend", "etcd"], ["--discovery-backend", "kubernetes"], True),
    ("one plane", ["--request-plane", "nats"], ["--request-plane", "nats"], False),
    ("the default of one of them", ["--request-plane", "nats"], [], False),
]


@cases(("frontend", "worker", "is_found"), PLANES)
def test_a_worker_has_the_plane_of_its_frontend(frontend, worker, is_found):
    """Source: `dynamo/common/configuration/groups/runtime_args.py`. A default depends on the release and on variables."""
    services = {
        "Frontend": service("dynamo.frontend", *frontend, kind="frontend"),
        "Worker": service("dynamo.vllm", "--model", "acme/tiny", *worker),
    }
    assert of("DYN542", **services) == [("warning", f"write {frontend[1]}")] * is_found


SPECULATIVE = [
    ("EAGLE", {"method": "eagle3", "model": "acme/draft"}, True),
    ("n-grams", {"method": "ngram", "prompt_lookup_max": 4}, True),
    ("a number", {"method": "eagle3", "model": "acme/draft", "num_speculative_tokens": 3}, False),
    ("a misspelt number, which has its own finding", {"method": "eagle3", "model": "acme/draft", "num_spec_tokens": 3}, False),
    ("multi-token prediction, whose model has a number", {"method": "mtp"}, False),
    ("suffixes, which have a default", {"method": "suffix"}, False),
    ("a method that the model decides", {"model": "acme/draft"}, False),
]


@cases(("config", "is_found"), SPECULATIVE)
def test_speculative_decoding_has_a_number_of_tokens(config, is_found):
    worker = service("dynamo.vllm", "--model", "acme/tiny", "--speculative-config", json.dumps(config))
    assert bool(of("DYN543", Worker=worker)) == is_found


DRAFTS = [
    ("EAGLE", {"method": "eagle3", "num_speculative_tokens": 3}, True),
    ("any draft model", {"method": "draft_model", "num_speculative_tokens": 3}, True),
    ("a model", {"method": "eagle3", "model": "acme/draft", "num_speculative_tokens": 3}, False),
    ("a misspelt field, which has its own finding", {"method": "eagle3", "modle": "acme/draft", "num_speculative_tokens": 3}, False),
    ("no number either, which has its own finding", {"method": "eagle3"}, False),
    ("multi-token prediction, which is in the model", {"method": "mtp", "num_speculative_tokens": 1}, False),
    ("n-grams, which need no model", {"method": "ngram", "num_speculative_tokens": 3}, False),
]


@cases(("config", "is_found"), DRAFTS)
def test_speculative_decoding_has_its_draft_model(config, is_found):
    worker = service("dynamo.vllm", "--model", "acme/tiny", "--speculative-config", json.dumps(config))
    assert bool(of("DYN760", Worker=worker)) == is_found


OFF, ON = '{"publisher": "zmq", "enable_kv_cache_events": false}', '{"publisher": "zmq", "enable_kv_cache_events": true}'
EVENTS = [
    # reason, flags of the frontend, the configuration of events of two workers, the number of findings
    ("no events of one worker", ["--router-mode", "kv"], [OFF], 1),
    ("no events of both workers", ["--router-mode=kv"], [OFF, OFF], 2),
    ("events of one of them", ["--router-mode", "kv"], [OFF, ON], 0),
    ("another mode", ["--router-mode", "round-robin"], [OFF], 0),
    ("the default mode", [], [OFF], 0),
    ("a router that predicts the caches", ["--router-mode", "kv", "--no-router-kv-events"], [OFF], 0),
    ("no JSON", ["--router-mode", "kv"], ["{"], 0),
]


@cases(("frontend", "configs", "count"), EVENTS)
def test_a_router_by_caches_needs_events(frontend, configs, count):
    flags = [("--kv-events-config", config) if config else () for config in configs]
    workers = {f"Worker{number}": service("dynamo.vllm", "--model", "acme/tiny", *words) for number, words in enumerate(flags)}
    services = {"Frontend": service("dynamo.frontend", *frontend, kind="frontend"), **workers}
    assert of("DYN514", **services) == [("warning", "write true")] * count


SILENT = [
    # reason, version, flags of two workers, the number of findings
    ("no flag", "1.5.1", [(), ()], 2),
    ("the flag of one of them", "1.5.1", [("--kv-events-config", ON), ()], 0),
    ("a default until 1.0", "1.0.1", [(), ()], 0),
    (
        "a decode worker, which never publishes events",
        "1.5.1",
        [("--disaggregation-mode", "decode"), ("--disaggregation-mode", "prefill")],
        1,
    ),
]


@cases(("version", "flags", "count"), SILENT)
def test_a_worker_publishes_no_events_without_the_flag(version, flags, count):
    workers = {
        f"Worker{number}": service("dynamo.vllm", "--model", "acme/tiny", *words, version=version) for number, words in enumerate(flags)
    }
    frontend = service("dynamo.frontend", "--router-mode", "kv", kind="frontend", version=version)
    found = of("DYN514", Frontend=frontend, **workers)
    assert [remedy.partition(" '")[0] for _, remedy in found] == ["add --kv-events-config"] * count


def test_the_variables_of_a_router_by_caches():
    worker = service("dynamo.vllm", "--model", "acme/tiny", "--kv-events-config", OFF)
    frontend = service("dynamo.frontend", kind="frontend")
    mode, events = {"name": "DYN_ROUTER_MODE", "value": "kv"}, {"name": "DYN_ROUTER_USE_KV_EVENTS", "value": "false"}
    for variables, count in (([mode], 1), ([mode, events], 0)):
        services = {"Frontend": {**frontend, "envs": variables}, "Worker": worker}
        assert len(of("DYN514", **services)) == count
        assert of("DYN514", **services, Own=service("", "", command=["/bin/engine"])) == []


OVERRIDES = [
    ("a slip in an object", {"kv_cache_config": {"free_gpu_mem_fraction": 0.8}}, "write free_gpu_memory_fraction"),
    ("a slip", {"max_batchsize": 8}, "write max_batch_size"),
    ("both names", {"max_batchsize": 8, "max_batch_size": 8}, ""),
    ("a field", {"kv_cache_config": {"free_gpu_memory_fraction": 0.8}}, ""),
    ("a field of another release", {"own_field_of_a_release": 3}, ""),
    ("no object", ["max_batchsize"], ""),
]


@cases(("document", "fix"), OVERRIDES)
def test_overrides_have_fields_of_the_engine(document, fix):
    flags = ("--model-path", "acme/tiny", "--override-engine-args")
    assert of("DYN696", Worker=service("dynamo.trtllm", *flags, json.dumps(document))) == [("warning", fix)] * bool(fix)
    assert of("DYN696", Worker=service("dynamo.trtllm", *flags, "{kv_cache_config")) == []


LINES = [
    # reason, line, codes
    ("blanks around =", "export LEVEL = info; exec python3 -m dynamo.vllm --model a", ["DYN544"]),
    ("a blank before =", "readonly LEVEL =info; exec python3 -m dynamo.vllm --model a", ["DYN544"]),
    ("no blank", "export LEVEL=info; exec python3 -m dynamo.vllm --model a", []),
    ("two names", "export LEVEL OTHER; exec python3 -m dynamo.vllm --model a", []),
    ("a comparison", "[ $LEVEL = info ]; exec python3 -m dynamo.vllm --model a", []),
    ("a variable in single quotes", "exec python3 -m dynamo.vllm --model '$MODEL'", ["DYN628"]),
    ("the same behind =", "exec python3 -m dynamo.vllm --model='${MODEL}'", ["DYN628"]),
    ("double quotes", 'exec python3 -m dynamo.vllm --model "$MODEL"', []),
    ("a text that no variable has as its name", "exec python3 -m dynamo.vllm --model '$OTHER'", []),
]


@cases(("line", "expected"), LINES)
def test_a_line_that_a_shell_reads_in_another_way(line, expected):
    services = {"Worker": service("", line, command=["sh", "-c"])}
    found = [finding.code for finding in findings(given.graph(services)) if finding.code in ("DYN544", "DYN628")]
    assert found == expected


PICKERS = [
    ("an image of an engine", "vllm-runtime:1.5.1", {}, "dynamo-frontend:1.5.1"),
    ("a build for another CUDA", "vllm-runtime:1.4.0-cuda13", {}, "dynamo-frontend:1.4.0"),
    ("the image of frontends", "dynamo-frontend:1.5.1", {}, ""),
    ("a command of its own", "vllm-runtime:1.5.1", {"command": ["/opt/epp"]}, ""),
]


@cases(("image", "fields", "right"), PICKERS)
def test_an_endpoint_picker_needs_an_image_with_the_picker(image, fields, right):
    epp = given.service("epp", main={"image": f"nvcr.io/nvidia/ai-dynamo/{image}", **fields})
    worker = service("dynamo.vllm", "--model", "acme/tiny")
    assert of("DYN546", Epp=epp, Worker=worker) == [("error", f"write nvcr.io/nvidia/ai-dynamo/{right}")] * bool(right)
