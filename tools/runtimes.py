"""Installs NVIDIA's Dynamo runtime from PyPI, in each release that tests run, and makes model folders for its engines.

Usage:

    python tools/runtimes.py              # install into the user's cache what is missing there: about 500 MB for each release; Linux only
    python tools/runtimes.py --planner    # install what the planner and the profiler need besides: 690 MB
    python tools/runtimes.py --vllm       # install vLLM for CPUs besides: 6 GB; Linux on x86-64 only
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import platform
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import cache
import progress

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent / "dynamo"
RELEASES = tuple(sorted(file.stem for file in HERE.glob("[0-9]*.txt")))
REMEDY = "`make tools-dynamo` installs it"
PLANNER_REMEDY = "`make tools-planner` installs them"
PLANNER, PROFILER = "planner", "profiler"
"""The names of lists of packages that a program of the runtime imports besides the packages of the runtime."""
VLLM_REMEDY = "`make tools-engine` installs it"
VLLM = {"1.5.1": ("vllm-0.28.0", "vllm-packages"), "1.6.1": ("vllm-0.31.0", "vllm-packages")}
"""By the release of the runtime: the lists with the version of vLLM that this release requires, but built for CPUs."""

_MODEL, _WEIGHTS = HERE / "model.py", HERE / "weights.py"
_PYTHON = (sys.base_prefix, platform.python_version(), platform.machine())


def main() -> int:
    """Exit code 0, or 1 if an installation failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", action="store_true", help="install what the planner and the profiler need besides the runtime")
    parser.add_argument("--vllm", action="store_true", help="install vLLM for CPUs besides the runtime")
    options = parser.parse_args()
    try:
        if options.planner:
            _install_all(PLANNER, PROFILER)
        elif options.vllm:
            _install_all(*dict.fromkeys(itertools.chain(*VLLM.values())))
            print(f"model with weights: {make_weights()}", flush=True)
        else:
            for release in RELEASES:
                _say(f"dynamo {release}", functools.partial(find, release), functools.partial(install, release))
            print(f"model: {make_model()}", flush=True)
    except progress.BuildError as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; finished releases stay in the cache", file=sys.stderr)
        return 130
    return 0


def _install_all(*names: str) -> None:
    for name in names:
        _say(f"packages of {name}", functools.partial(find_packages, name), functools.partial(install_packages, name))


def _say(what: str, find: Callable[[], Path | None], install: Callable[[], Path]) -> None:
    started = time.monotonic()
    new = find() is None
    folder = install()
    print(f"{what}: {f'installed in {time.monotonic() - started:.0f} s' if new else 'in the cache'}, {folder}", flush=True)


def find(release: str) -> Path | None:
    """The environment of a release if it is in the cache: a folder with `bin/python3`."""
    return cache.found(_key(release))


def find_packages(name: str) -> Path | None:
    """The folder of `install_packages` if it is in the cache."""
    return cache.found(_packages_key(name))


def find_model() -> Path | None:
    """The model folder if it is in the cache."""
    return cache.found(_model_key())


def find_weights() -> Path | None:
    """The model folder with weights if it is in the cache."""
    return cache.found(_weights_key())


def install(release: str) -> Path:
    """The environment of a release; installs it if it is missing. Raises BuildError with the end of pip's output."""
    key = _key(release)

    def fill(folder: Path, lock: int) -> None:
        venv.create(folder, with_pip=False)
        pip = list(progress.PIP)
        pip.insert(pip.index("install"), f"--python={folder / 'bin' / 'python3'}")
        watch = progress.Watch(f"dynamo {release} from PyPI", cache.log(key), lock)
        progress.run([*pip, "-r", str(_requirements(release))], folder, watch)

    return cache.fill(key, fill)


def install_packages(name: str) -> Path:
    """A folder for PYTHONPATH with the packages of a list, such as PLANNER; installs it if it is missing.

    Raises BuildError with the end of pip's output.
    """
    key = _packages_key(name)

    def fill(folder: Path, lock: int) -> None:
        watch = progress.Watch(f"packages of {name} from PyPI", cache.log(key), lock)
        progress.run([*progress.PIP, f"--target={folder}", "-r", str(_requirements(name))], folder, watch)

    return cache.fill(key, fill)


def make_model() -> Path:
    """The model folder; makes it with the tokenizers package of the newest release if it is missing."""

    def fill(folder: Path, _: int) -> None:
        subprocess.run([install(RELEASES[-1]) / "bin" / "python3", _MODEL, folder], check=True)

    return cache.fill(_model_key(), fill)


def make_weights() -> Path:
    """The model folder with random weights; makes it with the packages of the newest release if it is missing."""

    def fill(folder: Path, _: int) -> None:
        shutil.copytree(make_model(), folder, dirs_exist_ok=True)
        subprocess.run([install(RELEASES[-1]) / "bin" / "python3", _WEIGHTS, folder], check=True)

    return cache.fill(_weights_key(), fill)


def _requirements(name: str) -> Path:
    return HERE / f"{name}.txt"


def _key(release: str) -> str:
    """The name of an environment in the cache. An environment works with the Python that made it."""
    return f"dynamo-{release}-{_digest(_requirements(release).read_text(), *_PYTHON)}"


def _packages_key(name: str) -> str:
    return f"dynamo-{name}-{_digest(_requirements(name).read_text(), *_PYTHON)}"


def _model_key() -> str:
    return f"dynamo-model-{_digest(_MODEL.read_text())}"


def _weights_key() -> str:
    return f"dynamo-weights-{_digest(_MODEL.read_text(), _WEIGHTS.read_text())}"


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
