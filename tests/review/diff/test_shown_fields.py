"""The fields of a change that readers see: what follows from another change is one entry."""

from __future__ import annotations

from krm_fn.kubernetes import identity
from krm_fn.render.schema import object_changes
from krm_fn.review.diff import diff_report
from tests.support import disaggregated_faults, given


def test_the_revision_of_all_roles_is_one_entry_and_so_is_their_hash():
    states = []
    for image in ("registry.example/dynamo:1.6.0", "registry.example/dynamo:1.6.1"):
        graph = disaggregated_faults.pair(decode={"main": {"image": image}})
        joined = given.rendered(graph, **disaggregated_faults.SETTINGS)["DisaggregatedSet/chat"]
        states.append({identity.key(joined): joined})
    (change,) = object_changes.between_states(*states)
    names = [name for _, name, _ in diff_report.shown_fields(change.fields)]
    assert names == [
        "worker hash, in 6 fields",
        "revision, in 2 fields",
        "spec.roles[decode].spec.leaderWorkerTemplate.workerTemplate.spec.containers[main].image",
    ]
