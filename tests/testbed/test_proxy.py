"""The proxy breaks connections in the ways that tests ask for."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from tests.testbed import proxy, server


@pytest.fixture
def faulty():
    """A proxy to a server that returns what it gets."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=_echo, args=[listener], daemon=True).start()
        with proxy.to(listener.getsockname()[1]) as between:
            yield between


def _echo(listener):
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_return, args=[connection], daemon=True).start()


def _return(connection):
    with contextlib.suppress(OSError), connection:
        while data := connection.recv(100):
            connection.sendall(data)


@contextlib.contextmanager
def connected(faulty):
    with socket.create_connection(("127.0.0.1", faulty.port), timeout=0.3) as connection:
        yield connection


def said(connection, text):
    connection.sendall(text)
    return connection.recv(100)


def test_forwards_until_the_client_leaves(faulty):
    with connected(faulty) as connection:
        assert said(connection, b"one") == b"one"
        assert said(connection, b"two") == b"two"
        assert faulty.connections == 1
    server.eventually(lambda: faulty.connections == 0)


def test_cut_ends_existing_connections_only(faulty):
    with connected(faulty) as old:
        assert said(old, b"one") == b"one"
        faulty.cut()
        assert old.recv(100) == b""
        with connected(faulty) as new:
            assert said(new, b"two") == b"two"


def test_swallow_keeps_existing_connections_open_and_silent(faulty):
    with connected(faulty) as old:
        assert said(old, b"one") == b"one"
        faulty.swallow()
        old.sendall(b"lost")
        with pytest.raises(TimeoutError):
            old.recv(100)
        with connected(faulty) as new:
            assert said(new, b"two") == b"two"


def test_refuse_leaves_existing_connections_alone_and_accept_undoes_it(faulty):
    with connected(faulty) as old:
        assert said(old, b"one") == b"one"
        faulty.refuse()
        with pytest.raises(ConnectionRefusedError), connected(faulty):
            pass
        assert said(old, b"two") == b"two"
        faulty.accept()
        with connected(faulty) as new:
            assert said(new, b"three") == b"three"
