"""The client returns objects, and tells errors of the server from errors of the network."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest
from aiohttp import web

from krm_fn.cluster import client as clients
from krm_fn.cluster.access import ClientIdentity, Cluster, Content, Trust
from krm_fn.cluster.client import ApiError, Client, GarbledError, StalledError, TransportError
from tests.support.cases import cases
from tests.syncer.loops import runs
from tests.syncer.odd_server import giving

CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def lines(client, path, params=None):
    async with contextlib.aclosing(client.stream(path, params or {})) as stream:
        return [line async for line in stream]


@runs
async def test_requests_and_errors_of_the_api_server(fragile):
    path = CONFIG_MAPS.format(fragile.plane.namespace("client"))
    async with Client(fragile.cluster()) as client:
        created = await client.request("POST", path, body=config_map("a", x="1"))
        patch = {"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]}, "data": {"x": "2"}}
        patched = await client.request("PATCH", f"{path}/a", {"fieldManager": "tests"}, patch, clients.MERGE_PATCH)
        assert patched["data"] == {"x": "2"}
        with pytest.raises(ApiError) as conflict:
            await client.request("PATCH", f"{path}/a", body=patch, content_type=clients.MERGE_PATCH)
        assert (conflict.value.status, conflict.value.reason) == (409, "Conflict")
        with pytest.raises(ApiError, match='configmaps "b" not found') as missing:
            await client.request("GET", f"{path}/b")
        assert (missing.value.status, missing.value.retry_after) == (404, None)


@runs
async def test_every_text_reaches_the_server(fragile):
    """The server reads the body of a server-side apply as YAML."""
    path = CONFIG_MAPS.format(fragile.plane.namespace("client-texts"))
    texts = {"emoji": "\U0001f642", "letters": "äß漢", "control": "\x00\x1f\x7f\x85\u2028\ufeff\uffff", "quotes": "\"'\\u0041\n"}
    params = {"fieldManager": "tests", "force": "true"}
    async with Client(fragile.cluster()) as client:
        applied = await client.request("PATCH", f"{path}/a", params, config_map("a", **texts), clients.APPLY_PATCH)
        created = await client.request("POST", path, body=config_map("b", **texts))
    assert applied["data"] == created["data"] == texts


@runs
async def test_a_stream_carries_lines_that_are_longer_than_every_buffer(fragile):
    """An object may have 1.5 MiB, and a watch sends it in one line."""
    path = CONFIG_MAPS.format(fragile.plane.namespace("client-long"))
    async with Client(fragile.cluster()) as client:
        await client.request("POST", path, body=config_map("long", x="x" * 1_000_000))
        await client.request("POST", path, body=config_map("short"))
        found = await lines(client, path, {"watch": "1", "timeoutSeconds": "1"})
        assert [len(each["object"].get("data", {}).get("x", "")) for each in found if each["type"] == "ADDED"] == [1_000_000, 0]


@runs
async def test_a_refused_connection_and_an_unknown_authority_are_transport_errors(fragile, between):
    between.refuse()
    async with Client(fragile.cluster(between.port)) as client:
        with pytest.raises(TransportError, match="GET /version"):
            await client.request("GET", "/version")
        with pytest.raises(TransportError):
            await lines(client, "/version")
    stranger = Cluster(
        f"https://127.0.0.1:{fragile.port}", Trust(Content(path=fragile.authority.certificate)), fragile.cluster()._credentials
    )
    async with Client(stranger) as client:
        with pytest.raises(TransportError, match="certificate verify failed"):
            await client.request("GET", "/version")


@runs
async def test_silence_ends_requests_and_streams_and_the_next_request_uses_another_connection(fragile, between):
    path = CONFIG_MAPS.format(fragile.plane.namespace("client-silence"))
    async with Client(fragile.cluster(between.port), timeout=100, stall=0.5) as client:
        await asyncio.gather(*(client.request("GET", "/version") for _ in range(3)))
        between.swallow()
        with pytest.raises(StalledError, match="GET /version"):
            await client.request("GET", "/version", timeout=0.5)
        async with asyncio.timeout(60):
            assert (await client.request("GET", "/version"))["major"] == "1"
        with pytest.raises(StalledError):
            await lines(client, path, {"watch": "1"})
        between.cut()  # lets the swallowed connections end within the test
        await asyncio.sleep(0.1)


@runs
async def test_a_cut_connection_ends_a_stream(fragile, between):
    path = CONFIG_MAPS.format(fragile.plane.namespace("client-cut"))
    async with Client(fragile.cluster(between.port)) as client:
        reading = asyncio.create_task(lines(client, path, {"watch": "1"}))
        await asyncio.sleep(0.3)
        between.cut()
        with pytest.raises(TransportError):
            await reading


READS = [("a request", lambda client, path: client.request("GET", path)), ("a stream", lines)]


@cases(("kind", "reading"), READS)
@runs
async def test_a_connection_that_ends_between_head_and_body_is_a_transport_error(kind, reading, fragile, between, monkeypatch):
    """A request without an answer closes the connections of all requests, also of one that has the head of its answer only."""
    path = CONFIG_MAPS.format(fragile.plane.namespace("client-head"))
    async with Client(fragile.cluster(between.port)) as client:
        fragile.plane.client.request("POST", path, config_map("long", x="x" * 1_000_000))
        await asyncio.gather(*(client.request("GET", "/version") for _ in range(3)))
        send = client._send_once

        async def send_then_close(*arguments, **options):
            response = await send(*arguments, **options)
            monkeypatch.setattr(client, "_send_once", send)
            between.swallow()
            with pytest.raises(StalledError):
                await client.request("GET", "/version", timeout=0.1)
            await client.close()
            return response

        monkeypatch.setattr(client, "_send_once", send_then_close)
        with pytest.raises(TransportError):
            await reading(client, f"{path}/long")
        between.cut()


GARBAGE = [
    ("no JSON", [b"<html>\n", ...], GarbledError, "not JSON"),
    ("JSON that is no object", [b"[1]\n", ...], GarbledError, "not an object"),
    ("bytes that are no text", [b"\xff\xfe\n", ...], GarbledError, "not JSON"),
    ("a line without end", [b"x" * 5000, ...], GarbledError, "longer than"),
    ("half a line", [b'{"type": '], TransportError, "in the middle of a line"),
]


@cases(("reason", "answer", "error", "said"), GARBAGE)
@runs
async def test_garbage_in_a_stream(reason, answer, error, said, monkeypatch):
    monkeypatch.setattr(clients, "LINE_LIMIT", 4096)
    async with giving([{"fine": 1}, b"\n", *answer]) as (_, cluster), Client(cluster, stall=5) as client:
        stream = client.stream("/", {})
        assert await anext(stream) == {"fine": 1}
        with pytest.raises(error, match=said):
            await anext(stream)


@runs
async def test_json_that_is_too_deep_is_garbage():
    async with giving([b"[" * 200_000]) as (_, cluster), Client(cluster) as client:
        with pytest.raises(GarbledError, match="not JSON"):
            await client.request("GET", "/")


@runs
async def test_garbage_instead_of_an_object():
    async with giving([b"<html>"]) as (_, cluster), Client(cluster) as client:
        with pytest.raises(GarbledError, match="<html>"):
            await client.request("GET", "/")


TOO_MANY = {"kind": "Status", "reason": "TooManyRequests", "message": "slow down", "details": {"retryAfterSeconds": 7}, "code": 429}
ERRORS = [
    ("the header Retry-After", web.Response(status=429, headers={"Retry-After": "3"}), (429, "", 3)),
    ("the field retryAfterSeconds", web.Response(status=429, text=json.dumps(TOO_MANY)), (429, "TooManyRequests", 7)),
    ("a Retry-After that is a date", web.Response(status=503, headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}), (503, "", None)),
    ("an absurd Retry-After", web.Response(status=503, headers={"Retry-After": "99999999"}), (503, "", 60)),
    ("the page of a load balancer", web.Response(status=502, text="<html>bad gateway</html>"), (502, "", None)),
    ("a redirection, which would carry the token away", web.Response(status=302, headers={"Location": "/other"}), (302, "", None)),
]


@cases(("reason", "answer", "expected"), ERRORS)
@runs
async def test_errors(reason, answer, expected):
    async with giving(answer) as (server, cluster), Client(cluster) as client:
        with pytest.raises(ApiError) as raised:
            await client.request("GET", "/")
        assert (raised.value.status, raised.value.reason, raised.value.retry_after) == expected
        assert len(server.asked) == 1


class Tokens:
    """Credentials that change with each refusal, until they are used up."""

    def __init__(self, *tokens):
        self._tokens = list(tokens)

    async def identity(self, *, refresh):
        if refresh and len(self._tokens) > 1:
            del self._tokens[0]
        return ClientIdentity(f"Bearer {self._tokens[0]}")


@runs
async def test_after_401_the_credentials_are_read_again_once(fragile):
    cluster = Cluster(fragile.cluster().server, Trust(Content(path=fragile.certificate)), Tokens("wrong", fragile.token))
    async with Client(cluster) as client:
        assert (await client.request("GET", "/api"))["kind"] == "APIVersions"
    hopeless = Cluster(fragile.cluster().server, Trust(Content(path=fragile.certificate)), Tokens("wrong", "wrong too", fragile.token))
    async with Client(hopeless) as client:
        with pytest.raises(ApiError) as refused:
            await client.request("GET", "/api")
        assert refused.value.status == 401
        assert await lines(client, "/api")


@runs
async def test_requests_that_are_refused_together_read_the_credentials_once(fragile):
    cluster = Cluster(fragile.cluster().server, Trust(Content(path=fragile.certificate)), Tokens("wrong", fragile.token, "wrong too"))
    async with Client(cluster) as client:
        await asyncio.gather(*(client.request("GET", "/api") for _ in range(4)))


@runs
async def test_the_same_credentials_are_not_sent_twice():
    async with giving(web.Response(status=401)) as (server, cluster), Client(cluster) as client:
        with pytest.raises(ApiError):
            await client.request("GET", "/")
        assert len(server.asked) == 1


@runs
async def test_a_closed_client_refuses_requests(fragile):
    client = Client(fragile.cluster())
    with pytest.raises(TransportError, match="closed"):
        await client.request("GET", "/version")
    async with client:
        assert await client.request("GET", "/version")
    with pytest.raises(TransportError, match="closed"):
        await client.request("GET", "/version")
