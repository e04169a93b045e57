"""The kpt layout of examples/ with the real kpt: it renders in place, and a second render changes nothing."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support import beta, build_checks, builds, golden


@pytest.fixture
def package(tmp_path, kpt):
    """A copy of the package."""
    return shutil.copytree(golden.PACKAGE, tmp_path / "package")


def package_objects(package):
    return [each for file in sorted(package.glob("*.yaml")) for each in build_checks.read(file.read_text())]


def test_render_is_as_recorded_and_a_second_one_changes_nothing(package, tmp_path):
    golden.render(package)
    assert builds.same_files(package, golden.RENDERED)
    first = shutil.copytree(package, tmp_path / "first")
    golden.render(package)
    assert builds.same_files(package, first)


def test_nothing_lies_in_a_rendered_package(package):
    golden.render(package)
    objects = [each for each in package_objects(package) if each["kind"] != "DynamoRender"]
    build_checks.assert_fit(objects)
    build_checks.assert_nothing_lies(objects)
    assert builds.check(objects).returncode == 0


def test_comments_stay(package):
    golden.render(package)
    text = (package / "graph.yaml").read_text()
    assert text.startswith("# Comments stay where they are.")
    assert "# one GPU each" in text


def test_what_the_graph_no_longer_wants_goes(package):
    """The changed package is the same with and without an earlier render."""
    fresh = shutil.copytree(package, package.with_name("fresh"))
    golden.render(package)
    for folder in (package, fresh):
        builds.edit(
            folder / "graph.yaml",
            lambda graph: (
                graph["spec"]["components"].remove(beta.named(graph, "Frontend")),
                beta.named(graph, "Worker").pop("replicas"),
            ),
        )
    golden.render(package)
    golden.render(fresh)
    names = {file.name for file in package.iterdir()}
    assert not {name for name in names if "frontend" in name}
    assert names == {file.name for file in fresh.iterdir()}
    assert package_objects(package) == package_objects(fresh)


def test_a_file_of_yours_in_our_place_is_an_error_and_stays(package):
    """A render overwrites only generated objects."""
    mine = package / "mine.yaml"
    mine.write_text("apiVersion: v1\nkind: Service\nmetadata:\n  name: chat-worker\n  namespace: inference\n")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        golden.render(package)
    assert "chat-worker" in refused.value.stderr
    assert mine.read_text().endswith("namespace: inference\n")
    assert not (package / "deployment_chat-worker.yaml").exists()


def test_eval_takes_settings_from_the_command_line(package):
    builds.evaluate(package, "natsAddress=nats://other:4222", "components=true", 'imagePullSecrets=[{"registry":"nvcr.io","name":"ngc"}]')
    worker = build_checks.read((package / "deployment_chat-worker.yaml").read_text())[0]
    assert {"name": "NATS_SERVER", "value": "nats://other:4222"} in builds.reach(worker, "spec/template/spec/containers/0/env")
    assert worker["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "ngc"}]
    assert (package / "dynamocomponentdeployment_chat-worker.yaml").exists()


def test_eval_twice_changes_nothing(package):
    builds.evaluate(package)
    first = shutil.copytree(package, package.with_name("first"))
    builds.evaluate(package)
    assert builds.same_files(package, first)


def test_eval_refuses_a_wrong_setting_and_leaves_the_files_alone(package):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        builds.evaluate(package, "natsAdress=nats://other:4222")
    assert "natsAddress" in refused.value.stderr
    assert builds.same_files(package, golden.PACKAGE)


def test_drop_never_deletes_a_file_of_yours(package):
    builds.evaluate(package, "source=drop")
    (graph,) = build_checks.read((package / "graph.yaml").read_text())
    assert graph["metadata"]["annotations"]["config.kubernetes.io/local-config"] == "true"


def test_a_graph_in_a_sub_package_keeps_its_objects_beside_it(package):
    inner = package / "team"
    inner.mkdir()
    (package / "graph.yaml").rename(inner / "graph.yaml")
    golden.render(package)
    assert (inner / "deployment_chat-worker.yaml").exists()
    assert not (package / "deployment_chat-worker.yaml").exists()
    first = shutil.copytree(inner, package.with_name("first"))
    golden.render(package)
    assert builds.same_files(inner, first)
