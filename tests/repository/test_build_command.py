"""`krm-fn build`, and the plugin of Argo CD: the output of kustomize, and no program of the repository but krm-fn."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli import console
from tests.repository.clones import BUILD, FUNCTION, GIT, GRAPH, README, codes, documents
from tests.support.cases import cases
from tests.testbed import programs

PLUGIN = programs.ROOT / "examples" / "argocd" / "plugin" / "generate.sh"
PWN = "#!/bin/sh\ntouch '{}'\ncat\n"
EVIL = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: evil
  annotations:
    config.kubernetes.io/function: |
      %s
"""
EXEC = "exec: {path: PWN}"
INLINE = "- |\n" + "".join(f"  {line}\n" for line in (EVIL % EXEC).splitlines())
PATCH = '- {target: {kind: DynamoRender}, patch: "[{op: replace, path: /metadata/annotations/config.kubernetes.io~1function, value: '
BASE = {"base/kustomization.yaml": "resources: [graph.yaml]\n", "base/graph.yaml": GRAPH}


def kustomization(**fields):
    return "".join(f"{name}: {text}\n" for name, text in {"resources": "[graph.yaml]", **fields}.items())


HOSTILE = [
    # reason, files, code of the finding
    ("a transformer", {"kustomization.yaml": kustomization(transformers="[evil.yaml]"), "evil.yaml": EVIL % EXEC}, "DYN595"),
    ("a generator", {"kustomization.yaml": kustomization(generators="[evil.yaml]"), "evil.yaml": EVIL % EXEC}, "DYN595"),
    ("a validator", {"kustomization.yaml": kustomization(validators="[evil.yaml]"), "evil.yaml": EVIL % EXEC}, "DYN595"),
    (
        "a shell",
        {"kustomization.yaml": kustomization(transformers="[e.yaml]"), "e.yaml": EVIL % "exec: {path: /bin/sh, args: [PWN]}"},
        "DYN595",
    ),
    ("a container", {"kustomization.yaml": kustomization(transformers="[e.yaml]"), "e.yaml": EVIL % "container: {image: a/b}"}, "DYN595"),
    ("Starlark", {"kustomization.yaml": kustomization(transformers="[e.yaml]"), "e.yaml": EVIL % "starlark: {path: a.star}"}, "DYN595"),
    ("an inline function", {"kustomization.yaml": f"resources: [graph.yaml]\ntransformers:\n{INLINE}"}, "DYN595"),
    (
        "a base",
        {
            "kustomization.yaml": "resources: [base]\n",
            **BASE,
            "base/kustomization.yaml": kustomization(transformers="[e.yaml]"),
            "base/e.yaml": EVIL % EXEC,
        },
        "DYN595",
    ),
    (
        "a component",
        {
            "kustomization.yaml": kustomization(components="[part]"),
            "part/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ntransformers: [e.yaml]\n",
            "part/e.yaml": EVIL % EXEC,
        },
        "DYN595",
    ),
    (
        "a patch of a function",
        {
            "kustomization.yaml": kustomization(transformers="[functions]"),
            "functions/kustomization.yaml": f"resources: [f.yaml]\npatches:\n{PATCH}'{EXEC}'}}]\"}}\n",
            "functions/f.yaml": FUNCTION,
        },
        "DYN595",
    ),
    (
        "an annotation for all functions",
        {
            "kustomization.yaml": kustomization(transformers="[functions]"),
            "functions/kustomization.yaml": f"resources: [f.yaml]\ncommonAnnotations: {{config.kubernetes.io/function: '{EXEC}'}}\n",
            "functions/f.yaml": FUNCTION,
        },
        "DYN595",
    ),
    (
        "the older name of the annotation",
        {"kustomization.yaml": kustomization(transformers="[e.yaml]"), "e.yaml": (EVIL % EXEC).replace("kubernetes.io", "k8s.io")},
        "DYN595",
    ),
    (
        "a plugin",
        {"kustomization.yaml": kustomization(transformers="[e.yaml]"), "e.yaml": "apiVersion: evil/v1\nkind: Evil\nmetadata: {name: a}\n"},
        "DYN593",
    ),
    ("a chart", {"kustomization.yaml": kustomization(helmCharts="[{name: x, repo: 'https://evil.example'}]")}, "DYN595"),
    (
        "a field in another case",
        {"kustomization.yaml": "Transformers: [e.yaml]\nresources: [graph.yaml]\n", "e.yaml": EVIL % EXEC},
        "DYN593",
    ),
    ("a file above", {"kustomization.yaml": "resources: [graph.yaml, ../secret/secret.yaml]\n"}, "DYN596"),
]


