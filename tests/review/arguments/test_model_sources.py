"""Models that workers cannot load, or that they did not mean: without a flag, a volume or a download."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review.arguments import argument_findings
from tests.support import beta
from tests.support.cases import cases

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
IMAGES = {"vllm": "vllm-runtime", "trtllm": "tensorrtllm-runtime", "sglang": "sglang-runtime"}


def worker(program: str, *flags: str, folder: str = "", image: str = "", env: Any = (), version: str = "1.5.1", **main: Any) -> Any:
    """A worker with one GPU, and with a claim mounted at `folder`."""
    fields = {
        "image": image or f"{REGISTRY}/{IMAGES[program]}:{version}",
        "command": ["python3", "-m", f"dynamo.{program}"],
        "args": [*flags],
        "env": [{"name": name, "value": value} for name, value in env],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        **({"volumeMounts": [{"name": "models", "mountPath": folder}]} if folder else {}),
        **main,
    }
    return beta.component("Worker", main=fields, pod={"volumes": [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]})


def found(*components: Any, codes: Any = ("DYN718", "DYN719", "DYN724", "DYN725")) -> list[tuple[str, str]]:
    """The code and the first remedy of each finding. Each of them is a warning."""
    planned: list[PlannedResource] = []
    expand([beta.graph(*components)], Config(), planned.append)
    findings = [finding for finding in argument_findings.check(planned) if finding.code in codes]
    assert {finding.severity for finding in findings} <= {"warning"}
    return [(finding.code, finding.message.partition("; ")[2].partition(",")[0]) for finding in findings]


SERVED = ["--served-model-name", "acme/tiny"]
DEFAULTS = [
    ("TensorRT-LLM", worker("trtllm", *SERVED), "add --model acme/tiny"),
    ("an older release", worker("trtllm", *SERVED, version="0.9.0"), "add --model-path acme/tiny"),
    ("vLLM", worker("vllm", *SERVED), "add --model acme/tiny"),
    ("a served name of one's own", worker("vllm", "--served-model-name", "chat"), "add --model with the name of the model"),
    ("no flag at all", worker("trtllm"), ""),
    ("a model without its flag, which DYN603 reports", worker("vllm", "acme/tiny", *SERVED), ""),
    ("with the model", worker("trtllm", "--model", "acme/tiny", *SERVED), ""),
    ("with the older flag", worker("trtllm", "--model-path", "acme/tiny", *SERVED), ""),
    ("with the variable", worker("trtllm", *SERVED, env=[("DYN_TRTLLM_MODEL", "acme/tiny")]), ""),
    ("with a variable of a ConfigMap", worker("trtllm", *SERVED, envFrom=[{"configMapRef": {"name": "a"}}]), ""),
    ("with a file", worker("trtllm", *SERVED, "--extra-engine-args", "/etc/a.yaml"), ""),
    ("with more flags in a variable", worker("vllm", "$(FLAGS)", *SERVED), ""),
    ("the default on purpose", worker("vllm", "--served-model-name", "Qwen/Qwen3-0.6B"), ""),
]


@cases(("part", "remedy"), DEFAULTS)
def test_a_worker_without_a_model_loads_the_default_one(part, remedy):
    assert found(part, codes=("DYN718",)) == [("DYN718", remedy)] * bool(remedy)


def test_a_worker_beside_another_one_gets_its_model():
    others = [worker("vllm", "--model", "acme/tiny") | {"name": "Other"}, worker("vllm")]
    assert found(*others, codes=("DYN718",)) == [("DYN718", "add --model acme/tiny")]


FOLDERS = [
    ("no volume", worker("vllm", "--model", "/models/tiny"), "mount a volume with the model at /models"),
    ("its name on the Hub", worker("vllm", "--model", "/models/tiny", *SERVED), "write acme/tiny"),
    ("a slip", worker("vllm", "--model", "/model/tiny", folder="/models"), "write /models/tiny"),
    ("a folder before it", worker("sglang", "--model-path", "/data/models/tiny", folder="/models"), "write /models/tiny"),
    ("a slip and a name on the Hub", worker("vllm", "--model", "/model/tiny", *SERVED, folder="/models"), "write /models/tiny"),
    ("another folder", worker("vllm", "--model", "/weights", folder="/cache"), "mount a volume with the model at /weights"),
    ("in the volume", worker("vllm", "--model", "/models/tiny", folder="/models"), ""),
    ("the volume itself", worker("vllm", "--model", "/models", folder="/models/"), ""),
    ("an image of one's own", worker("vllm", "--model", "/models/tiny", image="registry.example/vllm-runtime:1.5.1"), ""),
    ("a folder of the image", worker("vllm", "--model", "/workspace/models/tiny"), ""),
    ("a folder that the container fills", worker("vllm", "--model", "/tmp/tiny"), ""),  # noqa: S108
    ("a name on the Hub", worker("vllm", "--model", "acme/tiny"), ""),
    ("a bucket", worker("vllm", "--model", "s3://models/tiny"), ""),
    ("a variable", worker("vllm", "--model", "$(MODEL)"), ""),
]


@cases(("part", "remedy"), FOLDERS)
def test_a_model_in_a_folder_needs_a_volume(part, remedy):
    """Only NVIDIA's images are known to have no models."""
    assert found(part, codes=("DYN719",)) == [("DYN719", remedy)] * bool(remedy)


