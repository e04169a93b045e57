"""`make try`: the graph of docs/getting-started.md on a control plane and a node of its own, until Ctrl-C. Nothing is left behind.

Needs Linux. Without root, it runs in a user namespace. It leaves no file, process, mount or network interface.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import runtimes

from krm_fn.schemas.generate import crds
from tests.running.bed import Bed, successful
from tests.support import builds, definitions, markdown
from tests.testbed import control_plane as planes
from tests.testbed import node, programs, server, syncer
from tests.testbed.node.image import Image, of_environment
from tests.testbed.place import GRAPH, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane

PAGE = programs.ROOT / "docs" / "getting-started.md"
NAMESPACE, NAME, VERSION = "prod", "chat", "v1beta1"
RELEASE, IMAGE = "1.6.1", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
MODEL = "Qwen/Qwen3-0.6B"
_INSIDE = "--inside"
_USER_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")


def main() -> int:
    """Run everything in a process group of its own, so that Ctrl-C reaches only this process, which then stops the rest in order."""
    command = [sys.executable, "-m", "tests.running.trial", _INSIDE]
    if os.geteuid() != 0:
        command = [*_USER_NAMESPACE, *command]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: child.stdin and child.stdin.close())
    return child.wait()


def inside() -> int:
    """The work. Ends as soon as stdin is closed, also because the other process was killed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    if reason := node.unable():
        print(reason, file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="krm-fn-try-"))
    try:
        with running(folder) as (bed, config):
            show(bed, config)
            with bed.machine.forward(NAMESPACE, f"{NAME}-frontend") as port:
                invite(port, config)
                signal.pause()
    except KeyboardInterrupt:
        print("\nstopped, nothing is left", flush=True)
    except (AssertionError, TimeoutError, server.StartError) as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _end_with_stdin() -> None:
    while os.read(sys.stdin.fileno(), 1024):  # sys.stdin would be locked while Python ends
        pass
    os.kill(os.getpid(), signal.SIGINT)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[tuple[Bed, Path]]:
    """A cluster with Dynamo's kinds, the syncer, and the graph of the page; and a kubeconfig of its administrator."""
    with contextlib.ExitStack() as stack:
        with step("a control plane: etcd, kube-apiserver, kube-controller-manager"):
            needed = planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))
            plane = stack.enter_context(planes.running(made(folder / "plane"), needed))
            stack.enter_context(planes.controllers(plane, programs.path("kube-controller-manager")))
        with step("a node that runs pods as processes"):
            machine = stack.enter_context(node.running(plane, made(folder / "node"), {IMAGE: image(folder)}))
        with step("Dynamo's kinds, and the status syncer with its own account"):
            definitions.serve(plane, crds.definitions(VERSION))
            home = made(folder / "syncer")
            account = syncer.installed(plane, programs.path("kustomize"), home, "pods")
            stack.enter_context(syncer.running(account, home, "--pods"))
        with step(f"kustomize build, kubectl apply: the graph {NAME} of docs/getting-started.md"):
            deploy(plane, made(folder / "graph"))
        yield Bed(plane, machine), plane.kubeconfig


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Print what is done and how long it took."""
    started = time.monotonic()
    print(f"{what} ...", end=" ", flush=True)
    yield
    print(f"{time.monotonic() - started:.1f} s", flush=True)


def image(folder: Path) -> Image:
    """The runtime as the image of the page. Its model cache holds a small tokenizer in place of that of the model.

    The home is not /root: in a user namespace, that of the host cannot be written, and the runtime keeps files there.
    """
    cached = folder / "huggingface" / "hub" / f"models--{MODEL.replace('/', '--')}"
    shutil.copytree(runtimes.make_model(), cached / "snapshots" / "0")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0")
    home = folder / "huggingface"
    return of_environment(runtimes.install(RELEASE), home, HOME="/tmp", HF_HOME=str(home), HF_HUB_OFFLINE="1")  # noqa: S108 - the container's own


def deploy(plane: ControlPlane, folder: Path) -> None:
    """Build the files of the page with kustomize and our function, and apply the output."""
    for name, text in markdown.files(PAGE.read_text()).items():
        (folder / name).write_text(text)
    Place(plane, plane.namespace(NAMESPACE)).apply(builds.kustomize(folder))


def show(bed: Bed, config: Path) -> None:
    """Print the state of the graph until it answers. Raises an error with the reasons of all pods after three minutes."""
    here = Place(bed.plane, NAMESPACE, f"nvidia.com/{VERSION}")
    with step("pods that start, until the syncer says successful"):
        bed.machine.eventually(lambda: successful(here.get(GRAPH, NAME)), NAMESPACE)
    with step("the frontend lists the model"):
        bed.machine.eventually(lambda: MODEL in bed.models(here, NAME), NAMESPACE)
    kubectl = f"kubectl --kubeconfig {config} --namespace {NAMESPACE}"
    print(f"\n$ {kubectl} get dgd,pods\n{here.kubectl('get', 'dgd,pods')}", flush=True)


def invite(port: int, config: Path) -> None:
    """Print what to type."""
    question = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 16})
    print(f"The frontend answers at http://127.0.0.1:{port}. The mock engine makes up its words:\n")
    print(f"  curl http://127.0.0.1:{port}/v1/chat/completions -H 'Content-Type: application/json' -d '{question}'\n")
    print(f"For kubectl in another terminal: export KUBECONFIG={config}\nCtrl-C ends it.", flush=True)


if __name__ == "__main__":
    sys.exit(inside() if _INSIDE in sys.argv else main())
