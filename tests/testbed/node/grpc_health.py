"""Asks a server by the gRPC health protocol: one call of `grpc.health.v1.Health/Check` over HTTP/2 without TLS, as a kubelet's probe does.

Written out, because the test bed needs no other gRPC: the frames of RFC 9113, headers as literals of RFC 7541, and a message of one field.
"""

from __future__ import annotations

import asyncio
import struct

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GO_AWAY = 0, 1, 3, 4, 6, 7
_END_STREAM, _ACK, _END_HEADERS, _PADDED = 1, 1, 4, 8
_STATUS = {0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}


async def check(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authority: str, service: str) -> str:
    """The status of a service on a fresh connection, such as `SERVING`. Raises OSError or EOFError if the server does not speak gRPC."""
    name = service.encode()
    message = (b"\x0a" + bytes([len(name)]) + name) if name else b""
    body = struct.pack("!BI", 0, len(message)) + message
    writer.write(_PREFACE + _frame(_SETTINGS, 0, 0))
    writer.write(_frame(_HEADERS, _END_HEADERS, 1, _headers(authority)) + _frame(_DATA, _END_STREAM, 1, body))
    said = b""
    while True:
        size, kind, flags, stream = struct.unpack("!I", b"\0" + await reader.readexactly(3)) + struct.unpack(
            "!BBI", await reader.readexactly(6)
        )
        payload = await reader.readexactly(size)
        if kind in (_SETTINGS, _PING) and not flags & _ACK:
            writer.write(_frame(kind, _ACK, 0, payload if kind == _PING else b""))
        elif kind in (_RESET, _GO_AWAY):
            raise ConnectionResetError("the server ended the call")
        elif kind == _DATA and stream == 1:
            said += payload[1 : size - payload[0]] if flags & _PADDED else payload
        if stream == 1 and kind in (_DATA, _HEADERS) and flags & _END_STREAM:
            return _status(said)


def _status(said: bytes) -> str:
    """The status in a response: a length of five bytes, and a message whose field 1 is left out if it is 0."""
    if len(said) < 5:
        return "SERVICE_UNKNOWN"  # the call failed: an error has trailers and no message
    message = said[5:]
    return _STATUS.get(message[1] if message[:1] == b"\x08" else 0, "UNKNOWN")


def _headers(authority: str) -> bytes:
    """POST by http; then the path, the authority and the content type by the index of their names, and `te` by its name."""
    pairs = ((b"\x04", b"/grpc.health.v1.Health/Check"), (b"\x01", authority.encode()), (b"\x0f\x10", b"application/grpc"))
    literals = b"".join(name + bytes([len(value)]) + value for name, value in pairs)
    return b"\x83\x86" + literals + b"\x00\x02te\x08trailers"


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload
