"""A check of a stranger's repository runs none of its programs, reads no file outside of it, and speaks to no server."""

from __future__ import annotations

import http.server
import threading

import pytest

import krm_fn
from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, README, codes
from tests.support.cases import cases

EVIL = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: evil\n  annotations:\n    config.kubernetes.io/function: |\n      {}\n"
PWN = "#!/bin/sh\ntouch '{}'\ncat\n"


def kustomization(**fields):
    lines = {"resources": "[graph.yaml]", **fields}
    return "".join(f"{name}: {text}\n" for name, text in lines.items())


@pytest.fixture
def mark(tmp_path):
    """A file that a program of the repository would write."""
    return tmp_path / "mark"


@pytest.fixture
def hostile(clone, mark):
    """A repository with a program that leaves a mark, under several names."""
    clone.put(README)
    for name in ("pwn", "bin/krm-fn", "krm-fn", "git", "kustomize", "kpt", "helm", "docker", "sh", "python3"):
        clone.put({name: PWN.format(mark)})
        (clone.folder / name).chmod(0o755)
    return clone


PROGRAMS = [
    ("an exec function", {"transformers": "[evil.yaml]"}, "exec: {path: ./pwn}", "DYN595"),
    ("an absolute path", {"transformers": "[evil.yaml]"}, "exec: {path: /bin/sh}", "DYN595"),
    ("a generator", {"generators": "[evil.yaml]"}, "exec: {path: ./pwn}", "DYN595"),
    ("a validator", {"validators": "[evil.yaml]"}, "exec: {path: ./pwn}", "DYN595"),
    ("a container", {"transformers": "[evil.yaml]"}, "container: {image: evil.example/x}", "DYN595"),
    ("starlark", {"transformers": "[evil.yaml]"}, "starlark: {path: x.star}", "DYN595"),
    ("a program with our name", {"transformers": "[render.yaml, evil.yaml]"}, "exec: {path: ./bin/krm-fn}", ""),
    (
        "an image with our name",
        {"transformers": "[evil.yaml]"},
        f"container: {{image: evil.example/{krm_fn.IMAGE.rpartition('/')[2]}}}",
        "",
    ),
    ("a chart", {"helmCharts": "[{name: x, repo: 'https://evil.example'}]"}, "exec: {path: krm-fn}", "DYN595"),
]


@cases(("fields", "function", "code"), PROGRAMS)
def test_no_program_of_the_repository_runs(fields, function, code, hostile, mark):
    """A function with our name is replaced by this krm-fn. All others are named once, and the root is not built in either state."""
    evil = EVIL.format(function)
    hostile.put({"kustomization.yaml": kustomization(**fields), "evil.yaml": evil}).commit()
    done = console.run("diff", "--old", "HEAD")
    assert (done.code, codes(done)) == ((1, [code]) if code else (0, []))
    assert not mark.exists()


def test_an_annotation_that_a_patch_writes_runs_nothing(hostile, mark):
    """The functions of a build can themselves come from a build, so the text of no file shows what would run."""
    plugins = {
        "functions/kustomization.yaml": "resources: [f.yaml]\npatches: [{path: p.yaml}]\n",
        "functions/f.yaml": FUNCTION,
        "functions/p.yaml": FUNCTION.replace("exec: {path: krm-fn}", f"exec: {{path: {hostile.folder}/pwn}}"),
    }
    hostile.put({**plugins, "kustomization.yaml": kustomization(transformers="[functions]")}).commit()
    console.run("check")
    assert not mark.exists()
    annotate = {**plugins, "functions/p.yaml": "", "functions/kustomization.yaml": "resources: [f.yaml]\ncommonAnnotations:\n"}
    annotate["functions/kustomization.yaml"] += f"  config.kubernetes.io/function: 'exec: {{path: {hostile.folder}/pwn}}'\n"
    hostile.put(annotate)
    console.run("check")
    assert not mark.exists()


def test_a_plugin_in_the_home_of_the_user_does_not_run(hostile, mark, monkeypatch):
    """Plugins of kustomize are found in its plugin folder only, and krm-fn names its own."""
    plugin = "home/.config/kustomize/plugin/evil.example/v1/evil/Evil"
    hostile.put({plugin: PWN.format(mark), "evil.yaml": "apiVersion: evil.example/v1\nkind: Evil\nmetadata: {name: a}\n"})
    (hostile.folder / plugin).chmod(0o755)
    hostile.put({"kustomization.yaml": kustomization(transformers="[evil.yaml]")})
    for name in ("HOME", "XDG_CONFIG_HOME", "KUSTOMIZE_PLUGIN_HOME"):
        monkeypatch.setenv(name, str(hostile.folder / "home" / ".config" / "kustomize" / "plugin"))
    assert codes(console.run("check")) == ["DYN593"]
    assert not mark.exists()


