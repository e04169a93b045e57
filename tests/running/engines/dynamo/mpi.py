"""`trtllm-llmapi-launch COMMAND`: one process of an MPI job, with the real Open MPI. All processes tell each other where they run.

Then rank 0 runs the command as NVIDIA's program does (TensorRT-LLM, `tensorrt_llm/llmapi/trtllm-llmapi-launch`): a shell splits its words
again, and it has no variables of MPI. The other ranks wait, where theirs would compute. The program uses Open MPI's C library: the test bed
has no Python package for MPI.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time

from . import rendezvous

MEMBERS = "MEMBERS_OF_JOB"
"""The variable of the command with all processes of the job, as JSON."""
_LIBRARY = "libmpi.so.40"
_BYTES = 512
_OF_MPI = ("OMPI_", "PMIX_", "PMI_", "MPI_", "UCX_")


def main() -> int:
    """Meet the other processes of the job, and run the command on rank 0; returns its exit code."""
    members = _gather()
    if members[0]["rank"] == int(os.environ["OMPI_COMM_WORLD_RANK"]):
        cleaned = {name: value for name, value in os.environ.items() if not name.startswith(_OF_MPI)}
        command = ["bash", "-c", "$0", " ".join(sys.argv[1:])]
        return subprocess.run(command, env={**cleaned, MEMBERS: json.dumps(members)}, check=False).returncode
    while True:  # mpirun ends this process with the job; a blocking call of MPI would use a whole CPU
        time.sleep(3600)


def _gather() -> list[rendezvous.Object]:
    """The description that each process gives of itself, in the order of their ranks: MPI_Allgather over the network of the pods."""
    mpi = ctypes.CDLL(_LIBRARY, mode=ctypes.RTLD_GLOBAL)
    world, byte = (ctypes.byref(ctypes.c_char.in_dll(mpi, f"ompi_mpi_{name}")) for name in ("comm_world", "byte"))
    _check(mpi.MPI_Init(None, None))
    size, rank = ctypes.c_int(), ctypes.c_int()
    _check(mpi.MPI_Comm_size(world, ctypes.byref(size)))
    _check(mpi.MPI_Comm_rank(world, ctypes.byref(rank)))
    own = json.dumps({**rendezvous.member([], ""), "rank": rank.value, "size": size.value, "user": os.geteuid()}).encode()
    sent, received = ctypes.create_string_buffer(own.ljust(_BYTES), _BYTES), ctypes.create_string_buffer(_BYTES * size.value)
    _check(mpi.MPI_Allgather(sent, _BYTES, byte, received, _BYTES, byte, world))
    return [json.loads(received.raw[start : start + _BYTES]) for start in range(0, _BYTES * size.value, _BYTES)]


def _check(code: int) -> None:
    if code:
        sys.exit(f"Open MPI failed with {code}")


if __name__ == "__main__":
    sys.exit(main())
