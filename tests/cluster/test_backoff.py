"""How often the syncer asks for a write that the server forbids."""

from krm_fn.cluster import backoff
from krm_fn.cluster.backoff import ForbiddenBackoff


def test_a_forbidden_request_is_repeated_after_a_second_then_less_and_less(monkeypatch):
    now = 0.0
    monkeypatch.setattr(backoff, "monotonic", lambda: now)
    forbidden, pauses = ForbiddenBackoff(), []
    for _ in range(8):
        assert forbidden.remaining("right") == 0
        pauses.append(forbidden.add("right", "no"))
        now += pauses[-1] / 2
        assert forbidden.add("right", "no") == forbidden.remaining("right") == pauses[-1] / 2, "writes at the same moment count once"
        now += pauses[-1] / 2
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    forbidden.clear("right")
    assert (forbidden.add("right", "no"), forbidden.remaining("other")) == (1, 0)


def test_rights_that_nobody_needs_any_more_are_forgotten(monkeypatch):
    """A namespace may be deleted while a write in it is forbidden."""
    now = 0.0
    monkeypatch.setattr(backoff, "monotonic", lambda: now)
    forbidden = ForbiddenBackoff()
    for number in range(10):
        forbidden.add(f"namespace-{number}", "no")
        now += 2 * backoff.FORBIDDEN
    assert len(forbidden._until) == len(forbidden._messages) == len(forbidden._pauses) == 1
