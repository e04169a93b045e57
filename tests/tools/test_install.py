"""`python tools/install.py`, run as by `make tools`: the programs that it accepts and rejects, and its output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import debian
import golang
import pytest
from install import install as make
from programs import ALL, go_version, order

from tests.support.cases import cases
from tests.testbed import programs

INSTALL = [sys.executable, str(programs.ROOT / "tools" / "install.py")]
GO = shutil.which("go") or ""


def install(*arguments, **environment):
    changed = {name: str(value) for name, value in environment.items()}
    return subprocess.run([*INSTALL, *arguments], capture_output=True, text=True, check=False, env=os.environ | changed)


def where(**environment):
    return json.loads(install("--where", "--json", **environment).stdout)


def script(folder, name, says):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {says}\n")
    (folder / name).chmod(0o755)
    return folder


def test_program_on_path_in_the_pinned_version_is_taken(tmp_path, kustomize):
    found = where(PATH=kustomize.parent, XDG_CACHE_HOME=tmp_path)["kustomize"]
    assert (found["source"], found["path"]) == ("path", str(kustomize))


def test_assets_come_before_path(tmp_path, kustomize):
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "kustomize").symlink_to(kustomize)
    found = where(KUBEBUILDER_ASSETS=assets, PATH=kustomize.parent)["kustomize"]
    assert (found["source"], found["path"]) == ("assets", str(assets / "kustomize"))


def test_assets_of_the_same_minor_version_are_taken(tmp_path):
    """`setup-envtest` installs its newest patch version. On PATH only the pinned version is accepted."""
    other = script(tmp_path / "bin", "kustomize", "v5.8.99")
    found = where(KUBEBUILDER_ASSETS=other)["kustomize"]
    assert (found["source"], found["version"]) == ("assets", "v5.8.99")
    assert where(PATH=f"{other}:{os.environ['PATH']}")["kustomize"]["version"] != "v5.8.99"


def test_assets_of_another_minor_version_are_passed_over(tmp_path):
    other = script(tmp_path / "bin", "kustomize", "v5.7.9")
    assert where(KUBEBUILDER_ASSETS=other)["kustomize"]["source"] != "assets"


def test_cache_comes_last(tmp_path, kustomize):
    other = script(tmp_path / "bin", "kustomize", "v5.0.0")
    found = where(PATH=other)["kustomize"]
    assert (found["source"], found["version"]) == ("cache", "v5.8.2")


PASSED_OVER = [
    ("another version", "kustomize", "v5.8.1", "kustomize is 5.8.1"),
    ("the pinned version as part of another", "kustomize", "v5.8.20", "kustomize is 5.8.20"),
    ("no version", "kustomize", "hello", "kustomize is of unknown version"),
    ("an older kpt", "kpt", "1.0.0-beta.55", "kpt is 1.0.0-beta.55"),
]


@cases(("reason", "name", "says", "named"), PASSED_OVER)
def test_what_is_passed_over_is_named(reason, name, says, named, tmp_path):
    found = where(PATH=script(tmp_path / "bin", name, says), XDG_CACHE_HOME=tmp_path)[name]
    assert "path" not in found
    assert named in found["missing"]


NEW_ENOUGH = [("the oldest", "1.0.0-beta.56"), ("with a v", "v1.0.0-beta.57"), ("the release itself", "1.0.0"), ("a later one", "v1.1.0")]


@cases(("reason", "says"), NEW_ENOUGH)
def test_any_newer_kpt_will_do(reason, says, tmp_path):
    found = where(PATH=script(tmp_path / "bin", "kpt", says))["kpt"]
    assert found["source"] == "path"


def test_where_builds_nothing_and_names_the_remedy(tmp_path):
    said = install("--where", PATH=tmp_path, XDG_CACHE_HOME=tmp_path)
    assert said.stdout == ""
    lines = dict(line.split(": ", 1) for line in said.stderr.splitlines())
    assert set(lines) == set(programs.where())
    assert "`make tools` builds it" in lines["etcd"]
    assert "https://github.com/kptdev/kpt/releases" in lines["kpt"]
    assert "install Debian's graphviz" in lines["dot"]
    assert list(tmp_path.iterdir()) == []


APT = "#!/bin/sh\n[ \"$1\" = update ] || { printf '#!/bin/sh\\necho version 2.42.2 >&2\\n' > %s/dot; /bin/chmod +x %s/dot; }\n"


def test_apt_installs_a_package_of_debian_for_root_only(tmp_path, monkeypatch, capsys):
    """With a stand-in for apt-get that writes a program `dot`."""
    monkeypatch.setattr("programs.ALL", [each for each in ALL if each.name == "dot"])
    monkeypatch.setenv("PATH", f"{tmp_path}")
    make("tools")
    assert "dot: missing: v2.40.0 or newer is neither on PATH nor in the cache; install Debian's graphviz" in capsys.readouterr().err
    (tmp_path / "apt-get").write_text(APT.replace("%s", str(tmp_path)))
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not debian.can_install()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert debian.can_install()
    make("tools")
    assert capsys.readouterr().out == f"dot v2.42.2: on PATH, {tmp_path}/dot\n"


@pytest.mark.skipif(not GO, reason="no Go on PATH, and the pinned one is not fetched for a build that must fail")
def test_failed_build_says_why_and_leaves_nothing_in_the_cache(tmp_path):
    """The module proxy is off, and the module cache is empty."""
    said = install(PATH=f"{Path(GO).parent}:/usr/bin:/bin", XDG_CACHE_HOME=tmp_path, GOMODCACHE=tmp_path / "modules", GOPROXY="off")
    assert said.returncode == 1
    assert "kustomize v5.8.2: exit code 1" in said.stderr
    assert "GOPROXY=off" in said.stderr
    assert not programs_in(tmp_path)


def test_each_program_has_a_pinned_go_and_only_those_that_need_it_a_newer_one():
    """A newer Go for Argo CD changes nothing about the builds of Kubernetes."""
    wanted = {program.name: go_version(program) for program in ALL if program.folder}
    pinned = {name: golang.pinned(oldest)[0] for name, oldest in wanted.items()}
    assert all(order(pinned[name])[:2] == order(oldest)[:2] for name, oldest in wanted.items())
    assert order(pinned["kubectl"]) < order(pinned["argocd"])
    with pytest.raises(LookupError, match=r"pins no Go 99\.0\.0 or newer"):
        golang.pinned("99.0.0")


def programs_in(cache_home):
    return [folder for folder in (cache_home / "dynamo-krm-fn" / "tools").iterdir() if (folder / "kustomize").exists()]
