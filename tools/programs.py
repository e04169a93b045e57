"""Programs for the tests: pinned versions, Go packages, and the search on PATH and in the cache."""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import cache

HERE = Path(__file__).resolve().parent

KPT_RELEASES = "https://github.com/kptdev/kpt/releases"

DEFINITIONS = "crds"  # the folder beside a program that holds its CRDs, and its webhooks if it has any

_FLAGS = ("-trimpath",)
_LINK_FLAGS = ("-s", "-w")
_ANY_VERSION = re.compile(r"v?((?<=OpenSSH_)\d+\.\d+|\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?)")


class Program(NamedTuple):
    """A program that tests need. `folder` names the Go module that pins it; a program without one cannot be built.

    `module` is the module whose version counts, and `package` is the path of the program in it. The package `.` is that of `folder` itself:
    a program of our own, whose sources are in that folder.
    """

    name: str
    asks: tuple[str, ...]  # arguments that print the version; if empty, only the program in the cache is used
    folder: str = ""
    module: str = ""
    package: str = ""
    target: str = "tools"  # the make target that provides it
    definitions: tuple[tuple[str, str], ...] = ()  # CRDs and webhooks: a module (with a version, if go.mod does not list it) and its folder
    oldest: str = ""  # without `folder`: the oldest accepted version
    debian: str = ""  # without `folder`: the package of Debian that has it
    remedy: str = ""  # without `folder` and `debian`: how to install it

    @property
    def import_path(self) -> str:
        """The argument of `go build`."""
        return self.package if self.package == "." else self.module + self.package


class Found(NamedTuple):
    """A program that was found. `source` is assets, path or cache."""

    path: Path
    version: str
    source: str


class Missing(NamedTuple):
    """A program that was not found. `passed_over` names programs of other versions."""

    reason: str
    passed_over: tuple[str, ...] = ()


_KUBERNETES = "k8s.io/kubernetes"
_NEXT = "kubernetes-next"  # the folder of the newest Kubernetes, whose scheduler starts gangs
_FLUX = "github.com/fluxcd/kustomize-controller"
_ARGOCD = "github.com/argoproj/argo-cd/v3"
_LWS = "sigs.k8s.io/lws"
_SOURCES = "github.com/fluxcd/source-controller"
_KREW = "sigs.k8s.io/krew"

ALL = (
    Program("kustomize", ("version",), "kustomize", "sigs.k8s.io/kustomize/kustomize/v5", ""),
    Program("etcd", ("--version",), "etcd", "go.etcd.io/etcd/server/v3", ""),
    Program("kube-apiserver", ("--version",), "kubernetes", _KUBERNETES, "/cmd/kube-apiserver"),
    Program("kube-controller-manager", ("--version",), "kubernetes", _KUBERNETES, "/cmd/kube-controller-manager"),
    Program("kubectl", ("version", "--client"), "kubernetes", _KUBERNETES, "/cmd/kubectl"),
    Program("field-order", (), "field-order", "k8s.io/api", "."),
    Program("nats-server", ("--version",), "nats-server", "github.com/nats-io/nats-server/v2", ""),
    Program("actionlint", ("-version",), "actionlint", "github.com/rhysd/actionlint", "/cmd/actionlint"),
    Program("openssl", ("version",), oldest="v3.0.0", debian="openssl"),
    Program("dot", ("-V",), oldest="v2.40.0", debian="graphviz"),
    Program("promtool", ("--version",), oldest="v2.40.0", debian="prometheus"),
    Program("kpt", ("version",), oldest="v1.0.0-beta.56", remedy=f"install it from {KPT_RELEASES}"),
    Program(
        "kustomize-controller",
        (),
        "kustomize-controller",
        _FLUX,
        target="tools-gitops",
        definitions=((_FLUX, "config/crd/bases"), ("github.com/fluxcd/source-controller@v1.9.5", "config/crd/bases")),
    ),
    Program("argocd", (), "argocd", _ARGOCD, "/cmd", target="tools-gitops", definitions=((_ARGOCD, "manifests/crds"),)),
    Program("lws", (), "lws", _LWS, "/cmd", target="tools-multinode", definitions=((_LWS, "config/crd/bases"), (_LWS, "config/webhook"))),
    Program("kube-apiserver-next", (), _NEXT, _KUBERNETES, "/cmd/kube-apiserver", target="tools-gangs"),
    Program("kube-controller-manager-next", (), _NEXT, _KUBERNETES, "/cmd/kube-controller-manager", target="tools-gangs"),
    Program("kube-scheduler-next", (), _NEXT, _KUBERNETES, "/cmd/kube-scheduler", target="tools-gangs"),
    Program("sshd", ("-V",), target="tools-multinode", oldest="v8.0.0", debian="openssh-server"),
    Program("mpirun", ("--version",), target="tools-multinode", oldest="v4.0.0", debian="openmpi-bin"),
    Program("clientgo", (), "../benchmarks/clientgo", "k8s.io/client-go", ".", target="bench-sync"),
    Program("prometheus", ("--version",), target="tools-planner", oldest="v2.40.0", debian="prometheus"),
    Program("chromium", ("--version",), target="tools-site", oldest="v120.0.0", debian="chromium"),
    Program("npm", ("--version",), target="tools-site", oldest="v9.0.0", debian="npm"),
    Program("helm", (), "helm", "helm.sh/helm/v4", "/cmd/helm", target="tools-release"),
    Program("crane", (), "crane", "github.com/google/go-containerregistry", "/cmd/crane", target="tools-release"),
    Program("krew", (), "krew", _KREW, "/cmd/krew", target="tools-release"),
    Program("validate-krew-manifest", (), "krew", _KREW, "/cmd/validate-krew-manifest", target="tools-release"),
    Program("source-controller", (), "source-controller", _SOURCES, target="tools-release", definitions=((_SOURCES, "config/crd/bases"),)),
    Program("ruby", ("--version",), target="tools-release", oldest="v2.7.0", debian="ruby"),
    Program("redis-server", ("--version",), target="tools-gitops", oldest="v6.0.0", debian="redis-server"),
)


