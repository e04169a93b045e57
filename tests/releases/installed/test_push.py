"""The script with which the workflow of a release pushes to a registry."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile

import pytest

from tests.testbed import programs

VARIANTS = {"function": "", "sync": "-sync", "kustomize": "-kustomize"}
ARCHITECTURES = ("amd64", "arm64")


@pytest.fixture
def images(built, registry, tmp_path):
    """The name of images in a registry, one of each variant for each architecture. Their content does not matter here."""
    name = f"{registry.address}/function"
    for variant in VARIANTS.values():
        for architecture in ARCHITECTURES:
            layer = tmp_path / f"{architecture}{variant}.tar"
            with tarfile.open(layer, "w") as archive:
                archive.addfile(tarfile.TarInfo(layer.name), io.BytesIO())
            image = f"{name}:{built.release.version}{variant}-{architecture}"
            registry.crane("append", "--oci-empty-base", "--new_layer", layer, "--new_tag", image)
            registry.crane("mutate", "--set-platform", f"linux/{architecture}", "--tag", image, image)
    return name


def test_the_script_joins_the_images_and_pushes_manifests_and_chart(built, registry, images, tmp_path):
    """The printed digests are those in the registry: the workflow signs them. The artifact and the chart have the bytes of their files."""
    version, folder = built.release.version, registry.address
    names = {"IMAGE": images, "MANIFESTS": f"{folder}/pushed/manifests", "CHART": f"{folder}/pushed/charts/dynamo-krm-fn"}
    helm = {f"HELM_{kind}_HOME": str(tmp_path / kind) for kind in ("CACHE", "CONFIG", "DATA")}
    environment = {**os.environ, **helm, **names, "VERSION": version, "PLAIN_HTTP": "1"}
    command = ["bash", programs.ROOT / "tools" / "release" / "push.sh", built.folder]
    pushed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert pushed.returncode == 0, pushed.stderr
    digests = dict(line.split("=") for line in pushed.stdout.splitlines())
    tags = {key: f"{images}:{version}{suffix}" for key, suffix in VARIANTS.items()}
    tags |= {"manifests": f"{names['MANIFESTS']}:{version}", "chart": f"{names['CHART']}:{version}"}
    assert digests == {key: registry.crane("digest", tag) for key, tag in tags.items()}
    for key in VARIANTS:
        index = json.loads(registry.crane("manifest", tags[key]))
        assert {entry["platform"]["architecture"] for entry in index["manifests"]} == {*ARCHITECTURES}
    with tarfile.open(built.file("*.oci.tar")) as archive:
        index = json.loads((archive.extractfile("index.json") or io.BytesIO()).read())
        assert index["manifests"][0]["digest"] == digests["manifests"]
    pull = [str(programs.path("helm")), "pull", f"oci://{names['CHART']}", f"--version={version}", "--plain-http"]
    subprocess.run(pull, env=helm, check=True, capture_output=True, cwd=tmp_path, timeout=120)
    package = built.file("dynamo-krm-fn-*.tgz")
    assert (tmp_path / package.name).read_bytes() == package.read_bytes()
