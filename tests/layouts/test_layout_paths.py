"""The flags and paths with which kustomize, kubectl and kpt run the function, as on docs/layouts.md."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support import build_checks, builds, golden
from tests.support.cases import cases


@pytest.fixture
def layout(tmp_path):
    """A copy of layout A."""
    return shutil.copytree(golden.EXAMPLES / "layout-a-overlays", tmp_path / "layout")


FLAG_SETS = [
    ("both: it runs", builds.FLAGS, True),
    ("without --enable-exec: skipped without a message", ("--enable-alpha-plugins",), False),
]


@cases(("reason", "flags", "runs"), FLAG_SETS)
def test_flags_of_kustomize(reason, flags, runs, kustomize):
    objects = builds.kustomize(golden.EXAMPLES / "layout-a-overlays" / "prod", flags)
    assert any(each["kind"] == "Deployment" for each in objects) is runs


def test_without_flags_kustomize_refuses(kustomize):
    with pytest.raises(subprocess.CalledProcessError, match="exit status 1") as refused:
        builds.kustomize(golden.EXAMPLES / "layout-a-overlays" / "prod", ())
    assert "external plugins disabled" in refused.value.stderr


def test_a_function_as_validator_is_refused_by_kustomize(layout, kustomize):
    """kustomize adds annotations to the input of a validator, and then refuses the changed output."""
    builds.edit(layout / "prod" / "kustomization.yaml", lambda settings: settings.update(validators=settings.pop("transformers")))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        builds.kustomize(layout / "prod")
    assert "validator shouldn't modify the resource map" in refused.value.stderr


def test_the_configuration_may_stand_inline(layout, kustomize):
    inline = (layout / "prod" / "render.yaml").read_text()
    builds.edit(layout / "prod" / "kustomization.yaml", lambda settings: settings.update(transformers=[inline]))
    (layout / "prod" / "render.yaml").unlink()
    build_checks.assert_nothing_lies(builds.kustomize(layout / "prod"))


def test_the_configuration_must_lie_below_the_kustomization(layout, kustomize):
    (layout / "prod" / "render.yaml").rename(layout / "render.yaml")
    builds.edit(layout / "prod" / "kustomization.yaml", lambda settings: settings.update(transformers=["../render.yaml"]))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        builds.kustomize(layout / "prod")
    assert "is not in or below" in refused.value.stderr


def test_kubectl_runs_no_programs(kubectl):
    ran = subprocess.run(
        [kubectl, "kustomize", str(golden.EXAMPLES / "layout-a-overlays" / "prod")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "external plugins disabled" in ran.stderr


PATHS = [
    ("absolute", "{bin}/krm-fn", True),
    ("relative to the folder that lists it", "../bin/krm-fn", True),
    ("in the folder that lists it", "./krm-fn", True),
    ("bare names are looked up on PATH only", "other-fn", False),
]


@pytest.mark.parametrize("built", ["prod", "prod-tuned"])
@cases(("reason", "path", "works"), PATHS)
def test_paths_of_kustomize(reason, path, works, built, layout, kustomize):
    """`prod` lists the function; `prod-tuned` includes `prod` as a base."""
    for place in (layout / "bin" / "krm-fn", layout / "prod" / "krm-fn", layout / "prod" / "other-fn"):
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(builds.COMMAND)
    function = f"exec: {{path: {path.format(bin=layout / 'bin')}}}\n"
    builds.edit(
        layout / "prod" / "render.yaml",
        lambda render: render["metadata"]["annotations"].update({"config.kubernetes.io/function": function}),
    )
    if works:
        build_checks.assert_nothing_lies(builds.kustomize(layout / built))
    else:
        with pytest.raises(subprocess.CalledProcessError):
            builds.kustomize(layout / built)


KPT_PATHS = [
    ("absolute", "{bin}/krm-fn", True),
    ("relative to where kpt is called", "./bin/krm-fn", True),
    ("not relative to the package", "./fn", False),
    ("bare names are looked up on PATH only", "other-fn", False),
]


@cases(("reason", "path", "works"), KPT_PATHS)
def test_paths_of_kpt(reason, path, works, tmp_path, kpt):
    package = shutil.copytree(golden.PACKAGE, tmp_path / "package")
    for place in (tmp_path / "bin" / "krm-fn", package / "fn", package / "other-fn"):
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(builds.COMMAND)
    builds.edit(package / "Kptfile", lambda file: file["pipeline"]["mutators"][0].update(exec=path.format(bin=tmp_path / "bin")))
    command = [kpt, "fn", "render", "package", "--allow-exec"]
    ran = subprocess.run(command, cwd=tmp_path, env=golden.environment(), capture_output=True, text=True, check=False, timeout=300)
    assert (ran.returncode == 0) is works, ran.stderr
    assert (package / "deployment_chat-worker.yaml").exists() is works
