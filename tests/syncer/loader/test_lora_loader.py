"""The loader brings each worker to what the controller wants, within its limits, whatever the workers do. They are a real HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import pairwise

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.loader.adapter_state import LIMITS
from krm_fn.syncer.loader.lora_loader import LoraLoader
from krm_fn.syncer.loader.request_scheduler import LoaderMetrics, Precondition, RequestScheduler
from krm_fn.syncer.loader.worker_api import Adapter
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.status.cached_model import AdapterLoad
from krm_fn.syncer.status.model_endpoints import WorkerEndpoint
from tests.syncer.loops import eventually, runs
from tests.testbed import lora_workers
from tests.testbed.lora_workers import Routed, Workers

SUPPORT = Adapter("support-v1", "s3://models/support")
NEWER = Adapter("support-v1", "s3://models/newer")
RENAMED = Adapter("support-v2", "s3://models/support")
LOADED = AdapterLoad(loaded=True, tried=True)


def key(name="support"):
    """A model. Those of team-b are called `b/…`."""
    namespace, _, own = name.rpartition("/")
    return ObjectKey("nvidia.com", "DynamoModel", f"team-{namespace or 'a'}", own)


def place(number, restarts=0, uid="first"):
    return WorkerEndpoint(f"w-{number}", uid, restarts, f"192.0.{number // 250}.{number % 250 + 1}")


def ready(*places, but=()):
    """All of these places; the pods are ready, except some."""
    return {each: each not in but for each in places}


class Bed:
    """Workers, and a loader that reaches them."""

    def __init__(self, found, **limits):
        self.workers = found
        self.limits = LIMITS._replace(**limits)
        self.metrics = Metrics()
        self.changes: list[ObjectKey] = []
        self.closed: set[str] = set()
        self.gone: set[WorkerEndpoint] = set()
        sent = LoaderMetrics(self.metrics.lora_operations, self.metrics.lora_requests)
        guard = Precondition(lambda namespace: namespace not in self.closed, lambda _, place: place not in self.gone)
        self.loader = LoraLoader(RequestScheduler(self.changes.append, guard, sent, self.limits, lambda: Routed(found.port)))

    def want(self, *places, adapter=SUPPORT, name="support", known=None, kept=(), but=()):
        self.loader.load(key(name), adapter, ready(*places, but=but), kept, known or {})

    def remove(self, *places, adapter=SUPPORT, name="support", kept=()):
        return self.loader.unload(key(name), adapter, ready(*places), kept)

    def loads(self, name="support"):
        return self.loader.load_statuses(key(name))

    def done(self, *places):
        return self.workers.done(*(each.address for each in places))

    async def loaded(self, *places, name="support"):
        """Returns as soon as the model is loaded in all these places."""
        await eventually(lambda: self.loads(name) == dict.fromkeys(places, LOADED))

    def count(self, **labels):
        return self.metrics.registry.get_sample_value("krm_fn_sync_lora_operations_total", labels) or 0

    @contextlib.asynccontextmanager
    async def running(self):
        task = asyncio.create_task(self.loader.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def bed(delay=0, **limits):
    """A bed whose loader runs. Nothing is repeated soon, unless a limit says otherwise."""
    found, began = Workers(delay), asyncio.Event()
    task = asyncio.create_task(found.serve(began.set))
    try:
        await began.wait()
        made = Bed(found, **{"retry": 1000, "longest_retry": 1000, **limits})
        async with made.running():
            yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


POST, DELETE = "POST support-v1 s3://models/support", "DELETE support-v1"


def test_the_limits_are_those_of_the_reference():
    assert (LIMITS.requests, LIMITS.request, LIMITS.batch, LIMITS.retry, LIMITS.removal) == (10, 15, 30, 30, 60)
    assert [LIMITS.delay(failures) for failures in (1, 2, 3, 4, 5, 100)] == [30, 60, 120, 240, 300, 300]


@runs
async def test_an_adapter_is_loaded_once_into_each_place_and_again_after_a_restart_of_its_containers():
    async with bed() as found:
        found.want(place(1), place(2))
        await found.loaded(place(1), place(2))
        found.want(place(1), place(2))
        found.want(place(1), place(2, restarts=1), place(3))
        await found.loaded(place(1), place(2, restarts=1), place(3))
        assert (found.done(place(1)), found.done(place(2)), found.done(place(3))) == ([POST], [POST, POST], [POST])
        found.want(place(1, uid="another"), place(3))
        await found.loaded(place(1, uid="another"), place(3))
        assert found.done(place(1)) == [POST, POST]
        assert set(found.changes) == {key()}
        assert found.count(operation="load", result="success") == 5


@runs
async def test_after_a_restart_the_stored_status_is_trusted_until_the_worker_answers():
    """At least once: what the process before knew is lost. A worker that may have another source of the same name unloads it first."""
    async with bed() as found:
        found.workers.behave(place(1).address, lora_workers.SLOW)
        found.want(place(1), place(2), place(3), known={place(1): True, place(2): False})
        assert found.loads()[place(1)] == AdapterLoad(loaded=True)
        await eventually(lambda: found.loads()[place(2)] == found.loads()[place(3)] == LOADED)
        await eventually(lambda: found.done(place(1)) == [POST])
        assert found.loads()[place(1)] == AdapterLoad(loaded=True)
        assert (found.done(place(2)), found.done(place(3))) == ([DELETE, POST], [POST])


@runs
async def test_a_worker_that_lost_a_trusted_adapter_is_not_ready():
    async with bed() as found:
        found.workers.behave(place(1).address, 500)
        found.want(place(1), known={place(1): True})
        await eventually(lambda: found.loads()[place(1)].tried)
        assert found.loads()[place(1)].loaded is False


@runs
async def test_another_source_of_the_same_name_replaces_the_adapter():
    """A worker that has an adapter of this name would keep it."""
    async with bed() as found:
        found.want(place(1))
        await found.loaded(place(1))
        found.want(place(1), adapter=NEWER)
        assert found.loads() == {place(1): AdapterLoad()}
        await found.loaded(place(1))
        assert found.done(place(1)) == [POST, DELETE, "POST support-v1 s3://models/newer"]


@runs
async def test_another_name_is_loaded_before_the_old_one_is_unloaded():
    """Requests are served all the time. The old one stays if another model uses it."""
    async with bed() as found:
        found.want(place(1))
        found.want(place(1), name="other")
        await found.loaded(place(1))
        await found.loaded(place(1), name="other")
        found.want(place(1), adapter=RENAMED, kept=["support-v1"])
        await found.loaded(place(1))
        found.want(place(1), adapter=RENAMED, name="other")
        await eventually(lambda: found.done(place(1))[-1] == DELETE)
        renamed = "POST support-v2 s3://models/support"
        assert found.done(place(1)) == [POST, POST, renamed, renamed, DELETE]


@runs
async def test_a_change_during_a_request_is_made_after_it():
    async with bed(delay=0.3) as found:
        found.want(place(1))
        await eventually(lambda: found.workers.busy == 1)
        found.want(place(1), adapter=RENAMED)
        await eventually(lambda: len(found.done(place(1))) == 3)
        assert found.done(place(1)) == [POST, "POST support-v2 s3://models/support", DELETE]


# Limits


@runs
async def test_two_hundred_places_stay_within_the_limits():
    """One model uses 8 of the 10 slots, and several all 10."""
    async with bed(delay=0.02) as found:
        places = [place(number) for number in range(200)]
        found.want(*places)
        await found.loaded(*places)
        assert found.workers.busiest <= found.limits.requests_of_model == 8
        for name in ("b", "c"):
            found.want(*places, name=name)
        await found.loaded(*places, name="b")
        await found.loaded(*places, name="c")
        assert found.workers.busiest <= found.limits.requests == 10
        assert len(found.workers.asked) == 600


@runs
async def test_a_worker_gets_one_request_at_a_time():
    """Also if many models have the same base model."""
    async with bed(delay=0.02) as found:
        for number in range(20):
            found.want(place(1), adapter=Adapter(f"a{number}", "s3://a"), name=f"m{number}")
        for number in range(20):
            await found.loaded(place(1), name=f"m{number}")
        assert found.workers.busiest == 1


@runs
async def test_workers_that_do_not_answer_leave_room_for_other_models():
    """Here no request ever ends. A model with 100 places takes 8 slots, so another one is loaded at once."""
    async with bed(request=1000, batch=2000) as found:
        hanging = [place(number) for number in range(100)]
        for each in hanging:
            found.workers.behave(each.address, lora_workers.SLOW)
        found.want(*hanging)
        await eventually(lambda: found.workers.busy == 8)
        found.want(place(200), name="other")
        await found.loaded(place(200), name="other")
        assert found.workers.busy == 8


@runs
async def test_retries_leave_room_for_first_requests():
    """All 10 slots were busy with workers that did not answer. Their retries get 5, so a healthy model does not wait for them."""
    async with bed(request=0.3, batch=0.6, retry=0.1) as found:
        for name in ("a", "b"):
            hanging = [place(number + (0 if name == "a" else 50)) for number in range(8)]
            for each in hanging:
                found.workers.behave(each.address, lora_workers.SLOW)
            found.want(*hanging, name=name)
        await eventually(lambda: len(found.workers.asked) >= 30)
        healthy = [place(number) for number in range(100, 140)]
        found.want(*healthy, name="healthy")
        await found.loaded(*healthy, name="healthy")


@runs
async def test_models_that_do_not_answer_leave_room_for_healthy_ones():
    """After their first requests, three models with 50 workers each share 5 slots, so each second at most 3 more are asked."""
    async with bed(request=2, batch=4) as found:
        for name in range(3):
            hanging = [place(name * 50 + number) for number in range(50)]
            for each in hanging:
                found.workers.behave(each.address, lora_workers.SLOW)
            found.want(*hanging, name=f"m{name}")
        await eventually(lambda: all(any(load.problem for load in found.loads(f"m{name}").values()) for name in range(3)))
        before = len(found.workers.asked)
        healthy = [place(number) for number in range(200, 240)]
        found.want(*healthy, name="healthy")
        await found.loaded(*healthy, name="healthy")
        assert len(found.workers.asked) - before - len(healthy) <= 60, "it did not wait for most of the others"


@runs
async def test_a_batch_ends_in_time_and_tells_who_was_not_asked():
    """Of 30 workers that do not answer, 16 are asked in two waves; the status does not wait for the other waves."""
    async with bed(request=0.4, batch=0.8) as found:
        hanging = [place(number) for number in range(30)]
        for each in hanging:
            found.workers.behave(each.address, lora_workers.SLOW)
        found.want(*hanging)
        await eventually(lambda: all(load.tried for load in found.loads().values()))
        problems = [load.problem for load in found.loads().values()]
        assert "load LoRA: no answer within 0.4 s" in problems
        assert "not asked yet, because other pods of the base model do not answer" in problems
        await eventually(lambda: len(found.workers.asked) == 30)


# Failures


@runs
async def test_a_worker_that_refuses_is_asked_again_with_growing_delays():
    async with bed(retry=0.1, longest_retry=0.4) as found:
        found.workers.behave(place(1).address, 500)
        found.want(place(1))
        await eventually(lambda: len(found.workers.asked) == 6)
        gaps = [after.time - before.time for before, after in pairwise(found.workers.asked)]
        assert all(gap >= least for gap, least in zip(gaps, (0.1, 0.2, 0.4, 0.4, 0.4), strict=True)), gaps
        load = found.loads()[place(1)]
        assert load.problem.startswith("load LoRA failed with status 500: ")
        assert (load.loaded, load.tried, load.lasting) == (False, True, True)
        found.workers.behave(place(1).address, lora_workers.OK)
        await found.loaded(place(1))


@runs
async def test_a_worker_that_does_not_answer_is_asked_by_no_model_before_the_delay_is_over():
    async with bed(request=0.1, retry=0.5) as found:
        found.workers.behave(place(1).address, lora_workers.SLOW)
        for name in ("a", "b", "c"):
            found.want(place(1), name=name)
        await eventually(lambda: len(found.workers.asked) == 3)
        gaps = [after.time - before.time for before, after in pairwise(found.workers.asked)]
        assert gaps[0] >= 0.4, gaps
        assert gaps[1] >= 0.8, gaps
        problem = "load LoRA: no answer within 0.1 s"
        await eventually(lambda: {load.problem for name in "abc" for load in found.loads(name).values()} == {problem})


@runs
async def test_a_pod_that_becomes_ready_is_asked_at_once():
    """A worker that starts refuses connections. The delay after that is long here."""
    async with bed() as found:
        found.workers.behave(place(1).address, 503)
        found.want(place(1), but=[place(1)])
        await eventually(lambda: found.loads()[place(1)].tried)
        found.workers.behave(place(1).address, lora_workers.OK)
        found.want(place(1))
        await found.loaded(place(1))


@runs
async def test_a_bug_stops_neither_the_others_nor_becomes_a_hot_loop(caplog):
    async with bed() as found:
        found.want(place(1), adapter=Adapter("a", b"no text"), name="broken")  # type: ignore[arg-type]
        found.want(place(2))
        await found.loaded(place(2))
        await eventually(lambda: found.loads("broken")[place(1)].tried)
        assert found.loads("broken")[place(1)].problem == "an internal error of krm-fn sync, see its log"
        assert caplog.text.count("a bug, please report it") == 1


# What goes away


@runs
async def test_a_pod_that_goes_away_during_a_request_is_given_up():
    """Another pod may get its address soon."""
    async with bed() as found:
        found.workers.behave(place(1).address, lora_workers.SLOW)
        found.want(place(1), place(2))
        await eventually(lambda: found.workers.busy == 1)
        found.want(place(2))
        await eventually(lambda: found.workers.given_up == 1)
        await found.loaded(place(2))
        assert found.count(operation="load", result="cancelled") == 1


@runs
async def test_a_place_in_which_the_pod_does_not_stand_any_more_is_not_called():
    """The pods in the cache are newer than the last word of the controller."""
    async with bed() as found:
        found.gone.add(place(1))
        found.want(place(1), place(2))
        await found.loaded(place(2))
        assert found.done(place(1)) == []


@runs
async def test_a_deleted_model_is_unloaded_and_then_forgotten():
    async with bed() as found:
        found.want(place(1), place(2))
        await found.loaded(place(1), place(2))
        assert not found.remove(place(1), place(2)).over
        await eventually(lambda: found.remove(place(1), place(2)).over)
        assert found.remove(place(1), place(2))[1:] == (2, 0)
        found.loader.forget(key())
        assert (found.done(place(1)), found.done(place(2)), found.loads()) == ([POST, DELETE], [POST, DELETE], {})


@runs
async def test_a_deleted_model_of_an_earlier_process_is_unloaded_from_all_places():
    """A worker that does not have it answers 404."""
    async with bed() as found:
        found.workers.behave(place(2).address, 404)
        found.remove(place(1), place(2))
        await eventually(lambda: found.remove(place(1), place(2)).over)
        assert found.remove(place(1), place(2)).failed == 0
        assert found.done(place(1)) == found.done(place(2)) == [DELETE]


@runs
async def test_what_another_model_uses_is_not_unloaded():
    async with bed() as found:
        assert found.remove(place(1), kept=["support-v1"]).over
        assert found.workers.asked == []


@runs
async def test_a_worker_that_does_not_unload_is_given_up_after_a_while():
    async with bed(retry=0.2, removal=1) as found:
        found.workers.behave(place(1).address, 500)
        found.workers.behave(place(2).address, lora_workers.SLOW)
        assert not found.remove(place(1), place(2), place(3)).over
        await eventually(lambda: found.remove(place(1), place(2), place(3)).over)
        assert found.remove(place(1), place(2), place(3))[1:] == (1, 2)
        assert key() in found.changes, "the controller hears of it"
        assert len(found.done(place(1))) > 1
        found.loader.forget(key())
        await eventually(lambda: found.workers.given_up == 1)


@runs
async def test_a_model_that_is_deleted_while_it_is_loaded_is_unloaded_after_that():
    """The worker goes on to load it, whatever becomes of the request."""
    async with bed(delay=0.3) as found:
        found.want(place(1))
        await eventually(lambda: found.workers.busy == 1)
        found.remove(place(1))
        await eventually(lambda: found.remove(place(1)).over)
        assert found.done(place(1)) == [POST, DELETE]


@runs
async def test_a_model_that_is_gone_is_unloaded_and_forgotten():
    """Somebody removed its finalizer."""
    async with bed(retry=0.2, removal=1) as found:
        found.workers.behave(place(2).address, lora_workers.SLOW)
        found.want(place(1), place(2))
        await eventually(lambda: found.loads()[place(1)] == LOADED)
        found.loader.model_deleted(key())
        found.loader.model_deleted(key())
        await eventually(lambda: not found.loads())
        await eventually(lambda: found.workers.busy == 0)
        assert found.done(place(1)) == [POST, DELETE]
        assert not found.loader._endpoints, "nothing remains in memory"


@runs
async def test_a_model_that_comes_back_is_loaded_again():
    async with bed() as found:
        found.want(place(1))
        await found.loaded(place(1))
        found.loader.model_deleted(key())
        await eventually(lambda: not found.loads())
        found.want(place(1))
        await found.loaded(place(1))
        assert found.done(place(1)) == [POST, DELETE, POST]


# Who may work


@runs
async def test_a_contested_model_waits():
    async with bed() as found:
        found.want(place(1))
        found.loader.pause(key())
        found.want(place(2), name="other")
        await found.loaded(place(2), name="other")
        assert found.done(place(1)) == []
        found.want(place(1))
        await found.loaded(place(1))


@runs
async def test_nothing_is_sent_where_this_process_does_not_work():
    """It does not lead, or another program holds the namespace."""
    async with bed() as found:
        found.closed.add("team-b")
        found.want(place(1), name="b/support")
        found.want(place(2))
        await found.loaded(place(2))
        assert found.done(place(1)) == []
        found.closed.clear()
        found.want(place(1), name="b/support")
        await found.loaded(place(1), name="b/support")


@runs
async def test_a_loader_that_ends_gives_its_requests_up():
    async with bed() as found:
        found.workers.behave(place(9).address, lora_workers.SLOW)
        second = Bed(found.workers)
        async with second.running():
            second.want(place(9))
            await eventually(lambda: found.workers.busy == 1)
        await eventually(lambda: found.workers.given_up == 1)
        assert second.metrics.registry.get_sample_value("krm_fn_sync_lora_operations_in_flight") == 0
