"""The page "From the operator to Git" for every kind that the operator creates: no new pod on the way, every owner on the way back."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.platform import admission, journey, reference
from tests.support.cases import cases

pytestmark = pytest.mark.xdist_group("platform")

COMPARE, OFF, TAKE, BACK, START = (
    journey.STEPS[heading]
    for heading in ("2. Compare", "3. Stop the operator", "4. Take over", "From Git to the operator", "Start the operator")
)
INGRESS = {"className": "nginx"}
PICKER = {
    "componentType": "epp",
    "eppConfig": {
        "config": {
            "plugins": [{"type": "max-score-picker"}],
            "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "max-score-picker"}]}],
        }
    },
    "extraPodSpec": {"mainContainer": {"image": "picker:1"}},
}
LARGE = {"Frontend": journey.FRONTEND, "Big": journey.BIG, "Worker": {**journey.WORKER, "volumeMounts": []}}
# reason, services, settings, kinds that must be among the objects
CARRIERS = [
    ("groups", LARGE, {}, {"LeaderWorkerSet", "PodGroup", "Deployment", "Ingress", "Service", "ServiceAccount", "Role", "RoleBinding"}),
    ("picker", {"Picker": PICKER, **LARGE}, {}, {"InferencePool", "ConfigMap", "Deployment"}),
    ("grove", {"Picker": PICKER, **LARGE}, {"orchestrator": "grove"}, {"PodCliqueSet", "InferencePool", "ConfigMap", "Ingress", "Service"}),
]


@cases(("reason", "services", "settings", "kinds"), CARRIERS)
def test_there_and_back(reason, services, settings, kinds, migration, tmp_path):
    """No step creates an object again. At the end, deleting the graph deletes all its objects."""
    written = yaml.safe_load(journey.SETTINGS)
    written["spec"] |= settings | {"ingress": INGRESS}
    reader = journey.depart(migration, tmp_path, f"kinds-{reason}", services, written)
    journey.commit(reader, reader.graph)
    before = reader.everything()
    made = {name for name in journey.owned(before) if not name.startswith("DynamoComponentDeployment/")}
    assert kinds | {"DynamoGraphDeploymentScalingAdapter"} <= {name.partition("/")[0] for name in made}
    assert "Service/dynamo-model-" in "".join(made)

    admission.keep(migration.client, journey.DEPLOYMENT)
    for script in reader.local([*COMPARE, *OFF]):
        reader.run(script)
    delete = re.search(r"^kubectl .* delete .*$", reader.run(*reader.local(TAKE)), re.MULTILINE)
    twins = {name for name in made if name.endswith(("-p", "-d"))}
    assert bool(delete) == bool(twins) == (reason != "grove")  # the operator makes Services for debugging for components alone
    if delete:
        reader.run(delete[0])
    reader.collected()
    objects = reader.everything()
    assert {name: uid(objects[name]) for name in made - twins} == {name: uid(before[name]) for name in made - twins}
    assert journey.owned(objects) == []
    assert [name for name in made - twins if reference.MANAGER in journey.managers(objects[name])] == []
    with pytest.raises(reference.RefusedError, match="spec not found"):  # the way back without the marks
        reader.reconcile()

    start, owners = reader.local(START)
    reader.run(*reader.local(BACK))
    assert "the operator can start" in reader.run(start.splitlines()[0])
    reader.reconcile()
    reader.run(owners)
    objects = reader.everything()
    assert {name: uid(objects[name]) for name in made - twins} == {name: uid(before[name]) for name in made - twins}
    assert {*journey.owned(objects)} >= made - twins
    assert all(owner(objects[name]) == owner(before[name]) for name in made - twins)
    journey.remove_the_graph(reader)
    assert {name for name in reader.everything() if "-serviceaccount" not in name} == set()


def uid(resource):
    return resource["metadata"]["uid"]


def owner(resource):
    """Kind and name of the controlling owner."""
    (found,) = resource["metadata"]["ownerReferences"]
    return found["kind"], found["name"], found["controller"]
