"""Writes the Homebrew formula, which installs the zipapp with Homebrew's Python."""

from __future__ import annotations

from pathlib import Path

from release import archives
from release.description import Release

PYTHON = "3.13"
_FORMULA = """\
class {name} < Formula
  desc "Renders NVIDIA Dynamo graphs to native Kubernetes objects"
  homepage "{repository}"
  url "{url}", using: :nounzip
  version "{version}"
  sha256 "{digest}"
  license "Apache-2.0"

  depends_on "python@{python}"

  def install
    libexec.install "{file}"
    (bin/"krm-fn").write <<~SHELL
      #!/bin/sh
      exec "#{{Formula["python@{python}"].opt_bin}}/python{python}" "#{{libexec}}/{file}" "$@"
    SHELL
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/krm-fn --version")
  end
end
"""


def build(release: Release, single_file: Path, out: Path) -> Path:
    """Writes `PACKAGE.rb` into `out`, and returns its path."""
    target = out / f"{release.names.package}.rb"
    facts = {
        "name": "".join(map(str.capitalize, release.names.package.split("-"))),
        "repository": release.repository,
        "url": release.address(single_file.name),
        "version": release.version,
        "digest": archives.digest(single_file.read_bytes()),
        "file": single_file.name,
        "python": PYTHON,
    }
    target.write_text(_FORMULA.format(**facts))
    return target