MODEL = ["--model", "acme/tiny"]
CACHES = [
    ("a slip", worker("vllm", *MODEL, folder="/models", env=[("HF_HOME", "/model")]), [("DYN724", "write /models")]),
    (
        "another folder",
        worker("vllm", *MODEL, folder="/mnt/models", env=[("HF_HOME", "/root/.cache/huggingface")]),
        [("DYN724", "write /mnt/models")],
    ),
    ("below the volume", worker("vllm", *MODEL, folder="/models", env=[("HF_HOME", "/models/hf")]), []),
    ("a volume for something else", worker("vllm", *MODEL, folder="/logs", env=[("HF_HOME", "/model")]), []),
    (
        "a volume that the command reads",
        worker("vllm", *MODEL, "--download-dir", "/models", folder="/models", env=[("HF_HOME", "/model")]),
        [],
    ),
    ("no volume", worker("vllm", *MODEL, env=[("HF_HOME", "/model")]), []),
    ("offline without a volume", worker("vllm", *MODEL, env=[("HF_HUB_OFFLINE", "1")]), [("DYN725", "mount one")]),
    ("offline with a volume", worker("vllm", *MODEL, folder="/models", env=[("HF_HUB_OFFLINE", "1")]), []),
    ("not offline", worker("vllm", *MODEL, env=[("HF_HUB_OFFLINE", "0")]), []),
    ("offline with a model in a folder", worker("vllm", "--model", "/workspace/tiny", env=[("HF_HUB_OFFLINE", "1")]), []),
    (
        "offline with an image of one's own",
        worker("vllm", *MODEL, env=[("HF_HUB_OFFLINE", "1")], image="registry.example/vllm-runtime:1.5.1"),
        [],
    ),
]


NAMES = [
    ("quotes", worker("vllm", "--model", '"acme/tiny"'), "write acme/tiny"),
    ("the page of the model", worker("sglang", "--model-path", "https://huggingface.co/acme/tiny/tree/main"), "write acme/tiny"),
    ("two slashes", worker("vllm", "--model", "acme//tiny"), "write acme/tiny"),
    ("a slash at the end", worker("trtllm", "--model", "acme/tiny/"), "write acme/tiny"),
    ("a blank at the end", worker("vllm", "--model", "acme/tiny "), "write acme/tiny"),
    ("a name", worker("vllm", "--model", "acme/tiny"), ""),
    ("a folder", worker("vllm", "--model", "/models/tiny/", folder="/models"), ""),
    ("a bucket", worker("vllm", "--model", "s3://acme/tiny/"), ""),
    ("an image of one's own", worker("vllm", "--model", "acme/tiny/", image="registry.example/engine:1.5.1"), ""),
]


@cases(("part", "remedy"), NAMES)
def test_the_name_of_a_model_has_the_form_of_the_hub(part, remedy):
    assert found(part, codes=("DYN773",)) == [("DYN773", remedy)] * bool(remedy)


@cases(("part", "expected"), CACHES)
def test_a_cache_of_models_is_in_a_volume(part, expected):
    assert found(part, codes=("DYN724", "DYN725")) == expected


def test_a_variable_of_the_graph_is_reported_once():
    workers = [worker("vllm", *MODEL, folder="/models") | {"name": name} for name in ("A", "B")]
    graph = beta.graph(*workers, env=[{"name": "HF_HOME", "value": "/model"}])
    planned: list[PlannedResource] = []
    expand([graph], Config(), planned.append)
    paths = [finding.path for finding in argument_findings.check(planned) if finding.code == "DYN724"]
    assert paths == [("spec", "env", 0, "value")]
