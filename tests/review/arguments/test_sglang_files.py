"""Files of flags of SGLang that are keys of a ConfigMap: flags and values, sizes beside the GPUs, and modes beside the type."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.5.1"


def found(text: str, *flags: str, gpus: str = "8", kind: str = "worker") -> list[Any]:
    """The findings beside notes about one worker with a file."""
    main = {
        "image": IMAGE,
        "command": ["python3", "-m", "dynamo.sglang"],
        "args": ["--config", "/etc/sglang/a.yaml", *flags],
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
        "volumeMounts": [{"name": "c", "mountPath": "/etc/sglang"}],
    }
    worker = beta.component("Worker", kind, main=main, pod={"volumes": [{"name": "c", "configMap": {"name": "c"}}]})
    findings = resource_findings.check(
        [given.item("ConfigMap", "c", data={"a.yaml": text}), beta.graph(worker)], Config(), is_configured=False
    )
    return [finding for finding in findings if finding.severity != "info"]


MODEL = "model-path: acme/tiny\n"
FILES = [
    # reason, text, GPUs, code and remedy
    ("known flags", "tp-size: 8\ntrust-remote-code: true\ndisable-radix-cache: false\n", "8", ()),
    ("a slip", "tp-size: 8\npagesize: 64\n", "8", ("DYN600", "write page-size")),
    ("a flag of vLLM", "tp-size: 8\nmax-model-len: 4096\n", "8", ("DYN600", "write context-length")),
    ("a part of a flag without a value", "tp-size: 8\ntrust-remote: true\n", "8", ("DYN600", "write trust-remote-code")),
    ("another type", "tp-size: 8\npage-size: many\n", "8", ("DYN605", "write an integer")),
    ("more GPUs", "tp-size: 16\n", "8", ("DYN612", "set multinode.nodeCount: 2, or lower the parallel sizes, or request more GPUs")),
    ("fewer GPUs", "tp-size: 4\n", "8", ("DYN613", "raise the parallel sizes, or request fewer GPUs")),
    ("fewer GPUs without a size", "", "8", ("DYN613", "raise the parallel sizes, or request fewer GPUs")),
    ("flow style", "{tp-size: 16}", "8", None),
]


@cases(("text", "gpus", "finding"), FILES)
def test_the_fields_of_a_file_are_flags(text, gpus, finding):
    document = text if finding is None else MODEL + text
    assert [(one.code, one.message.rpartition("; ")[2]) for one in found(document, gpus=gpus)] == [finding] * bool(finding)


def test_a_flag_of_the_command_line_counts_more():
    """SGLang puts the flags of the file before the others, and the last one counts."""
    assert found(f"{MODEL}tp-size: 4\n", "--tp-size", "8") == []


def test_a_mode_that_the_type_does_not_have():
    (finding,) = found(f"{MODEL}tp-size: 8\ndisaggregation-mode: prefill\n", kind="decode")
    assert (finding.code, finding.ref.kind) == ("DYN637", "ConfigMap")
    assert finding.message.endswith("; write disaggregation-mode: decode, or change the type")
