"""Messages of rules that two programs check: a render and an API server, or a render and the syncer.

A finding and the CEL rule of a definition share their message.

A slot in braces is a word that only a render has, for example the name of a field in the user's API version. The CEL rule has a general
word in its place.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.api_server import pod_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path, Ref, Result

MESSAGES = {
    codes.GRAPH_WITHOUT_COMPONENTS: "the graph has no {parts}; add one",
    codes.COMPONENT_NAMES_COLLIDE: "{services} have the same name in lower case, so their objects collide; rename one of them",
    codes.SEVERAL_ENDPOINT_PICKERS: "the graph has more than one endpoint picker; keep one {part} of type epp",
    codes.PVC_WITHOUT_NAME: "name is required; name the claim",
    codes.UNCREATABLE_PVC: "{field} is required when create is true; set it, for example to {example}",
    codes.PARALLEL_RESTART_WITH_ORDER: "order does not apply when type is Parallel; remove one of the two",
    codes.UNKNOWN_COMPONENT_IN_RESTART_ORDER: "the graph has no {part} {name}; write one of {services}",
    codes.DUPLICATE_COMPONENT_IN_RESTART_ORDER: "{name} is listed twice; list each {part} once",
    codes.INCOMPLETE_RESTART_ORDER: "order does not list {services}; list every {part}",
    codes.SHARED_MEMORY_WITHOUT_SIZE: "size is required unless disabled is true; set a size such as 16Gi, or disabled: true",
    codes.MULTINODE_ENDPOINT_PICKER: "an endpoint picker runs on one node; remove {nodes}",
    codes.ENDPOINT_PICKER_REPLICAS: "an endpoint picker must have exactly 1 replica; write 1",
    codes.ENDPOINT_PICKER_WITHOUT_CONFIG: "an endpoint picker needs {config} or {reference}; set one of them",
    codes.ENDPOINT_PICKER_WITH_TWO_CONFIGS: "{config} and {reference} exclude each other; keep one",
    codes.CONFIG_MAP_REF_WITHOUT_NAME: "the ConfigMap has no name; set it",
    codes.MOUNT_WITHOUT_CLAIM: "name is required; name the claim to mount",
    codes.MOUNT_WITHOUT_PATH: "{field} is required unless {cache} is true; set it",
    codes.INGRESS_WITHOUT_HOST: "host is required when the ingress is enabled; set it",
    codes.LORA_WITHOUT_SOURCE: "source is required for a LoRA adapter; write its uri, which begins with s3:// or hf://",
    codes.UNSUPPORTED_LORA_SOURCE: "{uri} does not begin with s3:// or hf://, from which LoRA adapters are loaded; write such a uri",
    codes.CONTAINER_WITHOUT_IMAGE: pod_rules.NO_IMAGE,
    codes.MIN_AVAILABLE_ABOVE_REPLICAS: "minAvailable is larger than replicas; write at most the number of replicas",
    codes.EPP_CONFIG_WITHOUT_PICKER: "only a component of type epp reads eppConfig; remove it, or set the type",
    codes.INVALID_VLLM_EXECUTOR: "vLLM starts its processes with mp or ray only; write one of them, or remove the annotation",
    codes.GPU_MEMORY_CLIENTS_BETWEEN_PODS: (
        "only a GPU memory service inside the pod has other clients; remove them, or use the mode for one pod"
    ),
    codes.GPU_MEMORY_CLIENTS_IN_OTHER_PODS: "no release supports clients in other pods yet; remove them",
    codes.CHECKPOINT_WITH_JOB_AND_REF: "job and checkpointRef exclude each other; keep one",
    codes.TRANSFER_POLICY_SOURCES: "exactly one of labelKey and clusterTopologyName is needed; keep or set one",
    codes.TRANSFER_POLICY_WEIGHT: "preferredWeight is needed if enforcement is preferred, and not allowed otherwise; set or remove it",
    codes.LABEL_DOMAIN_TOO_LONG: "the domain of the label is longer than 253 characters; shorten it",
    codes.IMMUTABLE_MIN_AVAILABLE: "minAvailable is immutable; set it back, or make a component with another name",
}


def of(code: str, **slots: str) -> str:
    """Returns the message of a rule: the problem, a semicolon, the fix. Raises KeyError for an unknown code or a slot without a word."""
    return MESSAGES[code].format_map(slots)


def error(code: str, ref: Ref, path: Path, **slots: str) -> Result:
    """Returns the finding for a field that violates a rule."""
    return results.error(code, of(code, **slots), ref, path)


SCHEMES = ("s3://", "hf://")
"""The stores from which LoRA adapters are loaded."""


def adapter_name_problem(name: str) -> str:
    """Returns why a LoRA adapter cannot have this name, with the fix; empty if it can. The name is a part of the URL that unloads it."""
    if name in {".", ".."}:
        return f"{name!r} cannot be a part of the URL that unloads the adapter; write another name"
    return _control_character(name)


def adapter_source_problem(uri: str) -> str:
    """Returns why no LoRA adapter is loaded from this URI, with the fix; empty if it may be. Another rule checks the scheme."""
    if ".." in uri.lower().replace("%2e", ".").replace("\\", "/").split("/"):
        return f"{uri!r} contains the segment '..', which leads out of its folder; write the path without it"
    return _control_character(uri)


def _control_character(text: str) -> str:
    """Reports a control character of ASCII or ISO 8859."""
    if any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in text):
        return f"{text!r} has a control character; remove it"
    return ""
