"""Changes that the forecast calls refused are refused by a real API server, and the others are accepted."""

from __future__ import annotations

import pytest

from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from tests.review.forecast import given, refusals

NOTHING = object_rules.ClusterState({}, {}, {})


@pytest.mark.parametrize("refusal", refusals.ALL, ids=lambda refusal: refusal.reason)
def test_a_refused_change_is_refused_for_its_field(refusal):
    change = given.change(refusal.old, refusals.changed(refusal))
    part = forecast.kind_forecast(change, NOTHING)
    assert part.effect == ("refused" if refusal.cause else "updated")
    if refusal.cause:
        assert part.causes == (refusal.cause,)


@pytest.mark.parametrize("index", range(len(refusals.ALL)), ids=[refusal.reason for refusal in refusals.ALL])
def test_a_real_server_refuses_the_same_changes(index, control_plane):
    refusal = refusals.ALL[index]
    namespace = control_plane.namespace(f"refused-{index}")
    for resource in (refusal.old, refusals.changed(refusal)):
        resource["metadata"] = {**resource["metadata"], "namespace": namespace}
        answer = control_plane.apply(resource, dry_run=False)
        if resource is refusal.old:
            assert answer.ok, answer.message
    assert answer.ok == (not refusal.cause), answer.message