def version(program: Program) -> str:
    """The pinned version from go.mod, such as `v1.2.3`, or the oldest accepted version if no module pins one."""
    if not program.folder:
        return program.oldest
    return _required(_go_mod(program), program.module)


def go_version(program: Program) -> str:
    """The oldest Go version that can build the program, such as `1.26.0`: the `go` line of its go.mod."""
    return _required(_go_mod(program), "go")


def key(program: Program) -> str:
    """The name of the program's folder in the cache. It depends on the pinned modules, our own sources, the flags and the platform."""
    folder = HERE / program.folder
    sources = [file.read_text() for file in (folder / "go.sum", *sorted(folder.glob("*.go")))]
    data = itertools.chain(*program.definitions)
    made_of = [_go_mod(program), *sources, *build_flags(program), *data, sys.platform, platform.machine()]
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
    return f"{program.name}-{version(program)}-{digest[:12]}"


def build_flags(program: Program) -> tuple[str, ...]:
    """The arguments of `go build`, without output and package."""
    return (*_FLAGS, "-ldflags", " ".join((*_LINK_FLAGS, *_stamps(program))))


def find(program: Program) -> Found | Missing:
    """The program on the machine, or in the cache if the machine has none."""
    found = installed(program)
    if isinstance(found, Missing) and program.folder:
        kept = cache.entry(key(program)) / program.name
        if kept.exists():
            return Found(kept, version(program), "cache")
    return found


def installed(program: Program) -> Found | Missing:
    """The program in the folder of KUBEBUILDER_ASSETS, or on PATH.

    A program on PATH must have the pinned version. One in KUBEBUILDER_ASSETS may have another patch version, as `setup-envtest` installs.
    """
    passed_over = []
    for source, path in _candidates(program.name) if program.asks else ():
        said = _said_version(path, program.asks)
        if _will_do(program, said, by_minor=source == "assets"):
            return Found(path, f"v{said}", source)
        passed_over.append(f"{path} is {said or 'of unknown version'}")
    wanted = version(program) + ("" if program.folder else " or newer")
    return Missing(f"{wanted} is neither on PATH nor in the cache", tuple(passed_over))


def _go_mod(program: Program) -> str:
    return (HERE / program.folder / "go.mod").read_text()


def _required(go_mod: str, name: str) -> str:
    """The version of `name` in a go.mod."""
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(name)}\s+(\S+)", go_mod, re.MULTILINE)
    if not found:
        raise LookupError(f"no version of {name} in go.mod")
    return found[1]


def _stamps(program: Program) -> tuple[str, ...]:
    """Linker flags that set the version in a Kubernetes program; a build from a module would not set it."""
    if program.module != _KUBERNETES:
        return ()
    pinned = version(program)
    major, minor, _ = pinned.removeprefix("v").split(".")
    values = {"gitVersion": pinned, "gitMajor": major, "gitMinor": minor}
    return tuple(f"-X=k8s.io/component-base/version.{name}={value}" for name, value in values.items())


def _candidates(name: str) -> list[tuple[str, Path]]:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    places = [("assets", shutil.which(name, path=assets) if assets else None), ("path", shutil.which(name))]
    return [(source, Path(path)) for source, path in places if path]


def _said_version(path: Path, asks: tuple[str, ...]) -> str:
    """The first version in the program's output, without a leading v; empty if it prints none."""
    try:
        answer = subprocess.run([path, *asks], capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return printed_version(answer.stdout + answer.stderr)  # dot writes its version on stderr


def printed_version(text: str) -> str:
    """The first version in a text, without a leading v; empty if it has none.

    >>> printed_version("Version: v1.2.3"), printed_version("OpenSSH_9.2, OpenSSL 3.0.19 27 Jan 2026"), printed_version("none")
    ('1.2.3', '9.2', '')
    """
    found = _ANY_VERSION.search(text)
    return found[1] if found else ""


def _will_do(program: Program, said: str, *, by_minor: bool) -> bool:
    if not said:
        return False
    if program.folder:
        return order(said)[:2] == order(version(program))[:2] if by_minor else f"v{said}" == version(program)
    return order(said) >= order(version(program))


def order(text: str) -> tuple[int, int, int, int, int]:
    """A sort key for versions; a pre-release is less than its release.

    >>> order("v1.0.0-beta.56") < order("1.0.0-beta.60") < order("1.0.0") < order("1.0.1")
    True
    >>> order("go1.26.8") > order("1.26.0")
    True
    """
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?(?:-?(alpha|beta|rc)\.?(\d+))?", text)
    if not found:
        raise ValueError(f"{text!r} is not a version")
    major, minor, patch, stage, count = found.groups()
    rank = ("alpha", "beta", "rc", None).index(stage)
    return int(major), int(minor), int(patch or 0), rank, int(count or 0)
