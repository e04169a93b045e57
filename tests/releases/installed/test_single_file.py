"""The zipapp, the plugin of kubectl and the Homebrew formula, which all run the same file."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
import yaml
from release import archives

from tests.releases.installed import users
from tests.testbed import programs


@pytest.fixture
def bare(user):
    """A user whose python3 has no packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", user.home / "bare"], check=True)
    return users.User(user.home, (user.home / "bare" / "bin",))


def test_the_zipapp_needs_python_alone(built, bare):
    copy = shutil.copy2(built.file("*.pyz"), bare.home / "krm-fn")
    bare.renders(copy)
    assert bare.run(copy, "--version").stdout == f"krm-fn {built.release.version}\n"


def test_an_old_python_is_refused(built, bare):
    """The program would end with a syntax error, which names no reason."""
    code = "import runpy, sys; sys.version_info = (3, 9, 6); runpy.run_path(sys.argv[1], run_name='__main__')"
    refused = bare.run("python3", "-c", code, built.file("*.pyz"), check=False)
    assert refused.returncode == 1
    assert "krm-fn needs Python 3.11 or newer, and " in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("command", ["crds", "schema"])
def test_the_zipapp_names_the_package_that_a_command_needs(command, built, bare):
    refused = bare.run(built.file("*.pyz"), command, check=False)
    assert refused.returncode == 2
    assert refused.stderr == f"error: krm-fn {command} needs more packages; run: pip install 'pydantic>=2.10'\n"


def test_krew_accepts_and_installs_the_plugin(built, bare):
    """krew compares the archive with the digest in the manifest, and kubectl finds the plugin."""
    plugin, (manifest, archive) = (
        built.release.names.plugin,
        (built.file(f"{built.release.names.plugin}.yaml"), built.file("kubectl-*.tar.gz")),
    )
    platforms = yaml.safe_load(manifest.read_text())["spec"]["platforms"]
    assert {platform["uri"] for platform in platforms} == {built.release.address(archive.name)}
    bare.run(programs.path("validate-krew-manifest"), "-manifest", manifest, "-skip-install")
    krew = users.User(bare.home, (bare.home / ".krew" / "bin", *bare.path, programs.path("kubectl").parent))
    krew.run(programs.path("krew"), "install", "--manifest", manifest, "--archive", archive)
    krew.renders("kubectl", plugin)
    tampered = bare.home / "tampered.tar.gz"
    tampered.write_bytes(archives.tar_gz({"krm-fn.pyz": archives.Member(b"")}, 0))
    (other := bare.home / "other").mkdir()
    refused = users.User(other).run(programs.path("krew"), "install", "--manifest", manifest, "--archive", tampered, check=False)
    assert refused.returncode != 0
    assert "checksum" in refused.stderr


def test_the_formula_is_ruby_and_names_the_zipapp(built, bare):
    """Homebrew itself does not run here: the test checks the syntax, the digest, and the program that the formula writes."""
    formula, zipapp = built.file("*.rb"), built.file("*.pyz")
    assert bare.run(programs.path("ruby"), "-wc", formula).stdout == "Syntax OK\n"
    text = formula.read_text()
    assert f'sha256 "{archives.digest(zipapp.read_bytes())}"' in text
    assert f'url "{built.release.address(zipapp.name)}"' in text
    script = re.search(r"<<~SHELL\n(.+?)\n +SHELL", text, re.DOTALL)
    assert script
    shell = re.sub(r"^ {6}", "", script[1], flags=re.MULTILINE)
    python = re.sub(r'#\{Formula\["python@[\d.]+"\]\.opt_bin\}/python[\d.]+', str(bare.path[0] / "python3"), shell)
    (program := bare.home / "krm-fn").write_text(python.replace("#{libexec}", str(zipapp.parent)))
    program.chmod(0o755)
    bare.renders(program)
