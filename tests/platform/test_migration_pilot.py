"""The pilot of docs/migration.md: one namespace moves to Git and back while a cluster-wide operator runs."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from krm_fn.cluster import timestamps
from tests.platform import admission, journey
from tests.support.cases import cases
from tests.testbed import server, syncer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

pytestmark = pytest.mark.xdist_group("platform")

COMPARE, TAKE, PILOT, BACK, START = (
    journey.STEPS[heading]
    for heading in ("2. Compare", "4. Take over", "A pilot in one namespace", "From Git to the operator", "Start the operator")
)
WORKER = {**journey.WORKER, "volumeMounts": []}
LEASE = "dynamo-operator-namespace-scope"


@pytest.fixture(scope="module")
def reader(migration: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> journey.Journey:
    """A graph that a running operator manages, and its adopted folder."""
    folder = tmp_path_factory.mktemp("pilot")
    reader = journey.depart(migration, folder, "pilot", {"Worker": WORKER}, yaml.safe_load(journey.SETTINGS))
    journey.commit(reader, reader.graph)
    admission.keep(migration.client, journey.DEPLOYMENT)
    server.eventually(lambda: migration.client.get(migration.client.path(journey.DEPLOYMENT)).get("status", {}).get("replicas") == 1)
    assert "1 workload keeps its pods" in reader.run(*reader.local(COMPARE))
    return reader


LONG = {"leaseDurationSeconds": 3600}
LEASES: list[tuple[str, Any]] = [
    ("no Lease", None),
    ("a Lease of krm-fn that has expired", {"holderIdentity": "krm-fn 1.0 pilot", "renewTime": "2026-01-01T00:00:00.000000Z"}),
    ("a Lease of krm-fn without a renewal", {"holderIdentity": "krm-fn 1.0 pilot"}),
    ("a Lease of another operator", {"holderIdentity": "namespace-restricted-operator-1.5.0", "renewTime": timestamps.now_micro()}),
]


@cases(("reason", "lease"), LEASES)
def test_an_operator_that_acts_on_the_namespace_is_an_error(reason: str, lease: Any, reader: journey.Journey) -> None:
    """`take-over` and `give-back` change nothing unless the syncer keeps the operator out."""
    before = reader.everything()
    metadata = {"name": LEASE, "namespace": reader.namespace}
    with _kept(reader, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": lease and LONG | lease}):
        for script in (TAKE, BACK):
            with pytest.raises(AssertionError) as acting:
                reader.run(*reader.local(script))
            assert "DYN801 the operator runs, and acts on the namespace pilot" in str(acting.value)
    assert reader.everything() == before


@contextlib.contextmanager
def _kept(reader: journey.Journey, lease: dict[str, Any]) -> Iterator[None]:
    """Keep a Lease in the namespace during a test, if it has a spec."""
    if lease["spec"]:
        admission.keep(reader.plane.client, lease)
    yield
    if lease["spec"]:
        reader.plane.kubectl("delete", "lease", LEASE, "-n", reader.namespace)


def test_one_namespace_moves_there_and_back_beside_the_operator(reader: journey.Journey, tmp_path: Path) -> None:
    """The syncer holds the namespace. No step creates a pod again; without the syncer, the operator acts on the namespace again."""
    start = reader.identities()
    flags = ("--namespace", reader.namespace, "--hold-namespaces", "--lease-namespace", reader.namespace)
    with syncer.running(reader.plane.kubeconfig, tmp_path, *flags) as running:
        reader.run(*reader.local(PILOT))
        reader.run(*reader.local(TAKE))
        reader.collected()
        assert reader.identities() == start
        assert journey.owned(reader.everything()) == []
        server.eventually(lambda: reader.objects("dgd")["DynamoGraphDeployment/chat"].get("status", {}).get("state") is not None)
        reader.run(*reader.local(BACK))
        assert running.server.end(signal.SIGTERM) == 0
    with pytest.raises(AssertionError) as acting:
        reader.run(*reader.local(BACK))
    assert "DYN801" in str(acting.value)
    start_it, owners = reader.local(START)
    assert "the operator can start" in reader.run(start_it.splitlines()[0])
    reader.reconcile()
    reader.run(owners)
    assert reader.identities() == start
    assert "Deployment/chat-worker" in journey.owned(reader.everything())
