"""Names follow the graph and the service; only these rules give objects their names."""

from __future__ import annotations

import re

from krm_fn.render import names
from tests.support.cases import cases

MADE = [
    ("a service's objects carry graph and service in lower case", names.component("chat", "VllmWorker"), "chat-vllmworker"),
    ("nothing but the case of a service is changed", names.component("chat", "a_B"), "chat-a_b"),
    ("the Dynamo namespace joins both names", names.dynamo_namespace("team", "chat", shared=False), "team-chat"),
    ("the shared Dynamo namespace has a fixed name", names.dynamo_namespace("team", "chat", shared=True), "dynamo"),
    ("the production side of a debugged service", names.production("chat-w"), "chat-w-p"),
    ("the debug side of a debugged service", names.debug("chat-w"), "chat-w-d"),
    ("the account for discovery", names.discovery("chat"), "chat-k8s-service-discovery"),
    ("an account's role", names.role("a"), "a-role"),
    ("an account's binding", names.binding("a"), "a-binding"),
    ("an endpoint picker's configuration", names.epp_config("chat"), "chat-epp-config"),
    ("a graph's pool", names.pool("chat"), "chat-pool"),
    ("a model's Service is the same for all graphs", names.model_service("acme/tiny-1"), f"dynamo-model-{names.model_hash('acme/tiny-1')}"),
]


@cases(("made", "name"), MADE)
def test_names(made, name):
    assert made == name


def test_a_models_hash_fits_labels_and_names_whatever_the_model_is_called():
    hashes = {names.model_hash(model) for model in ("a", "A", "org/Model-1.5_B", "ü" * 300)}
    assert len(hashes) == 4
    assert all(re.fullmatch(r"[0-9a-f]{8}", text) for text in hashes)


SERVICE_NAMES = [
    ("letters, digits and dashes", "chat-w-2", True),
    ("a digit in front", "2chat", False),
    ("a dash at the end", "chat-", False),
    ("a dot", "chat.w", False),
    ("an underscore", "chat-a_b", False),
    ("upper case", "Chat", False),
    ("a newline at the end", "chat\n", False),
    ("nothing", "", False),
]


@cases(("name", "fits"), SERVICE_NAMES)
def test_what_a_service_can_be_called(name, fits):
    """A DNS label as RFC 1035 has it (Kubernetes: names of Services)."""
    assert bool(names.SERVICE.fullmatch(name)) is fits
