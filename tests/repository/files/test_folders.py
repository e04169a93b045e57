"""`krm-fn check FOLDER` on repositories as they are: other programs' files, environments side by side, links and named pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from krm_fn.repository.files import reading
from tests.cli import console
from tests.support.cases import cases

GRAPH = console.GRAPH
SERVICES = GRAPH.replace("    Worker:", "    Decode:")
TEMPLATE = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: {{ .Release.Name }}}\n"
PATCH = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat, namespace: team}\n"
PATCH += "spec: {services: {Worker: {replicas: 3}}}\n"


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


REPOSITORY = {
    "apps/base/graph.yaml": GRAPH,
    "apps/base/kustomization.yaml": "resources: [graph.yaml]\n",
    "apps/prod/patch.yaml": PATCH,
    "apps/prod/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\n",
    "charts/web/values.yaml": "image: a\n",
    "charts/web/templates/graph.yaml": TEMPLATE,
    "charts/web/templates/service.yaml": "metadata: {{ include x }}\n",
    "compose.yaml": "services: {web: {image: a}}\n",
    "openapi.json": "{",
    "ci/pipeline.yml": "- step\n",
    "ci/ansible.yml": "a: !vault |\n  1\n",
    "ci/resource.yaml": "apiVersion: tekton.dev/v1\nkind: Task\n",
}


def test_a_repository_with_files_of_other_programs_passes(tmp_path, kustomize_on_path):
    """The root is built, and one line counts what was skipped."""
    done = console.run("check", write(tmp_path, REPOSITORY))
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        f"{tmp_path}/apps/prod: built with kustomize\n"
        "1 resource: no findings; skipped 4 files: 4 in Helm charts; 1 root without a Dynamo resource\n"
    )


def test_a_root_has_its_reason_with_verbose_only(tmp_path, kustomize_on_path):
    folder = write(tmp_path, REPOSITORY)
    reason = "apps/prod: built with kustomize: no other Kustomization includes it"
    assert reason in console.run("check", "--verbose", folder).err
    assert reason not in console.run("check", folder).err


def test_the_closing_line_says_what_was_excluded(tmp_path, kustomize_on_path):
    done = console.run("check", "--exclude", "charts", "--exclude", "c*/*.y*ml", "--exclude", "apps/prod", write(tmp_path, REPOSITORY))
    assert "1 resource: no findings; skipped 9 files: 9 excluded; 1 root" in done.err


OURS = [
    ("a template of a graph that lies in no chart", TEMPLATE, "DYN015"),
    ("JSON that is cut off", '{"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", ', "DYN004"),
    ("a configuration", "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nspec: [", "DYN004"),
    ("no name", "apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\n", "DYN015"),
    ("a generated object", "kind: Service\nmetadata:\n  annotations:\n    dynamo.krm-fn.io/owner: a\n  a: [\n", "DYN004"),
    ("a stray document beside a graph", f"{GRAPH}---\na: 1\n", "DYN072"),
]


@cases(("text", "code"), OURS)
def test_a_broken_file_that_names_a_dynamo_kind_is_a_finding(text, code, tmp_path):
    done = console.run("check", write(tmp_path, {"a/graph.yaml": GRAPH, "b/x.yaml": text}))
    assert f" {code} " in done.out
    assert f"{tmp_path}/b/x.yaml" in done.out


def test_utf_16_is_no_way_to_hide_a_graph(tmp_path):
    write(tmp_path, {"graph.yaml": GRAPH})
    (tmp_path / "other.yaml").write_bytes(GRAPH.encode("utf-16"))
    assert "error DYN002" in console.run("check", tmp_path).out


def test_a_file_that_is_named_is_never_skipped(tmp_path):
    write(tmp_path, REPOSITORY)
    for name in ("compose.yaml", "charts/web/templates/service.yaml"):
        assert console.run("check", tmp_path / name).code == 1


def test_a_render_still_refuses_what_it_cannot_read(tmp_path):
    """What it left out would be deleted from the cluster."""
    write(tmp_path, {"graph.yaml": GRAPH, "other.yaml": "a: ["})
    assert console.run("render", tmp_path).code == 1


def test_a_folder_without_resources_is_an_error_that_says_what_was_skipped(tmp_path):
    write(tmp_path, {name: text for name, text in REPOSITORY.items() if name.startswith("charts")})
    done = console.run("check", tmp_path)
    assert done.code == 1
    assert "DYN001" in done.out
    assert "skipped 4 files: 4 in Helm charts" in done.out


# environments side by side


def test_two_environments_may_hold_one_object(tmp_path):
    write(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": GRAPH})
    done = console.run("check", tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "2 resources: no findings\n")


def test_each_environment_is_judged(tmp_path):
    """Findings stand in their own file, and one about what both share is there once."""
    wrong = GRAPH.replace("replicas: 2", "replica: 2")
    shared = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\nmetadata: {name: m, namespace: team}\nspec: {modelNam: x}\n"
    write(tmp_path, {"staging/graph.yaml": wrong, "prod/graph.yaml": wrong, "shared/model.yaml": shared})
    lines = [line for line in console.run("check", tmp_path).out.splitlines() if " error DYN023 " in line]
    assert [line.partition(f"{tmp_path}/")[2].partition(":")[0] for line in lines] == [
        "prod/graph.yaml",
        "shared/model.yaml",
        "staging/graph.yaml",
    ]


def test_what_is_shared_counts_in_each_environment(tmp_path):
    """A configuration and a Service that collides with both graphs."""
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: chat-frontend, namespace: team}\n"
    write(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": GRAPH, "shared/service.yaml": service})
    assert "error DYN052" in console.run("check", tmp_path).out


TWICE = [
    ("one folder", {"a.yaml": GRAPH, "b.yaml": GRAPH}, "DYN016"),
    ("one build", {"kustomization.yaml": "resources: [x/a.yaml, y/a.yaml]\n", "x/a.yaml": GRAPH, "y/a.yaml": GRAPH}, "DYN593"),
]


@cases(("files", "code"), TWICE)
def test_one_object_twice_in_one_build_is_an_error(files, code, tmp_path, kustomize_on_path):
    done = console.run("check", write(tmp_path, files))
    assert done.out.count(f"error {code}") == 1


def test_a_render_takes_one_object_once(tmp_path):
    write(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": GRAPH})
    assert "DYN016" in console.run("render", tmp_path).err


# against an old state


GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")


def committed(folder, files):
    write(folder, files)
    for arguments in (["init"], ["add", "--all"], ["commit", "--message", "Begin"]):
        subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True)
    return folder


def codes(done):
    """The codes of the findings about changes."""
    return re.findall(r" (DYN4\d\d) ", done.out)


def test_environments_are_compared_by_their_files(tmp_path):
    """They differ from each other; neither of them changed."""
    committed(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": SERVICES})
    done = console.run("check", "--old", "HEAD", tmp_path)
    assert (done.code, codes(done)) == (0, [])
    assert "2 compared with HEAD" in done.err


def test_a_change_in_one_environment_is_found_there(tmp_path):
    committed(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": GRAPH})
    write(tmp_path, {"prod/graph.yaml": SERVICES})
    done = console.run("check", "--old", "HEAD", tmp_path)
    assert codes(done) == ["DYN402", "DYN402"]
    assert "staging" not in done.out


def test_a_base_and_the_patch_of_an_overlay_are_not_compared(tmp_path, kustomize_on_path):
    committed(tmp_path, {name: text for name, text in REPOSITORY.items() if name.startswith("apps")})
    done = console.run("check", "--old", "HEAD", tmp_path)
    assert (codes(done), "1 compared with HEAD" in done.err) == ([], True)


def test_a_file_that_moves_is_compared_by_identity(tmp_path):
    committed(tmp_path, {"staging/graph.yaml": GRAPH, "prod/graph.yaml": SERVICES})
    (tmp_path / "prod" / "graph.yaml").unlink()
    write(tmp_path, {"live/graph.yaml": SERVICES})
    assert codes(console.run("check", "--old", "HEAD", tmp_path)) == []
    write(tmp_path, {"live/graph.yaml": SERVICES.replace("      replicas: 2\n", "      replicas: 2\n      multinode: {nodeCount: 2}\n")})
    assert codes(console.run("check", "--old", "HEAD", tmp_path / "staging")) == []
    assert "DYN401" in codes(console.run("check", "--old", "HEAD", tmp_path))


def test_a_copy_for_a_new_environment_is_new(tmp_path):
    committed(tmp_path, {"staging/graph.yaml": GRAPH})
    write(tmp_path, {"prod/graph.yaml": SERVICES})
    done = console.run("check", "--old", "HEAD", tmp_path)
    assert (codes(done), "1 compared with HEAD" in done.err) == ([], True)


def test_two_folders_are_compared_file_by_file(tmp_path):
    write(tmp_path / "old", {"staging/graph.yaml": GRAPH, "prod/graph.yaml": SERVICES})
    write(tmp_path / "new", {"staging/graph.yaml": GRAPH, "prod/graph.yaml": SERVICES})
    assert codes(console.run("check", "--old", tmp_path / "old", tmp_path / "new")) == []
    write(tmp_path / "new", {"prod/graph.yaml": GRAPH})
    assert codes(console.run("check", "--old", tmp_path / "old", tmp_path / "new")) == ["DYN402", "DYN402"]


# links, named pipes, devices


@pytest.fixture
def outside(tmp_path):
    """A file that is not part of the input; no message may show its content."""
    (tmp_path / "secret.yaml").write_text("kind: DynamoModel\nhush: [\n")
    return tmp_path / "secret.yaml"


@pytest.mark.parametrize("name", ["a.yaml", "sub/kustomization.yaml", "Kustomization"])
def test_a_link_out_of_the_folder_is_not_read(name, outside, tmp_path):
    folder = write(tmp_path / "folder", {"graph.yaml": GRAPH})
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(outside)
    for verb in ("check", "render"):
        done = console.run(verb, folder)
        assert done.code == 1
        assert f"{folder / name}: error DYN074" in done.out + done.err
        assert "hush" not in done.out + done.err
        assert "DYN004" not in done.out + done.err


def test_a_link_to_what_is_named_too_is_read(tmp_path):
    folder = write(tmp_path / "folder", {"graph.yaml": GRAPH})
    (folder / "link.yaml").symlink_to("../other/model.yaml")
    (folder / "named.yaml").symlink_to("../other/model.yaml")
    write(tmp_path / "other", {"model.yaml": "kind: DynamoModel\na: [\n"})
    for paths in ([folder, tmp_path / "other"], [folder, tmp_path / "other" / "model.yaml"], [folder / "link.yaml"]):
        done = console.run("check", *paths)
        assert done.out.count("DYN004") == 1
        assert "DYN074" not in done.out


def test_a_link_to_a_device_without_an_end_is_not_read(tmp_path):
    folder = write(tmp_path, {"graph.yaml": GRAPH})
    (folder / "zero.yaml").symlink_to("/dev/zero")
    assert "zero.yaml: error DYN074" in console.program("check", str(folder)).out
    assert "zero.yaml: error DYN011 the path is a device" in console.program("check", str(folder / "zero.yaml")).out


def test_a_file_with_the_name_of_a_file_of_a_revision_is_not_shown(tmp_path, outside, monkeypatch):
    folder = committed(tmp_path / "folder", {"graph.yaml": f"{GRAPH}---\nkind: DynamoModel\na: [\n"})
    write(folder, {"graph.yaml": GRAPH})
    (folder / "HEAD:graph.yaml").symlink_to(outside)
    outside.write_text("hush\n" * 99)
    monkeypatch.chdir(folder)
    done = console.run("check", "--old", "HEAD", "graph.yaml")
    assert "HEAD:graph.yaml:20:1: warning DYN073" in done.out
    assert "hush" not in done.out


ANNOTATED = [
    ("a path that goes up", "../secret.yaml"),
    ("an absolute path", "{secret}"),
    ("a link", "link.yaml"),
    ("a link to a folder", "above/secret.yaml"),
    ("a named pipe", "pipe.yaml"),
    ("a zero byte", "a\\0b"),
]


@cases("path", ANNOTATED)
def test_an_annotation_does_not_choose_what_is_read(path, tmp_path):
    """The file is named as the annotation has it, and its line is not known."""
    secret = tmp_path / "secret.yaml"
    secret.write_text(console.MISSPELT)
    root = write(tmp_path / "root", {"graph.yaml": GRAPH})
    (root / "link.yaml").symlink_to(secret)
    (root / "above").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.yaml")
    noted = f'  annotations: {{internal.config.kubernetes.io/path: "{path.format(secret=secret)}"}}\n'
    text = console.MISSPELT.replace("  namespace: team\n", "  namespace: team\n" + noted)
    done = console.program("check", "--root", str(root), "-", stdin=text)
    (line,) = [line for line in done.out.splitlines() if " error " in line]
    assert "yaml: error DYN023" in line or "b: error DYN023" in line


@pytest.mark.slow  # ten processes
@pytest.mark.parametrize("place", ["graph.yaml", "kustomization.yaml"])
def test_a_named_pipe_is_not_waited_for(place, tmp_path):
    folder = write(tmp_path, {"sound.yaml": GRAPH})
    os.mkfifo(folder / place)
    for arguments in (
        ["check", folder],
        ["check", folder / place],
        ["render", folder],
        ["check", "--config", folder / place, folder / "sound.yaml"],
    ):
        done = console.program(*arguments)
        assert done.code == 1
        assert f"{folder / place}: error DYN011 the path is a named pipe, not a regular file" in done.out + done.err
    done = console.program("check", "--old", folder / place, folder / "sound.yaml")
    assert "DYN011" in done.out


def test_the_output_of_a_command_is_read_like_a_file(tmp_path):
    """A shell passes `<(command)` as a pipe that is open already."""
    write(tmp_path, {"graph.yaml": console.MISSPELT})
    command = f"{sys.executable} -m krm_fn check <(cat graph.yaml)"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert ":14:7: error DYN023" in done.stdout


@pytest.mark.parametrize("way", ["a file", "a folder", "stdin"])
def test_a_file_above_the_limit_is_a_finding(way, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LIMIT", len(GRAPH))
    monkeypatch.setattr(reading.data, "__defaults__", (len(GRAPH),))
    write(tmp_path, {"right.yaml": GRAPH, "sub/large.yaml": f"{GRAPH}\n"})
    arguments = {"a file": [tmp_path / "sub" / "large.yaml"], "a folder": [tmp_path], "stdin": ["-"]}[way]
    done = console.run("check", *arguments, stdin=f"{GRAPH}\n")
    assert done.code == 1
    assert done.out.count("error DYN075") == 1
    assert "right.yaml" not in done.out


def test_the_limit_of_a_real_run_ends_a_stream_without_end(tmp_path):
    done = console.program("check", "-", through="cat", stdin="#" * (reading.LIMIT + 1))
    assert "<stdin>: error DYN075 the file is larger than 32 MiB" in done.out


def test_a_large_file_of_a_revision_is_not_read_either(tmp_path, monkeypatch):
    committed(tmp_path, {"graph.yaml": f"{GRAPH}# {'x' * 200}\n"})
    write(tmp_path, {"graph.yaml": GRAPH})
    monkeypatch.setattr(reading, "LIMIT", len(GRAPH) + 100)
    done = console.run("check", "--old", "HEAD", tmp_path)
    assert "HEAD:graph.yaml: warning DYN073 the old file is not compared, because of DYN075" in done.out
