"""How often the syncer asks for a write that the server forbids."""

from krm_fn.sync import denials
from krm_fn.sync.denials import Denials


def test_a_place_that_is_forbidden_is_asked_after_a_second_then_less_and_less(monkeypatch):
    now = 0.0
    monkeypatch.setattr(denials, "monotonic", lambda: now)
    found, pauses = Denials(), []
    for _ in range(8):
        assert found.left("place") == 0
        pauses.append(found.add("place", "no"))
        now += pauses[-1] / 2
        assert found.add("place", "no") == found.left("place") == pauses[-1] / 2, "writes at the same moment count once"
        now += pauses[-1] / 2
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    found.clear("place")
    assert (found.add("place", "no"), found.left("other")) == (1, 0)
