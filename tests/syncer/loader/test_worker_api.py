"""The requests to a worker, and what becomes of each answer. The worker is a real HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from time import monotonic

import aiohttp
import pytest
from aiohttp import web

from krm_fn.syncer.loader.worker_api import BODY_LIMIT, Adapter, WorkerApi, WorkerError, connector
from tests.support.cases import cases
from tests.syncer.loops import eventually, runs
from tests.testbed import lora_workers
from tests.testbed.lora_workers import Routed, Workers

URL = "http://192.0.2.1:9090"
ADAPTER = Adapter("support-v1", "s3://models/support")


@contextlib.asynccontextmanager
async def worker(how=lora_workers.OK, seconds=30.0):
    """A worker that does this, and a client."""
    found, ready = Workers(), asyncio.Event()
    found.behave("192.0.2.1", how)
    task = asyncio.create_task(found.serve(ready.set))
    try:
        await ready.wait()
        refused = ("192.0.2.1",) if how == lora_workers.REFUSED else ()
        async with WorkerApi(seconds, lambda: Routed(found.port, refused)) as api:
            yield found, api
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@runs
async def test_loading_sends_the_name_and_the_source():
    async with worker() as (found, api):
        await api.load(URL, ADAPTER)
        (asked,) = found.asked
        assert (asked.method, asked.path) == ("POST", "/v1/loras")
        assert asked.body == {"lora_name": "support-v1", "source": {"uri": "s3://models/support"}}
        assert asked.headers["Content-Type"] == "application/json"


NAMES = [
    # name, its path
    ("support-v1.0", "support-v1.0"),
    ("org/model", "org%2Fmodel"),
    ("../../admin", "..%2F..%2Fadmin"),
    ("a b?c#d%e", "a%20b%3Fc%23d%25e"),
    ("Größe", "Gr%C3%B6%C3%9Fe"),
]


@pytest.mark.parametrize(("name", "path"), NAMES)
@runs
async def test_no_name_leaves_the_path_of_adapters(name, path):
    """The reference does not encode it."""
    async with worker() as (found, api):
        await api.unload(URL, Adapter(name, ""))
        (asked,) = found.asked
        assert (asked.method, asked.path, asked.body) == ("DELETE", f"/v1/loras/{path}", None)
        assert "Content-Type" not in asked.headers


@runs
async def test_no_credentials_leave_and_no_proxy_is_used(monkeypatch, tmp_path):
    """Neither those of the API server, which another client holds, nor those of the user."""
    (tmp_path / ".netrc").write_text("machine 192.0.2.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret@127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:1")
    async with worker() as (found, api):
        await api.load(URL, ADAPTER)
        await api.unload(URL, ADAPTER)
        for asked in found.asked:
            assert not {"authorization", "proxy-authorization", "cookie"} & {name.lower() for name in asked.headers}


async def failure(call):
    """Message, result and `answered` of a call that fails; None for a success."""
    with contextlib.suppress(WorkerError):
        return await call(URL, ADAPTER)
    with pytest.raises(WorkerError) as told:
        await call(URL, ADAPTER)
    return str(told.value), told.value.result, told.value.answered


NONE = "so this is not a worker of Dynamo"
ANSWERS = [
    # what the worker does, action, result, message; an empty message is a success
    (200, "load", "", ""),
    (201, "load", "", ""),
    (202, "load", "", ""),
    (204, "unload", "", ""),
    (404, "unload", "", ""),
    (404, "load", "refused", 'load LoRA failed with status 404: {"status": "error", "message": "no such adapter"}'),
    (400, "load", "refused", 'load LoRA failed with status 400: {"status": "error", "message": "no such adapter"}'),
    (500, "unload", "refused", 'unload LoRA failed with status 500: {"status": "error", "message": "no such adapter"}'),
    (lora_workers.HTML, "load", "refused", f"load LoRA failed with status 200: the answer is an HTML page, {NONE}"),
    (lora_workers.REDIRECT, "load", "refused", "load LoRA failed with status 307: redirects are not followed"),
    (lora_workers.ENDLESS, "load", "refused", f"load LoRA failed with status 200: the answer is longer than 64 KiB, {NONE}"),
    (lora_workers.REFUSED, "load", "error", "failed to call load LoRA endpoint: Connection refused"),
]


@pytest.mark.parametrize(("how", "action", "result", "message"), ANSWERS)
@runs
async def test_what_becomes_of_an_answer(how, action, result, message):
    """A worker that answers, in whichever way, is not one that does not answer."""
    async with worker(how) as (found, api):
        told = await failure(api.load if action == "load" else api.unload)
        assert told == ((message, result, result == "refused") if message else None)
        assert {each.pod for each in found.asked} <= {"192.0.2.1"}, "no redirect is followed"
        assert bool(found.asked) == (how != lora_workers.REFUSED)


@runs
async def test_a_worker_that_does_not_answer_is_given_up():
    async with worker(lora_workers.SLOW, seconds=0.5) as (found, api):
        began = monotonic()
        with pytest.raises(WorkerError, match=r"load LoRA: no answer within 0\.5 s") as told:
            await api.load(URL, ADAPTER)
        assert (told.value.result, told.value.answered) == ("timeout", False)
        assert monotonic() - began >= 0.5
        await eventually(lambda: found.given_up == 1)


async def answered(body, action="load", **fields):
    """The message of a failure that a server with this answer leads to; None for a success."""

    async def answer(_request):
        return web.Response(status=500, body=body, **fields)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with WorkerApi(30, lambda: Routed(runner.addresses[0][1])) as api:
            failed = await failure(api.load if action == "load" else api.unload)
            return failed[0].removeprefix(f"{action} LoRA failed with status 500: ") if failed else None
    finally:
        await runner.cleanup()


BODIES = [
    # reason, body, what of it is told
    ("a line", b"disk full\n", "disk full"),
    ("nothing", b"", "no message"),
    ("several lines", b"a\r\n\tb\n\n c", "a b c"),
    ("bytes that are no text", b"\xff\x1b[31mred\x00", "\ufffd?[31mred?"),
    ("a long text", b"x" * 1000, "x" * 200 + "…"),
    ("the source of the adapter", b"cannot read s3://models/support/weights", "cannot read the source/weights"),
]


@cases(("body", "told"), BODIES)
@runs
async def test_a_message_has_the_beginning_of_the_answer_in_one_line(body, told):
    assert await answered(body, content_type="text/plain") == told


ABSENT = f"LoRA adapter '{ADAPTER.name}' not found. Available LoRAs: []"
SAID = [
    # reason, message of a worker that does not unload, success
    ("it does not have the adapter", {"status": "error", "message": ABSENT}, True),
    ("it does not have another adapter", {"status": "error", "message": "LoRA adapter 'other' not found. Available LoRAs: []"}, False),
    ("its engine failed", {"status": "error", "message": f"Failed: {ABSENT}"}, False),
    ("the message is no text", {"status": "error", "message": [ABSENT]}, False),
    ("the answer is a list", [ABSENT], False),
]


@cases(("said", "success"), SAID)
@runs
async def test_a_worker_without_the_adapter_has_unloaded_it(said, success):
    """The runtime answers 500 then, with the message of `unload_lora` of vLLM's and SGLang's workers in all releases."""
    body = json.dumps(said).encode()
    assert (await answered(body, "unload", content_type="application/json") is None) is success
    assert await answered(body, "load", content_type="application/json") is not None


@runs
async def test_an_unloading_answer_that_is_no_json():
    assert await answered(ABSENT.encode(), "unload", content_type="text/plain") == ABSENT


@runs
async def test_a_compressed_answer_is_not_unpacked():
    """A few bytes could become gigabytes."""
    assert (await answered(b"\x1f\x8b\x08" + b"\0" * 50, headers={"Content-Encoding": "gzip"})).startswith("\ufffd??")


@runs
async def test_each_request_has_a_connection_of_its_own():
    """A pod does not keep a connection of the syncer open."""
    made = connector()
    assert isinstance(made, aiohttp.TCPConnector)
    assert made.force_close
    assert BODY_LIMIT == 65536
    await made.close()
