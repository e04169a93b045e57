"""An event of a graph leads to the requests that it was generated for, and reads no others."""

from __future__ import annotations

from random import Random

from krm_fn.syncer.controllers import GRAPHS, REQUESTS, ObjectEvent
from tests.fuzz.test_cpu_time import filled, reconciled
from tests.support import tenant_requests


def test_an_event_of_a_graph_leads_to_its_requests_until_they_have_another_graph_or_are_deleted():
    keys = filled(tenant_requests.state(Random(3), 40))  # noqa: S311 - no secret
    controller, store = keys.controllers["requests"], keys.cache.store(REQUESTS)
    listed = [*store.keys()]

    def led_to() -> dict[str, list[str]]:
        """The requests of each graph, by an event of the graph."""
        for key in listed:
            reconciled(keys, "requests", key)()
        graphs = {key._replace(kind=GRAPHS.kind, name=name) for key in listed for name in ("chat", "other")}
        events = (ObjectEvent(graph, None, None, frozenset()) for graph in sorted(graphs))
        return {event.key.name: [request.name for request in controller.requests_for(event)] for event in events}

    first = led_to()
    assert first["other"] == []
    assert len(first["chat"]) >= 2
    moved, deleted, *rest = first["chat"]
    key = listed[0]._replace(name=moved)
    request = store.get(key)
    assert request is not None
    store.put(key, f"uid-{moved}", "2", request._replace(overrides={"name": "other"}))
    store.drop(key._replace(name=deleted))
    assert led_to() == {"chat": rest, "other": [moved]}
