"""Runs the real kustomize and kpt, and edits their input; shared by the tests of the layouts."""

from __future__ import annotations

import filecmp
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.support import build_checks, golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

COMMAND = Path(sys.executable).with_name("krm-fn")
FLAGS = ("--enable-alpha-plugins", "--enable-exec")


def kustomize(folder: Path, flags: Sequence[str] = FLAGS) -> list[build_checks.Object]:
    """The objects that `kustomize build` prints. Raises CalledProcessError with the reason in `stderr`."""
    command = ["kustomize", "build", *flags, str(folder)]
    environment = golden.environment("kustomize")
    return build_checks.read(subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout)


def evaluate(package: Path, *settings: str) -> None:
    """Run `kpt fn eval` with our command as an executable. Raises CalledProcessError."""
    command = ["kpt", "fn", "eval", str(package), "--exec", "krm-fn", "--", *settings]
    subprocess.run(command, env=golden.environment("kpt"), capture_output=True, text=True, check=True, timeout=300)


def check(objects: Sequence[build_checks.Object]) -> subprocess.CompletedProcess[str]:
    """Run `krm-fn check` on a finished build."""
    return subprocess.run([COMMAND, "check", "-"], input=text(objects), capture_output=True, text=True, check=False, timeout=300)


def text(objects: Iterable[build_checks.Object]) -> str:
    """The objects as JSON, which YAML reads. PyYAML would write the text `n` without quotes, which Kubernetes reads as false."""
    return "".join(f"---\n{json.dumps(resource)}\n" for resource in objects)


def layer(folder: Path, around: str, **settings: Any) -> Path:
    """Create a kustomize layer in a new folder. `around` is the folder it includes, relative to the parent of `folder`."""
    folder.mkdir()
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [f"../{around}"], **settings}))
    return folder


def edit(file: Path, change: Callable[[Any], object]) -> None:
    """Change the content of a YAML file."""
    content = yaml.safe_load(file.read_text())
    change(content)
    file.write_text(yaml.safe_dump(content, sort_keys=False))


def find(objects: Sequence[build_checks.Object], kind: str, name: str) -> build_checks.Object:
    """The one object of that kind and name."""
    (found,) = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def reach(value: Any, path: str) -> Any:
    """The value at a path such as `spec/containers/0`."""
    for step in path.split("/"):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def same_files(left: Path, right: Path) -> bool:
    """True if two flat folders hold the same files, byte by byte."""
    names = sorted({file.name for folder in (left, right) for file in folder.iterdir()})
    return filecmp.cmpfiles(left, right, names, shallow=False)[0] == names