@pytest.fixture
def mark(tmp_path):
    """A file that a program of the repository would write."""
    return tmp_path / "mark"


@pytest.fixture
def hostile(clone, mark):
    """A repository with a program that leaves a mark, and a folder beside it."""
    clone.put(README)
    clone.put({"pwn": PWN.format(mark), "plugin/evil/v1/evil/Evil": PWN.format(mark)})
    for name in ("pwn", "plugin/evil/v1/evil/Evil"):
        (clone.folder / name).chmod(0o755)
    (clone.folder.parent / "secret").mkdir()
    (clone.folder.parent / "secret" / "secret.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: hush}\n")
    return clone


def generate(clone, **variables):
    """Run the plugin as Argo CD does, in the folder of an Application."""
    environment = {
        "PATH": clone.path,
        "HOME": str(clone.folder),
        "ARGOCD_APP_NAMESPACE": "team",
        "ARGOCD_APP_SOURCE_PATH": ".",
        **variables,
    }
    return subprocess.run(["bash", PLUGIN], cwd=clone.folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


def put(clone, files):
    clone.put({name: text.replace("PWN", str(clone.folder / "pwn")) for name, text in files.items()}).commit()


@cases(("files", "code"), HOSTILE)
def test_no_function_but_krm_fn_runs_in_argo_cd(files, code, hostile, mark, monkeypatch):
    """Whoever can commit to one repository runs nothing in a shared Argo CD, and it says what it refuses."""
    put(hostile, files)
    done = generate(hostile, KUSTOMIZE_PLUGIN_HOME=str(hostile.folder / "plugin"))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error {code}" in done.stderr
    assert not mark.exists()


def test_a_link_to_a_function_outside_of_the_repository_is_not_followed(hostile, mark):
    (hostile.folder.parent / "secret" / "evil.yaml").write_text(EVIL % f"exec: {{path: {hostile.folder}/pwn}}")
    hostile.put({"kustomization.yaml": kustomization(transformers="[linked.yaml]")})
    (hostile.folder / "linked.yaml").symlink_to(hostile.folder.parent / "secret" / "evil.yaml")
    hostile.commit()
    done = generate(hostile)
    assert (done.returncode, done.stdout) == (1, "")
    assert not mark.exists()


def test_a_linked_function_inside_of_the_repository_is_refused(hostile, mark):
    put(hostile, {"other/evil.yaml": EVIL % EXEC, "kustomization.yaml": kustomization(transformers="[linked.yaml]")})
    (hostile.folder / "linked.yaml").symlink_to("other/evil.yaml")
    hostile.commit()
    done = generate(hostile)
    assert "error DYN595" in done.stderr
    assert not mark.exists()


@pytest.fixture
def remote(tmp_path, hostile):
    """The address of a folder in another repository, which has a graph, and the folder on disk."""
    folder = tmp_path / "remote"
    (folder / "base").mkdir(parents=True)
    for name, text in BASE.items():
        (folder / name).write_text(text)
    address = f"file://{folder}//base?ref=main"

    def commit(files):
        for name, text in files.items():
            (folder / "base" / name).write_text(text.replace("PWN", str(hostile.folder / "pwn")))
        for words in ([] if (folder / ".git").exists() else ["init"], ["add", "--all"], ["commit", "--message", "Change"]):
            subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True) if words else None

    commit({})
    hostile.put({"kustomization.yaml": README["kustomization.yaml"].replace("graph.yaml", f"'{address}'")}).commit()
    return commit


