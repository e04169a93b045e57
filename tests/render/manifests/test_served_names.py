"""Model, component and power limit of the pods that serve (reference: `internal/controller/component_runtime_status.go`)."""

from __future__ import annotations

from typing import Any

from krm_fn.render import labels
from krm_fn.render.manifests import served_names
from krm_fn.render.manifests.served_names import ServedNames
from tests.support.cases import cases


def names(command: Any = (), args: Any = (), init: Any = None, **annotations: str) -> ServedNames:
    main = {"name": "main", "command": list(command), "args": list(args)}
    return served_names.of_pod({"containers": [main], "initContainers": [init] if init else None}, main, annotations)


MODELS = [
    ("the path of the model", ["--model-path", "/cache/llama"], "/cache/llama"),
    ("the served name before the path, wherever it stands", ["--model-path", "/cache/llama", "--served-model-name=llama"], "llama"),
    ("`--model-name` before `--model`", ["--model", "a", "--model-name", "b"], "b"),
    ("the first of two", ["--model=a", "--model=b"], "a"),
    ("a flag at the end has no value", ["--model", "a", "--served-model-name"], "a"),
    ("an empty value is a value", ["--served-model-name=", "--model", "a"], ""),
    ("the word after a flag is its value, even another flag", ["--model", "--tp", "2"], "--tp"),
    ("a model without a flag is not found", ["serve", "llama"], ""),
    ("a variable stays", ["--model", "$(MODEL)"], "$(MODEL)"),
    ("a line", ["exec x --model 'my model' --tp 2"], "my model"),
    ("escaped blanks", [r"x --model my\ model"], "my model"),
    ("escaped quotes", [r'x --model "say \"a\""'], 'say "a"'),
    ("quotes without an end", ["x --model 'a b"], "a b"),
    ("a backslash at the end", ["x --model a\\"], "a\\"),
    ("empty words vanish", ["--model", "", "b"], "b"),
    ("lines of a script", ["cd /w\nx --model \\\n a\n"], "\n"),
    ("operators of a shell are letters", ["x --model a&& y"], "a&&"),
    ("a shell in a shell comes last", ["bash -c 'x --model in' && x --model out"], "out"),
    ("and is read in turn", ["exec /bin/sh -c \"bash -c 'x --model deep'\""], "deep"),
    ("a login shell is not read", ["bash -lc 'x --model in'"], ""),
]


@cases(("args", "model"), MODELS)
def test_flags_name_the_model(args, model):
    assert names(args=args) == ServedNames(model)


def test_the_command_comes_before_the_arguments():
    assert names(["x", "--model", "a"], ["--model", "b"]).model == "a"


COMPONENTS = [
    ("namespace, component and endpoint", "prod.decode.generate", "decode"),
    ("with a scheme", "dyn://prod.decode.generate", "decode"),
    ("with variables", "dyn://$(DYN_NAMESPACE).decode.generate", "decode"),
    ("two parts", "decode.generate", ""),
    ("four parts", "team.prod.decode.generate", ""),
    ("no component", "prod..generate", ""),
]


@cases(("endpoint", "component"), COMPONENTS)
def test_the_endpoint_names_the_component(endpoint, component):
    assert names(args=["--endpoint", endpoint]) == names(args=[f"--endpoint={endpoint}"]) == ServedNames(component=component)


def test_the_flag_of_the_component_is_not_read():
    assert names(args=["--component", "decode"]) == ServedNames()


LIMITS = [
    *(("watts", "450", 450), ("blanks around it", " 450\n", 450), ("a sign", "+450", 450), ("leading zeros", "0450", 450)),
    *(("nothing", "", None), ("zero", "0", None), ("below zero", "-1", None), ("a unit", "450W", None), ("a fraction", "4.5", None)),
    *(("an exponent", "4e2", None), ("digits of another script", "٤٥٠", None), ("an underscore", "4_50", None)),
    *(("the largest", str(2**63 - 1), 2**63 - 1), ("one more", str(2**63), None), ("very many digits", "9" * 10_000, None)),
]


@cases(("text", "watts"), LIMITS)
def test_the_annotation_limits_the_power(text, watts):
    assert names(**{labels.POWER_LIMIT: text}) == ServedNames(watts=watts)


def runtime(*args: str, **env: str) -> dict[str, Any]:
    variables = [{"name": name, "value": value} for name, value in env.items()]
    return {"name": "runtime", "args": list(args), "env": variables}


ENGINE = ["--model", "engine", "--endpoint", "a.engine.c"]
SIDECARS = [
    ("its flags name the model", runtime("--model", "mine"), ServedNames("mine")),
    ("else those of the engine", runtime(), ServedNames("engine")),
    ("its endpoint names the component", runtime("--endpoint", "a.mine.c"), ServedNames("engine", "mine")),
    ("its flag comes first", runtime("--endpoint", "a.mine.c", "--component", "flag"), ServedNames("engine", "flag")),
    ("its variable comes last", runtime(DYN_COMPONENT="worker"), ServedNames("engine", "worker")),
    ("a variable of variables is not known", runtime(DYN_COMPONENT="$(X)"), ServedNames("engine")),
    ("a variable without a value", {"name": "runtime", "env": [{"name": "DYN_COMPONENT", "valueFrom": {}}]}, ServedNames("engine")),
    ("another init container is not Dynamo", {"name": "other", "args": ["--model", "x"]}, ServedNames("engine", "engine")),
]


@cases(("init", "expected"), SIDECARS)
def test_dynamo_beside_an_engine_names_both(init, expected):
    assert names(args=ENGINE, init=init) == expected
