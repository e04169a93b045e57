"""A real container engine and the image that `make image` builds; prints measurements at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tarfile
from io import BytesIO
from typing import TYPE_CHECKING

import containers
import pytest

from tests.containers import images
from tests.support import golden
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.containers.images import Image


@pytest.fixture(scope="session")
def engine(pytestconfig: pytest.Config) -> containers.Engine:
    """The engine of this machine. Without an engine the test is skipped; it fails in CI, and if the tools are required."""
    captured = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        with captured.global_and_fixture_disabled():  # shows the progress of the first call, which takes a minute
            return containers.find()
    except containers.UnavailableError as problem:
        programs.missing("a container engine", {"missing": str(problem), "provided": True})


@pytest.fixture(scope="session")
def image(engine: containers.Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image from `make image`, with the name in the examples. Removes older images of that name."""
    images.make(engine, "image", IMAGE=images.NAME)
    folder = tmp_path_factory.mktemp("engine")
    for name in ("docker", engine.name):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(str(shutil.which(engine.name)))
    yield images.Image(images.NAME, engine, folder)
    engine.run("image", "prune", "--force", "--filter=label=org.opencontainers.image.title=dynamo-krm-fn")


@pytest.fixture(scope="session")
def with_kustomize(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The variant with kustomize, which it copies from a stand-in for kustomize's own image."""
    folder = tmp_path_factory.mktemp("kustomize")
    (folder / "kustomize").write_bytes(programs.path("kustomize").read_bytes())
    (folder / "Dockerfile").write_text("FROM scratch\nCOPY --chmod=755 kustomize /app/kustomize\n")
    image.engine.run("build", "--tag", "localhost/kustomize:test", folder)
    flags = [*image.engine.build_flags, "--target=with-kustomize", "--build-arg=KUSTOMIZE=localhost/kustomize:test"]
    images.make(image.engine, "image", IMAGE=f"{images.NAME}-kustomize", BUILD_FLAGS=" ".join(flags))
    return image._replace(name=f"{images.NAME}-kustomize")


@pytest.fixture(scope="session")
def syncer(image: Image) -> Image:
    """The image of the syncer."""
    images.make(image.engine, "image", IMAGE=f"{images.NAME}-sync", TARGET="sync")
    return image._replace(name=f"{images.NAME}-sync")


@pytest.fixture(scope="session")
def files(image: Image) -> Iterator[tarfile.TarFile]:
    """All files of the image."""
    with exported(image) as archive:
        yield archive


@pytest.fixture(scope="session")
def syncer_files(syncer: Image) -> Iterator[tarfile.TarFile]:
    """All files of the image of the syncer."""
    with exported(syncer) as archive:
        yield archive


@contextlib.contextmanager
def exported(image: Image) -> Iterator[tarfile.TarFile]:
    """All files of an image."""
    container = image.engine.run("create", image.name).stdout.strip()
    try:
        command, environment = [image.engine.name, "export", container], os.environ | image.engine.variables
        exported = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=300).stdout
    finally:
        image.engine.run("rm", container)
    with tarfile.open(fileobj=BytesIO(exported)) as archive:
        yield archive


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The examples, readable by every user in the container."""
    shutil.copytree(golden.EXAMPLES, tmp_path / "examples")
    for folder in (tmp_path.parent.parent, tmp_path.parent, tmp_path):
        folder.chmod(0o755)
    return tmp_path