REMOTE = [
    row for row in HOSTILE if row[0] in ("a transformer", "a generator", "a validator", "a container", "an inline function", "a chart")
]


@cases(("files", "code"), REMOTE)
def test_a_remote_base_runs_nothing(files, code, remote, hostile, mark):
    remote(files)
    done = generate(hostile)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error {code}" in done.stderr
    assert not mark.exists()


def test_a_remote_base_is_built(remote, hostile):
    """The plugin fetches it, and `build` alone does not."""
    done = generate(hostile)
    assert done.returncode == 0
    assert "Deployment" in {resource["kind"] for resource in documents(done.stdout)}
    assert codes(console.run("build")) == ["DYN596"]
    assert documents(console.run("build", "--fetch").out) == documents(hostile.shell(*BUILD, "."))


def test_a_remote_base_that_does_not_exist_is_named(remote, hostile):
    hostile.edit("kustomization.yaml", "ref=main", "ref=none")
    done = console.run("build", "--fetch")
    assert (done.code, done.out, codes(done)) == (1, "", ["DYN710"])


INLINE_FUNCTION = "- |\n" + "".join(f"  {line}\n" for line in FUNCTION.splitlines())
OVERLAY = "namespace: prod\nresources: [../base]\ntransformers: [render.yaml]\n"
LAYOUTS = [
    ("the README", README, "."),
    (
        "an inline function",
        {**README, "kustomization.yaml": f"namespace: prod\nresources: [graph.yaml]\ntransformers:\n{INLINE_FUNCTION}"},
        ".",
    ),
    ("an overlay", {**BASE, "prod/kustomization.yaml": OVERLAY, "prod/render.yaml": FUNCTION}, "prod"),
    ("no function", BASE, "base"),
]


@cases(("files", "folder"), LAYOUTS)
def test_the_output_is_that_of_kustomize(files, folder, clone):
    clone.put(files).commit()
    done = console.run("build", folder)
    assert (done.code, done.err) == (0, "")
    assert documents(done.out) == documents(clone.shell(*BUILD, folder))


def test_a_program_with_our_name_is_replaced(hostile, mark):
    """The function runs, but not the program of the repository."""
    put(hostile, {"bin/krm-fn": PWN.format(mark), "render.yaml": FUNCTION.replace("path: krm-fn", "path: ./bin/krm-fn")})
    (hostile.folder / "bin" / "krm-fn").chmod(0o755)
    done = generate(hostile)
    assert done.returncode == 0
    assert "Deployment" in {resource["kind"] for resource in documents(done.stdout)}
    assert not mark.exists()


def test_a_base_above_the_application_is_read(clone):
    """The checkout ends above the folder of the Application, also if Argo CD leaves out the first parts of its path."""
    clone.put({**BASE, "apps/prod/kustomization.yaml": "resources: [../../base]\n"}).commit()
    for path in ("apps/prod", "team/apps/prod"):
        environment = {"PATH": clone.path, "ARGOCD_APP_NAMESPACE": "team", "ARGOCD_APP_SOURCE_PATH": path, "GIT_CEILING_DIRECTORIES": "/"}
        done = subprocess.run(
            ["bash", PLUGIN], cwd=clone.folder / "apps" / "prod", env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Deployment" in {resource["kind"] for resource in documents(done.stdout)}


def test_a_configuration_outside_of_the_repository_is_refused(hostile):
    parameters = '[{"name": "config", "string": "../secret/secret.yaml"}]'
    done = generate(hostile, ARGOCD_APP_PARAMETERS=parameters)
    assert done.returncode == 1
    assert "outside of the repository" in done.stderr
    assert "hush" not in done.stdout + done.stderr


WRONG = [
    ("a folder without a Kustomization", ["base"], 1, "DYN593"),
    ("a folder outside of the top", ["--top", "base", "."], 2, "is not in"),
    ("a missing folder", ["none"], 2, "does not exist"),
]


@cases(("words", "code", "message"), WRONG)
def test_wrong_usage(words, code, message, clone):
    clone.put({**README, "base/graph.yaml": GRAPH}).commit()
    done = console.run("build", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