def test_a_function_of_a_package_does_not_run(hostile, mark, kpt):
    """Neither a program of the repository nor one of this machine."""
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: a}}\npipeline: {{mutators: [{{exec: '{}'}}]}}\n"
    for program in ("./pwn", "pwn", "/bin/sh -c ./pwn", f"{hostile.folder}/pwn", "krm-fn images --resolve ./pwn graph.yaml"):
        hostile.put({"app/Kptfile": kptfile.format(program)})
        hostile.put({"app/graph.yaml": GRAPH, "app/sub/Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: b}\n"})
        assert "DYN595" in codes(console.run("check"))
    assert not mark.exists()


def test_krm_fn_gets_no_arguments_of_the_repository(hostile, mark):
    """With arguments, krm-fn is a command that can write files and run programs."""
    command = f"images --resolve {hostile.folder}/pwn {hostile.folder}/graph.yaml"
    plugin = f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {{name: a}}\nargsOneLiner: {command}\n"
    hostile.put({"kustomization.yaml": kustomization(transformers="[plugin.yaml]"), "plugin.yaml": plugin})
    assert "DYN023" in codes(console.run("check"))
    assert not mark.exists()


OUTSIDE = [
    ("a base above the repository", kustomization(resources="[graph.yaml, ../secret]")),
    ("an absolute base", kustomization(resources="[graph.yaml, '{outside}']")),
    ("a linked base", kustomization(resources="[graph.yaml, link]")),
    ("a file above the repository", kustomization(configMapGenerator="[{{name: a, files: [../secret/password]}}]")),
    ("a linked file", kustomization(configMapGenerator="[{{name: a, files: [linked.txt]}}]")),
    ("a patch above the repository", kustomization(patches="[{{path: ../secret/kustomization.yaml}}]")),
    ("a field in another case", "Resources: [graph.yaml, ../secret]\n"),
    ("a base that YAML merges", "a: &a\n  resources: [graph.yaml, ../secret]\n<<: *a\n"),
    ("a second document", "resources: [graph.yaml]\n---\nresources: [../secret]\n"),
]


@cases("text", OUTSIDE)
def test_no_file_outside_of_the_repository_is_read(text, clone, tmp_path):
    outside = tmp_path / "secret"
    outside.mkdir()
    (outside / "password").write_text("hush")
    (outside / "secret.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hush, annotations: {a: hush}}\n")
    (outside / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    clone.put({**README, "kustomization.yaml": text.format(outside=outside)})
    (clone.folder / "link").symlink_to(outside)
    (clone.folder / "linked.txt").symlink_to(outside / "password")
    clone.commit()
    done = console.run("check", notes=True)
    assert done.code == 1 or "note DYN593" in done.out
    compared = console.run("diff", "--old", "HEAD")
    assert "hush" not in done.out + done.err + compared.out + compared.err


@pytest.fixture
def server():
    """The address of an HTTP server, and the requests that reached it."""
    requests: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_arguments):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}", requests
    running.shutdown()
    running.server_close()


REMOTE = ["resources: [graph.yaml, '{}/base.yaml']\n", "resources: [graph.yaml]\npatches: [{{path: '{}/p.yaml'}}]\n"]
REMOTE += ["resources: [graph.yaml, '{}/team/base.git//app?ref=v1']\n", "resources: [graph.yaml]\ncomponents: ['{}/c']\n"]
REMOTE += ["resources: [graph.yaml]\nconfigMapGenerator: [{{name: a, files: ['{}/f']}}]\n", "resources: [graph.yaml]\ncrds: ['{}/crd']\n"]
REMOTE += ["resources: [graph.yaml]\nopenapi: {{path: '{}/o.json'}}\n", "resources: [graph.yaml]\nreplacements: [{{path: '{}/r'}}]\n"]


@pytest.mark.parametrize("text", REMOTE)
def test_nothing_is_fetched(text, clone, server):
    """A remote base is named, with its line."""
    address, requests = server
    clone.put({**README, "kustomization.yaml": text.format(address)})
    done = console.run("check")
    assert codes(done) == ["DYN596"]
    assert "kustomization.yaml:" in done.out
    assert requests == []


def test_the_working_tree_stays_as_it_is(clone):
    """A build changes a private copy only."""
    clone.put(README).commit()
    console.run("check")
    console.run("diff", "--old", "HEAD")
    assert clone.git("status", "--porcelain") == ""
