"""The names of the cluster, and the packets that ask for them."""

from __future__ import annotations

import struct

import pytest

from tests.testbed.node import dns

SERVICES = {
    ("prod", "web"): {"spec": {"clusterIP": "10.0.0.7"}},
    ("prod", "workers"): {"spec": {"clusterIP": "None"}},
    ("prod", "empty"): {"spec": {"clusterIP": "None"}},
}
SLICES = [
    {
        "metadata": {"namespace": "prod", "labels": {"kubernetes.io/service-name": "workers"}},
        "endpoints": [
            {"addresses": ["10.244.0.10"], "hostname": "llm-0", "conditions": {"ready": True}},
            {"addresses": ["10.244.0.11"], "hostname": "LLM-1", "conditions": {"ready": True}},
            {"addresses": ["10.244.0.12"], "hostname": "llm-2", "conditions": {"ready": False}},
        ],
    }
]
NAMES = [
    ("web.prod.svc.cluster.local", ["10.0.0.7"]),
    ("WEB.Prod.svc.cluster.local.", ["10.0.0.7"]),
    ("x.web.prod.svc.cluster.local", None),
    ("workers.prod.svc.cluster.local", ["10.244.0.10", "10.244.0.11"]),
    ("llm-0.workers.prod.svc.cluster.local", ["10.244.0.10"]),
    ("llm-1.workers.prod.svc.cluster.local", ["10.244.0.11"]),
    ("llm-2.workers.prod.svc.cluster.local", None),
    ("empty.prod.svc.cluster.local", None),
    ("web.other.svc.cluster.local", None),
    ("web.prod.svc", None),
    ("web", None),
    ("example.com", None),
]


@pytest.mark.parametrize(("name", "found"), NAMES)
def test_names(name, found):
    """Services by their cluster IP, headless ones by their ready pods, pods by their host name; nothing else."""
    assert dns.addresses(name, SERVICES, SLICES) == found


def question(name, kind):
    """A query."""
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
    return struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


@pytest.mark.parametrize(
    ("name", "kind", "code", "records"),
    [
        ("workers.prod.svc.cluster.local", 1, 0, 2),
        ("workers.prod.svc.cluster.local", 28, 0, 0),
        ("example.com", 1, 3, 0),
    ],
)
def test_answers(name, kind, code, records):
    """A records; an empty answer for AAAA; NXDOMAIN for names that do not exist."""
    said = dns.answer(question(name, kind), lambda asked: dns.addresses(asked, SERVICES, SLICES))
    number, flags, questions, answers, _, _ = struct.unpack_from("!HHHHHH", said)
    assert (number, flags & 15, flags >> 15, questions, answers) == (7, code, 1, 1, records)
    if records:
        assert said[-4:] == bytes([10, 244, 0, 11])


def test_what_is_no_question_has_no_answer():
    """A packet that ends too early."""
    with pytest.raises((struct.error, IndexError)):
        dns.answer(b"\0\7\1\0\0\1\0\0\0\0\0\0\3www", lambda name: [])
