"""SGLang on several nodes: rank 0 listens at the port of --dist-init-addr and serves; the others connect and serve no requests."""

from __future__ import annotations

import argparse
import sys
import threading
from typing import NoReturn

from . import rendezvous


def main() -> NoReturn:
    """Join the group that the flags describe, and serve. The process ends when the group does."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model-path")
    parser.add_argument("--dist-init-addr", required=True)
    for name in ("--tp", "--nnodes", "--node-rank"):
        parser.add_argument(name, type=int, required=True)
    options = parser.parse_args()
    rendezvous.end_on_sigterm()
    if options.tp != options.nnodes * rendezvous.gpus():
        sys.exit(f"{options.tp} processes do not fill {options.nnodes} nodes of {rendezvous.gpus()} GPUs")
    host, _, port = options.dist_init_addr.rpartition(":")
    own, ready = rendezvous.member([options.node_rank], host), threading.Event()
    if options.node_rank:
        rendezvous.follow(host, int(port), own, ready.set)
    rendezvous.serve(ready)
    rendezvous.lead(host, int(port), own, options.nnodes, ready.set)


if __name__ == "__main__":
    main()
