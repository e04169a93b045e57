"""The mark of a rendered resource names the release and the settings that made its objects, and a later run reads them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given as over
from hypothesis import strategies as st

from krm_fn.render import config, labels, render_mark
from krm_fn.render.config import Config, GroveSettings, IngressSettings, KaiSchedulerSettings, PullSecret
from tests.cli import console
from tests.support import given
from tests.support.cases import cases

SETTINGS = [
    ("defaults", Config()),
    ("a text", Config(namespace="team", nats_address="nats://nats:4222")),
    ("inner settings", Config(orchestrator="grove", grove=GroveSettings(kai_scheduler=KaiSchedulerSettings(enabled=True)))),
    ("a list of settings", Config(image_pull_secrets=(PullSecret("nvcr.io", "ngc"),))),
    ("a list of texts", Config(grove=GroveSettings(schedulers=()))),
    ("a key with a word in capitals", Config(model_express_url="http://express:8001")),
    ("settings of the ingress", Config(ingress=IngressSettings(class_name="nginx", host_suffix="example.com"))),
]


@cases("settings", SETTINGS)
def test_settings_are_read_as_they_were_written(settings):
    assert render_mark.read(render_mark.write(settings, "v1.5")) == settings._replace(behaviour="v1.5")


def test_settings_of_the_run_are_left_out():
    settings = Config(behaviour="v1.5", source="drop", source_version="v1beta1", unknown_fields="warn")
    assert render_mark.write(settings, "v1.5") == f"{render_mark.program()} v1.5"


def test_credentials_are_left_out():
    text = render_mark.write(Config(nats_address="nats://me:secret@a:4222,nats://me:secret@b:4222"), "v1.5")
    assert "secret" not in text
    assert "nats://a:4222,nats://b:4222" in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "krm-fn",
        "krm-fn 0.1.0",
        "krm-fn 0.1.0 v7.0",
        "other 0.1.0 v1.5",
        "krm-fn 0.1.0 v1.5 {",
        'krm-fn 0.1.0 v1.5 {"x":1}',
        "krm-fn 1 v1.5 []",
    ],
)
def test_a_text_of_another_program_is_not_read(text):
    assert render_mark.read(text) is None


@over(st.text())
def test_any_text_is_read_without_a_failure(text):
    assert isinstance(render_mark.read(f"krm-fn 0.1.0 v1.5 {text}"), Config | None)


def test_every_setting_can_be_written():
    """A new setting of another type would be lost."""
    for name, default in Config._field_defaults.items():
        assert isinstance(default, str | bool | tuple), name
        assert config.attribute(config.key(name)) == name


def test_check_uses_the_settings_of_a_finished_build(tmp_path):
    """Runtimes before 1.0 cannot use Kubernetes discovery, which is the default setting; this build discovers through etcd."""
    written = given.graph({"Worker": given.service("worker", main={"image": "registry.example/dynamo:0.9.0"})})
    made = given.expanded(written, behaviour="v0.9", discovery_backend="etcd").resources
    build = yaml.safe_dump_all(made)
    (mark,) = {labels.annotations(resource).get(labels.RENDERED_BY) for resource in made} - {None}
    assert mark == f'{render_mark.program()} v0.9 {{"discoveryBackend":"etcd"}}'
    (tmp_path / "build.yaml").write_text(build)
    assert "DYN173" not in console.run("check", tmp_path).out
    (tmp_path / "build.yaml").write_text(build.replace(mark, "krm-fn 0.1.0"))
    assert "DYN173" in console.run("check", tmp_path).out
