"""The images for arm64, built and run by QEMU."""

from __future__ import annotations

import json

import containers
import pytest

import krm_fn
from tests.containers import conftest, images
from tests.support import golden
from tests.testbed import programs

GRAPH = golden.EXAMPLES / "agg-vllm"


@pytest.fixture(scope="module")
def emulated(pytestconfig):
    """The engine with a base image for arm64. Without QEMU the test is skipped; it fails in CI, and if the tools are required."""
    captured = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        with captured.global_and_fixture_disabled():  # shows the progress of the first call
            return containers.find(containers.EMULATED)
    except containers.UnavailableError as problem:
        programs.missing("QEMU", {"missing": str(problem), "provided": True})


@pytest.mark.parametrize(("suffix", "target", "user"), [("", "image", "65534:65534"), ("-sync", "sync", "65532:65532")])
def test_the_image_for_arm64_is_the_program(suffix, target, user, emulated, tmp_path):
    """Its programs are those of arm64, it renders what other machines render, and its bill of materials lists packages of arm64."""
    name = f"{images.NAME}{suffix}-arm64"
    images.make(emulated, "image", IMAGE=name, TARGET=target)
    (facts,) = json.loads(emulated.run("image", "inspect", name).stdout)
    assert (facts["Os"], facts["Architecture"], facts["Config"]["User"]) == ("linux", "arm64", user)
    image = images.Image(name, emulated, tmp_path)
    assert image.run(arguments=["--version"]).stdout == f"krm-fn {krm_fn.__version__}\n"
    rendered = image.run(arguments=["render", "-"], text=(GRAPH / "graph.yaml").read_text()).stdout
    assert rendered == (GRAPH / "expected.yaml").read_text()
    with conftest.exported(image) as archive:
        interpreter = archive.extractfile("usr/local/bin/krm-fn.d/bin/python3")
        assert interpreter is not None
        assert interpreter.read(20)[18:] == b"\xb7\x00"  # EM_AARCH64 of elf(5)
        assert "usr/share/doc/dynamo-krm-fn/sbom.cdx.json" in archive.getnames()
