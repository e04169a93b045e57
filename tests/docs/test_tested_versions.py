"""The versions on pages: the programs that the tests build, the releases that krm-fn knows, and no version without known fixes."""

from __future__ import annotations

import re

from krm_fn.render.resolve import release_choice
from tests.support.cases import cases
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "tested-versions.md").read_text()
ROWS = [
    # title, folder in tools, module
    ("Argo CD", "argocd", "github.com/argoproj/argo-cd/v3"),
    ("Flux kustomize-controller", "kustomize-controller", "github.com/fluxcd/kustomize-controller"),
    ("kustomize", "kustomize", "sigs.k8s.io/kustomize/kustomize/v5"),
    ("Kubernetes API server, kubectl", "kubernetes", "k8s.io/kubernetes"),
]


@cases(("title", "folder", "module"), ROWS)
def test_the_table_names_the_pinned_versions(title, folder, module):
    go_mod = (programs.ROOT / "tools" / folder / "go.mod").read_text()
    (pinned,) = re.findall(rf"^\s*(?:require )?{re.escape(module)} v(\S+)", go_mod, re.MULTILINE)
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {title} |")]
    assert row.split(" | ")[1] == pinned


def test_argo_cd_is_installed_in_a_version_with_fixes():
    """The advisories of October 2026 are fixed in 3.3.15 and 3.4.10."""
    (installed,) = re.findall(r"cluster-install\?ref=v(\d+)\.(\d+)\.(\d+)", (programs.ROOT / "docs" / "argocd.md").read_text())
    major, minor, patch = map(int, installed)
    assert (major, minor, patch) >= ((3, 3, 15) if (major, minor) == (3, 3) else (3, 4, 10))


def test_the_questions_name_all_releases():
    page = (programs.ROOT / "docs" / "faq.md").read_text()
    (listed,) = re.findall(r"releases of the operator\]\(releases\.md\): ([^a-z]*(?:and )[\d.]+),", page)
    assert [f"v{number}" for number in re.split(r", | and ", listed)] == list(release_choice.RELEASES)
