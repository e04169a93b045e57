"""What `pip install` gives a user, away from the clone."""

from __future__ import annotations

import shutil
import subprocess
import sys

from tests.support import builds, golden
from tests.testbed import programs


def test_the_wheel_renders_outside_the_clone(tmp_path, kustomize):
    """Slow: builds the wheel and fills an empty environment, as `pip install` does for a user."""
    source = shutil.copytree(
        programs.ROOT, tmp_path / "source", ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "examples", "tests")
    )
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source)], check=True, capture_output=True, timeout=300
    )
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=300)
    subprocess.run([str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)], check=True, timeout=300)
    folder = shutil.copytree(golden.EXAMPLES / "layout-a-overlays", tmp_path / "layout")
    environment = {"PATH": f"{tmp_path / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [kustomize, "build", *builds.FLAGS, str(folder / "prod")]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert ran.stdout == (golden.EXAMPLES / "layout-a-overlays" / "expected-prod.yaml").read_text()
