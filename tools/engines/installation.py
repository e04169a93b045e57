"""Downloads NVIDIA's and the engines' wheels from PyPI, and unpacks from them what argument parsers need: their Python files.

`releases.txt` names the versions. The wheels of vLLM and SGLang come without their dependencies, and without their compiled files. The
runtime of Dynamo stays whole, because its compiled library knows the names of parsers that some flags accept.
"""

from __future__ import annotations

import email
import functools
import hashlib
import os
import platform
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import cache
import progress

from krm_fn.review.arguments import flag_tables

HERE = Path(__file__).resolve().parent
REMEDY = "`make tools-engines` installs it"

_ENVIRONMENT = HERE / "environment.txt"
# All machines read the same files: those of the wheels for x86-64.
_PLATFORMS = [f"--platform=manylinux_{glibc}_x86_64" for glibc in ("2_28", "2_31", "2_34", "2_35")]
_DOWNLOAD = [
    sys.executable,
    "-m",
    "pip",
    "download",
    "--no-input",
    "--disable-pip-version-check",
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
]


class Release(NamedTuple):
    """A release of `ai-dynamo`, and the versions of the engines that its metadata requires."""

    version: str
    vllm: str
    sglang: str
    tensorrt_llm: str

    @property
    def wheels(self) -> tuple[str, ...]:
        """The requirements to install."""
        return (f"ai-dynamo=={self.version}", f"ai-dynamo-runtime=={self.version}", f"vllm=={self.vllm}", f"sglang=={self.sglang}")


@functools.cache
def releases() -> dict[str, Release]:
    """All releases of `releases.txt`, oldest first."""
    lines = (HERE / "releases.txt").read_text().splitlines()
    rows = [Release(*line.split()) for line in lines if line and not line.startswith("#")]
    return {release.version: release for release in rows}


def find(release: str) -> bool:
    """Whether everything that a release needs is in the cache."""
    keys = [_environment_key(), *map(_wheel_key, releases()[release].wheels)]
    return all(cache.found(key) for key in keys)


def install(release: str) -> None:
    """Install what a release needs and the cache lacks. Raises BuildError with the end of pip's output."""
    _install_environment()
    for wheel in releases()[release].wheels:
        _install_wheel(wheel)
    _check_engines(releases()[release])


def wheel(requirement: str) -> Path:
    """Returns the folder of an unpacked wheel, such as `ai-dynamo==1.6.1`. Downloads it if the cache lacks it. Raises BuildError."""
    _install_wheel(requirement)
    return cache.entry(_wheel_key(requirement))


def command(release: str, module: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a module of this folder with the wheels of a release; its stdin, stdout and stderr are pipes.

    The process gets no variables of this one but its folders, because Dynamo reads the defaults of flags from variables.
    """
    python = cache.entry(_environment_key()) / "bin" / "python3"
    folders = [*(str(cache.entry(_wheel_key(wheel))) for wheel in releases()[release].wheels), str(HERE.parent)]
    variables = {name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR") if name in os.environ}
    offline = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(folders)}
    return subprocess.Popen(
        [str(python), "-P", "-m", f"engines.{module}", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables | offline,
    )


def _install_environment() -> None:
    key = _environment_key()

    def fill(folder: Path, lock: int) -> None:
        venv.create(folder, with_pip=False)
        pip = list(progress.PIP)
        pip.insert(pip.index("install"), f"--python={folder / 'bin' / 'python3'}")
        progress.run(
            [*pip, "-r", str(_ENVIRONMENT)], folder, progress.Watch("packages of the engines' parsers from PyPI", cache.log(key), lock)
        )

    cache.fill(key, fill)


def _install_wheel(wheel: str) -> None:
    key = _wheel_key(wheel)

    def fill(folder: Path, lock: int) -> None:
        own = [] if _is_whole(wheel) else ["--python-version=3.12", "--implementation=cp", *_PLATFORMS]
        progress.run([*_DOWNLOAD, *own, f"--dest={folder}", wheel], folder, progress.Watch(f"{wheel} from PyPI", cache.log(key), lock))
        for file in folder.glob("*.whl"):
            with zipfile.ZipFile(file) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if _is_whole(wheel) or _is_needed(name)])
            file.unlink()

    cache.fill(key, fill)


def _check_engines(release: Release) -> None:
    """Raises BuildError if the metadata of the release requires other versions of the engines than `releases.txt` names.

    A nightly build requires older engines than the release that follows it, so its line is not compared.
    """
    if flag_tables.is_nightly(release.version):
        return
    for file in cache.entry(_wheel_key(release.wheels[0])).glob("ai_dynamo-*/METADATA"):
        requirements = email.message_from_string(file.read_text()).get_all("Requires-Dist", [])
        matches = [re.match(r"([a-z-]+)(?:\[.*?\])?==([^; ]+)", line) for line in requirements]
        pinned = {match.group(1): match.group(2) for match in matches if match}
        expected = {"vllm": release.vllm, "sglang": release.sglang, "tensorrt-llm": release.tensorrt_llm}
        wrong = [f"{name} {pinned.get(name)}, not {version}" for name, version in expected.items() if pinned.get(name) != version]
        if wrong:
            raise progress.BuildError(f"tools/engines/releases.txt: ai-dynamo {release.version} requires {', '.join(wrong)}")


def _is_whole(wheel: str) -> bool:
    return wheel.startswith("ai-dynamo")


def _is_needed(name: str) -> bool:
    return name.endswith((".py", "/METADATA"))


def _wheel_key(wheel: str) -> str:
    """The name of an unpacked wheel in the cache. The compiled library of the runtime works with one kind of processor."""
    return f"engine-{wheel.replace('==', '-')}-{platform.machine() if _is_whole(wheel) else 'python'}"


def _environment_key() -> str:
    """The name of the environment in the cache. An environment works with the Python that made it."""
    texts = (_ENVIRONMENT.read_text(), sys.base_prefix, platform.python_version(), platform.machine())
    return f"engine-flags-{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:12]}"
