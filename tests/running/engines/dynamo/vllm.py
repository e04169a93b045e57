"""vLLM on one or several nodes: processes of its own (`mp`), a Ray cluster, or data parallelism.

`mp`: rank 0 listens at --master-port; the others are headless and serve no probes. Data parallelism: the node with rank 0 listens at
--data-parallel-rpc-port, and each node holds --data-parallel-size-local ranks and serves. Ray: see `ray_cluster`.
"""

from __future__ import annotations

import argparse
import sys
import threading
from typing import NoReturn

from . import ray_cluster, rendezvous


def main() -> NoReturn:
    """Join the group that the flags describe, and serve. The process ends when the group does."""
    options = _options(sys.argv[1:])
    ready = threading.Event()
    rendezvous.end_on_sigterm()
    if not options.headless:
        rendezvous.serve(ready)
    world = options.tensor_parallel_size * options.pipeline_parallel_size
    if options.nnodes > 1:
        _processes(options, world, ready)
    if options.data_parallel_address:
        _data_parallel(options, world, ready)
    if options.distributed_executor_backend == "ray":
        ray_cluster.use(world, ready.set)
    sys.exit(f"this engine runs on several nodes only: {sys.argv}")


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--nnodes"):
        parser.add_argument(name, type=int, default=1)
    for name in ("--node-rank", "--master-port", "--data-parallel-size-local", "--data-parallel-start-rank", "--data-parallel-rpc-port"):
        parser.add_argument(name, type=int, default=0)
    for name in ("--model", "--master-addr", "--data-parallel-address"):
        parser.add_argument(name, default="")
    parser.add_argument("--distributed-executor-backend", choices=("mp", "ray"))
    for name in ("--headless", "--data-parallel-hybrid-lb"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args(words)


def _processes(options: argparse.Namespace, world: int, ready: threading.Event) -> NoReturn:
    """Each node holds its share of the GPUs of one copy of the model."""
    if world != options.nnodes * rendezvous.gpus():
        sys.exit(f"{world} processes do not fill {options.nnodes} nodes of {rendezvous.gpus()} GPUs")
    if options.headless != (options.node_rank > 0):
        sys.exit("all nodes but the first are headless")
    own = rendezvous.member([options.node_rank], options.master_addr)
    if options.node_rank == 0:
        rendezvous.lead(options.master_addr, options.master_port, own, options.nnodes, ready.set)
    rendezvous.follow(options.master_addr, options.master_port, own, ready.set)


def _data_parallel(options: argparse.Namespace, world: int, ready: threading.Event) -> NoReturn:
    """Each node holds some copies of the model."""
    start, local = options.data_parallel_start_rank, options.data_parallel_size_local
    if local * world != rendezvous.gpus():
        sys.exit(f"{local} copies of {world} GPUs do not fill a node of {rendezvous.gpus()} GPUs")
    own = rendezvous.member(range(start, start + local), options.data_parallel_address)
    address = options.data_parallel_address, options.data_parallel_rpc_port
    if start == 0:
        rendezvous.lead(*address, own, options.data_parallel_size, ready.set)
    rendezvous.follow(*address, own, ready.set)


if __name__ == "__main__":
    main()
