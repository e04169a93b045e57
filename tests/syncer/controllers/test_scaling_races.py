"""Someone scales an adapter while the syncer writes, on a real control plane. No other syncer serves the namespace."""

from __future__ import annotations

from krm_fn.render.dynamo_api import ADAPTER
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import Place

_LATE_NUMBERS = """
import asyncio, pathlib
from krm_fn.syncer.writer import Writer
patch = Writer.patch
async def late_patch(self, kind, key, body, **options):
    if kind.kind == {kind!r} and "replicas" in body.get("spec", {{}}):
        pathlib.Path({started!r}).touch()
        while not pathlib.Path({scaled!r}).exists():
            await asyncio.sleep(0.05)
    return await patch(self, kind, key, body, **options)
Writer.patch = late_patch
"""
"""The syncer writes no first number before someone has scaled the adapter."""


def test_the_first_number_of_an_adapter_replaces_no_other(dynamo, controllers, tmp_path):
    """Someone scales the adapter after the syncer has read it, and before the syncer writes the first number."""
    place = Place(dynamo, dynamo.namespace("scaling-races"))
    options, started, scaled = (f"--namespace={place.namespace}", "--no-leader-election"), tmp_path / "started", tmp_path / "scaled"
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", replicas=1, scalingAdapter={"enabled": True})}
    prelude = _LATE_NUMBERS.format(kind=ADAPTER, started=str(started), scaled=str(scaled))
    with syncer.running(dynamo.kubeconfig, tmp_path, *options, prelude=prelude) as running:
        place.deploy(given.graph(services, name="chat"))
        server.eventually(started.exists)
        place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
        scaled.touch()
        server.eventually(lambda: running.metric("writes_total", kind=ADAPTER, result="conflict") >= 1)
        server.eventually(lambda: place.get("Deployment", "chat-worker")["spec"]["replicas"] == 3)
    assert place.get(ADAPTER, "chat-worker")["spec"]["replicas"] == 3
