"""Whatever is seen and whatever was written: the status of a request is sound, settles, and loses nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given as random
from hypothesis import strategies as st

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, cached_request, conditions, request_profiling, request_status
from krm_fn.syncer.status.cached_request import ProfilingJob, RequestInputs
from tests.support.strategies import JSON
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, HASH, OTHER

CONDITIONS = st.lists(st.sampled_from([COMPLETE, FAILED, {"type": "Suspended", "status": "True"}]), max_size=3)
HASHES = st.sampled_from([HASH, OTHER, ""])
JOBS = st.none() | st.builds(
    lambda told, hash_, owner, suspend: asked.profiling(*told, hash_=hash_, owner=owner, suspend=suspend),
    CONDITIONS,
    HASHES,
    st.sampled_from([asked.NAME, "other", None]),
    st.booleans(),
)
TEXTS = st.sampled_from([asked.TEXT, "kind: [", asked.TEXT.replace("name: vllm-disagg", "")])
OUTPUTS = st.none() | st.builds(lambda text, hash_, edited: asked.written(text, hash_=hash_, edited=edited), TEXTS, HASHES, st.booleans())
STATES = st.sampled_from(["", "pending", "successful", "failed"])
GRAPHS = st.none() | st.builds(
    lambda state, ours, complete: asked.graph(state, ours=ours, complete=complete), STATES, st.booleans(), st.booleans()
)
SEEN = st.builds(RequestInputs, JOBS, OUTPUTS, GRAPHS, st.sampled_from(["", "Pod: p"]), st.sampled_from(["", "refused"]))
SPECS = st.fixed_dictionaries({}, optional={"autoApply": st.booleans(), "deploymentOverrides": st.sampled_from([{}, {"name": "prod"}])})
FEATURES = st.builds(SyncFeatures, requests=st.just(True), auto_apply=st.booleans())


def sound(found: dict[str, Any]) -> None:
    """Whatever was given, the conditions are those of Kubernetes, and kstatus gets one answer."""
    types = [each["type"] for each in found["conditions"]]
    assert len(types) == len(set(types))
    assert all({"type", "status", "reason", "message", "lastTransitionTime"} <= each.keys() for each in found["conditions"])
    assert all(
        each["status"] in ("True", "False") and each["reason"]
        for each in found["conditions"]
        if each["type"] in request_status.REQUEST_CONDITIONS
    )
    told = asked.told(found)
    assert (told["Ready"][0] == "True") is (not {"Stalled", "Reconciling"} & told.keys())
    assert not {"Stalled", "Reconciling"} <= told.keys()
    assert found["state"] in ("Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed")


@random(st.lists(SEEN, min_size=1, max_size=4), SPECS, HASHES, FEATURES)
def test_any_life_is_sound_and_settles(lives, spec, hash_, features):
    """The state is one of the operator's, a generated graph is never lost, and a second pass writes nothing."""
    found: dict[str, Any] = {}
    for seen in lives:
        before, found = found, asked.status(asked.read(found, hash_=hash_, **spec), seen, features)
        sound(found)
        assert ("generatedDeployment" in found) >= ("generatedDeployment" in before)
        assert found.get("deployment", {}).get("created", False) >= before.get("deployment", {}).get("created", False)
        again = asked.status(asked.read(found, hash_=hash_, **spec), seen, features)
        assert conditions.patch(found, again) is None


@random(SEEN, SPECS, FEATURES)
def test_a_status_changes_nothing_that_it_is_given(seen, spec, features):
    """The syncer shares the stored status and the output between calls."""
    first = asked.read(asked.status(asked.read(**spec), seen, features), **spec)
    given = copy.deepcopy((first, seen))
    asked.status(first, RequestInputs(), features)
    asked.status(first, seen, features)
    assert (first, seen) == given


FIELDS = st.dictionaries(st.sampled_from(["conditions", "deployment", "generatedDeployment", "state", "backend"]), JSON)


NOTES = st.just({labels.PROFILE_HASH: HASH}) | JSON
METADATA = st.fixed_dictionaries({}, optional={"annotations": NOTES, **dict.fromkeys(("name", "namespace", "labels", "generation"), JSON)})
WRITTEN = st.fixed_dictionaries({"spec": JSON, "status": FIELDS | JSON, "metadata": METADATA})


@random(WRITTEN, SEEN)
def test_whatever_a_request_holds_nothing_raises(resource, seen):
    read = cached_request.read(resource)
    found = asked.status(read, seen)
    assert isinstance(found, dict)
    json.dumps(conditions.patch(read.status, found))
    if read.managed and not read.deleted:
        sound(found)


@random(JSON, JSON, JSON)
def test_whatever_a_job_or_a_pod_holds_nothing_raises(spec, status, metadata):
    """`read` and `pod` take what the watch brings."""
    resource = {"spec": spec, "status": status, "metadata": metadata}
    read, pod = request_profiling.read_job(resource), request_profiling.read_pod(resource)
    assert (type(read), type(pod.problem)) == (ProfilingJob, str)
    assert isinstance(asked.status(asked.read(), RequestInputs(read)), dict)
    assert isinstance(request_profiling.pod_problem([pod], asked.read().job), str)
