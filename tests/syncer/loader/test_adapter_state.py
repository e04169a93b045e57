"""Whatever is wanted in turn, and whatever a worker answers, a place comes to the adapter that is wanted last, and never calls another one
ready.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from krm_fn.syncer.loader.adapter_state import LIMITS, AdapterState, EndpointState
from krm_fn.syncer.loader.worker_api import Adapter, WorkerError
from tests.testbed import tier

ADAPTERS = [Adapter(name, uri) for name in ("a", "b") for uri in ("s3://1", "s3://2")]
WANTED = st.sampled_from([None, *ADAPTERS])
ANSWERS = st.sampled_from(["done", "refused", "lost", "lost and done"])


class Worker:
    """Like Dynamo's: a name that is loaded stays as it is."""

    def __init__(self):
        self.has: dict[str, str] = {}

    def do(self, step):
        if step.action == "load":
            self.has.setdefault(step.adapter.name, step.adapter.uri)
        else:
            self.has.pop(step.adapter.name, None)


def once(state, worker, wanted, kept, answer):
    """One request with this answer. False if nothing is to be done."""
    step = state.next_request(wanted, kept)
    if step is None:
        return False
    state.begin(step)
    if answer in {"done", "lost and done"}:
        worker.do(step)
    if answer == "done":
        state.record_success(step)
    else:
        state.record_failure(WorkerError("refused", "no", answered=answer == "refused"), LIMITS)
    return True


@settings(max_examples=tier.number(300, 10))
@given(st.lists(st.tuples(WANTED, st.lists(ANSWERS, max_size=4)), min_size=1, max_size=6))
def test_a_place_comes_to_what_is_wanted_last(story):
    state, worker = AdapterState(EndpointState()), Worker()
    for wanted, answers in story:
        for answer in answers:
            once(state, worker, wanted, frozenset(), answer)
            if wanted and state.load_status(wanted).loaded:
                assert worker.has[wanted.name] == wanted.uri
    last = story[-1][0]
    for _ in range(10):
        if not once(state, worker, last, frozenset(), "done"):
            break
    assert state.next_request(last, frozenset()) is None
    assert worker.has == ({last.name: last.uri} if last else {})
    assert state.load_status(last).loaded == (last is not None)


@given(st.lists(st.tuples(WANTED, ANSWERS), max_size=6))
def test_a_name_that_another_model_uses_is_never_unloaded(story):
    """Unless this model itself wants another source of that name: the controller lets only one of two models do that."""
    state, worker = AdapterState(EndpointState()), Worker()
    for wanted, answer in story:
        step = state.next_request(wanted, frozenset("ab"))
        assert step is None or step.action == "load" or (wanted is not None and step.adapter.name == wanted.name)
        once(state, worker, wanted, frozenset("ab"), answer)
