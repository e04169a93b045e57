"""Messages of rules that two programs check: a render and an API server, or a render and the syncer.

A finding and the CEL rule of a definition share their message.

A slot in braces is a word that only a render has, for example the name of a field in the user's API version. The CEL rule has a general
word in its place.
"""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.kubernetes.api_server import pod_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path, Ref, Result

MESSAGES = {
    "DYN100": "the graph has no {parts}; add one",
    "DYN101": "{services} have the same name in lower case, so their objects collide; rename one of them",
    "DYN102": "the graph has more than one endpoint picker; keep one {part} of type epp",
    "DYN103": "name is required; name the claim",
    "DYN105": "{field} is required when create is true; set it, for example to {example}",
    "DYN107": "order does not apply when type is Parallel; remove one of the two",
    "DYN108": "the graph has no {part} {name}; write one of {services}",
    "DYN109": "{name} is listed twice; list each {part} once",
    "DYN110": "order does not list {services}; list every {part}",
    "DYN116": "size is required unless disabled is true; set a size such as 16Gi, or disabled: true",
    "DYN130": "an endpoint picker runs on one node; remove {nodes}",
    "DYN131": "an endpoint picker must have exactly 1 replica; write 1",
    "DYN132": "an endpoint picker needs {config} or {reference}; set one of them",
    "DYN133": "{config} and {reference} exclude each other; keep one",
    "DYN134": "the ConfigMap has no name; set it",
    "DYN145": "name is required; name the claim to mount",
    "DYN146": "{field} is required unless {cache} is true; set it",
    "DYN149": "host is required when the ingress is enabled; set it",
    "DYN170": "source is required for a LoRA adapter; write its uri, which begins with s3:// or hf://",
    "DYN171": "{uri} does not begin with s3:// or hf://, from which LoRA adapters are loaded; write such a uri",
    "DYN205": pod_rules.NO_IMAGE,
    "DYN454": "minAvailable is larger than replicas; write at most the number of replicas",
    "DYN455": "only a component of type epp reads eppConfig; remove it, or set the type",
    "DYN457": "vLLM starts its processes with mp or ray only; write one of them, or remove the annotation",
    "DYN463": "only a GPU memory service inside the pod has other clients; remove them, or use the mode for one pod",
    "DYN464": "no release supports clients in other pods yet; remove them",
    "DYN469": "job and checkpointRef exclude each other; keep one",
    "DYN472": "exactly one of labelKey and clusterTopologyName is needed; keep or set one",
    "DYN473": "preferredWeight is needed if enforcement is preferred, and not allowed otherwise; set or remove it",
    "DYN474": "the domain of the label is longer than 253 characters; shorten it",
    "DYN480": "minAvailable is immutable; set it back, or make a component with another name",
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
