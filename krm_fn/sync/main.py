"""Runs `krm-fn sync`: finds the cluster, and runs the syncer until a signal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from krm_fn.sync.access import Cluster, ClusterError, kubeconfig
from krm_fn.sync.client import Client
from krm_fn.sync.options import Options
from krm_fn.sync.syncer import Syncer

_LOG = logging.getLogger(__name__)


def start(options: Options, warnings: Iterable[str] = ()) -> int:
    """Runs the syncer until a signal ends it. Returns the exit code: 0 after a signal, 1 after a failure, 2 for wrong settings."""
    for warning in warnings:
        _LOG.warning("%s", warning)
    try:
        cluster = kubeconfig.find(Path(options.kubeconfig) if options.kubeconfig else None, options.context)
    except ClusterError as problem:
        _LOG.error("%s", problem)
        return 2
    return asyncio.run(_run(options, cluster))


async def _run(options: Options, cluster: Cluster) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _signalled, stop, number)
    async with Client(cluster) as client:
        return await Syncer(options, client).run(stop)


def _signalled(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        _LOG.warning("%s again: ending at once", number.name)
        os._exit(1)
    _LOG.info("%s: ending", number.name)
    stop.set()
