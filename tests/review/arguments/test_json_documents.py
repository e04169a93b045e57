"""JSON documents in command lines: quotes that a shell removes, fields and values of each release, and where nothing is said."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field, Strict, TypeAdapter, ValidationError

from krm_fn.review.arguments import config_tables, config_types, flag_tables, json_mistakes
from tests.review.arguments.test_argument_findings import codes, findings, worker
from tests.support import growth
from tests.support.cases import cases
from tests.support.flag_tables import TABLES

TRANSFER = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
MODEL = "--model acme/tiny"


def line(flags, program="vllm", **fields):
    """A worker whose command is a line for a shell."""
    model = "--model" if program == "vllm" else "--model-path"
    return worker([f"exec python3 -m dynamo.{program} {model} acme/tiny {flags}"], command=("/bin/bash", "-c"), **fields)


RIGHT = [
    ("single quotes", f"--kv-transfer-config '{TRANSFER}'"),
    ("double quotes with backslashes", '--kv-transfer-config "{\\"kv_connector\\":\\"NixlConnector\\",\\"kv_role\\":\\"kv_both\\"}"'),
    ("backslashes without quotes, and one field", '--kv-transfer-config {\\"kv_role\\":\\"kv_both\\"}'),
    ("an object without quotes in it", "--kv-transfer-config {}"),
    ("a variable of the shell", """--kv-transfer-config "$TRANSFER" """),
    ("a variable within double quotes", '--kv-transfer-config "{\\"kv_role\\":\\"$ROLE\\"}"'),
    ("a number with a unit", """--kv-transfer-config '{"kv_connector":"a","kv_role":"kv_both","kv_connector_extra_config":{"b":80m}}'"""),
    ("a number as a text", """--kv-events-config '{"publisher":"zmq","buffer_steps":"100"}'"""),
    (
        "any field of a connector",
        """--kv-transfer-config '{"kv_connector":"a","kv_role":"kv_both","kv_connector_extra_config":{"x":[1]}}'""",
    ),
    ("a name of an enumeration in small letters", """--attention-config '{"backend":"flash_attn"}'"""),
    ("a null", """--kv-transfer-config '{"kv_connector":null,"kv_rank":null}'"""),
    ("fields of a model", """--hf-overrides '{"rope_parameters":{"rope_type":"yarn"}}' --override-generation-config '{"temperature":1}'"""),
    ("a text for a flag that also takes an object", "--additional-config word"),
    ("a document within a document", """--compilation-config '{"mode":3,"pass_config":{"eliminate_noops":true}}'"""),
    ("dashes in the fields of a method", """--speculative-config '{"method":"ngram","num-speculative-tokens":3,"prompt-lookup-max":4}'"""),
    ("dotted flags", "--kv-transfer-config.kv_connector NixlConnector --kv-transfer-config.kv_role kv_both"),
]


@cases("flags", RIGHT)
def test_a_right_document_has_no_finding(flags):
    assert findings(line(flags, version="1.6.1"), behaviour="v1.6") == []


def test_the_words_of_a_container_need_no_quotes():
    """No shell reads the items of `args`."""
    assert findings(worker(["--model", "acme/tiny", "--kv-transfer-config", TRANSFER])) == []


def test_quotes_that_no_shell_removes_are_named():
    """An item of `args` with quotes is no JSON, although its document is right."""
    found = findings(worker(["--model", "acme/tiny", "--kv-transfer-config", f"'{TRANSFER}'"]))
    assert [finding.code for finding in found] == ["DYN606"]
    assert found[0].message.endswith("because no shell reads this word and removes the single quotes; remove them")


def test_the_fields_of_a_torn_document_are_judged_too():
    """The finding about the quotes is the first one; the words of the document are no values of their own."""
    assert codes(line('--kv-transfer-config {"kv_connector": "NixlConnector", "kv_role": "both"}')) == ["DYN629", "DYN604"]


def test_each_mistake_of_a_document_is_named():
    """All mistakes of one document, with their paths."""
    document = {"pass_config": {"eliminate_noop": True, "enable_sp": "si"}, "cache_dir": 1, "cudagraph_modes": "FULL"}
    found = findings(worker(["--model", "acme/tiny", "--compilation-config", json.dumps(document)]))
    assert sorted((finding.code, finding.message.partition(" ")[0]) for finding in found) == [
        ("DYN605", "cache_dir"),
        ("DYN605", "pass_config.enable_sp"),
        ("DYN630", "`cudagraph_modes`"),
        ("DYN630", "`eliminate_noop`"),
    ]


SEVERITIES = [
    ("refused by vLLM 0.28", "1.5.1", ["error"]),
    ("without effect in vLLM 0.14", "0.9.0", ["warning"]),
    ("a build of somebody", "1.5.1-patched", ["warning"]),
    ("an image without a version", "latest", []),
]


@cases(("version", "severities"), SEVERITIES)
def test_an_unknown_field_is_as_severe_as_its_reader(version, severities):
    """The classes of vLLM 0.14 ignore unknown fields, and later ones forbid them. So no version, no finding in common."""
    graph = worker(f'{MODEL} --kv-events-config {{"publisher":"zmq","topics":"x"}}', version=version)
    assert [finding.severity for finding in findings(graph, behaviour="v1.5")] == severities


def test_an_image_without_a_version_has_a_warning_for_a_value_that_no_release_has():
    graph = worker(f'{MODEL} --kv-events-config {{"publisher":"kafka"}}', version="latest")
    assert [(finding.code, finding.severity) for finding in findings(graph, behaviour="v1.5")] == [("DYN604", "warning")]


@pytest.mark.parametrize("text", ['{"api_key": "abc"', '{"kv_role": sk-1234567890abcdef}', '{"token": "abc" "b": 1}'])
def test_no_message_has_a_secret_of_a_document(text):
    (found,) = findings(worker(["--model", "acme/tiny", "--kv-transfer-config", text]))
    assert found.code == "DYN606"
    assert not any(secret in found.message for secret in ("abc", "sk-1234567890abcdef"))


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize("part", ['{"a":"b"} ', '--kv-transfer-config {"a": ', '"kv_role": "both", ', "[", '--kv-events-config={"a"} '])
def test_long_documents_take_linear_time(part):
    def check(size):
        text = '--kv-transfer-config {"kv_connector": ' + part * (size // len(part))
        assert len(findings(line(text))) <= 20

    assert growth.is_linear(check, 8_000)


MISTAKES = [
    ("a missing bracket", '{"a": {"b": 1}', "a `}` is missing at its end"),
    ("two missing brackets", '{"a": [1', "a `]}` is missing at its end"),
    ("a missing bracket of a list", '{"a": [1}', "before `}`, a `]` is missing"),
    ("a missing bracket at the beginning", '"a": 1}', "a `{` is missing at its beginning"),
    ("an open quote", '{"a": "b}', 'the text `"b` has no double quote at its end'),
    ("an open quote in the middle", '{"a": "b, "c": 1}', 'the text before `, "c": 1}` has no double quote at its end'),
    ("an open quote before a comma", '{"a": "b,"c": 1}', 'the text before `,"c": 1}` has no double quote at its end'),
    ("a comma too much", '{"a": 1,}', "a comma stands before `}`"),
    ("a missing comma", '{"a": 1 "b": 2}', 'before `"b": 2}`, a comma is missing'),
    ("an equals sign", '{"a"= 1}', "`=` stands before `1}`"),
    ("a missing colon", '{"a" 1}', "before `1}`, a colon is missing"),
    ("a constant of Python", '{"a": False}', "`False` is `false` in JSON"),
    ("single quotes", "{'a': 1}", "at `'a': 1}`, a name has single quotes"),
    ("no quotes", "{a: 1}", "at `a: 1}`, a name has no double quotes"),
    ("a value without quotes", '{"a": b}', "at `b}`, a value has no double quotes"),
    ("more behind the end", '{"a": 1}}', "`}` stands behind its end"),
    ("an empty text", "", "it ends too early"),
    ("no mistake", '{"a": 1}', ""),
    ("a deep text", "[" * 100_000, ""),
]


@cases(("text", "expected"), MISTAKES)
def test_the_position_of_a_mistake_is_in_words(text, expected):
    mistake = json_mistakes.first(text)
    assert (mistake.problem if mistake else "") == expected


VALUES = [
    ("several kinds", ["int", "null"], [None, 3], ["x", [1]]),
    ("choices", {"choices": ["a_b", 2]}, ["a_b", 2, 2.0], ["a-b", "A_B", 3, "2", None]),
    ("folded choices", {"choices": ["a_b"], "folded": True}, ["a_b", "A-B"], ["ab", 1]),
    ("a list", {"list": "int"}, [[], [1, "2"]], [1, ["a"], {}]),
    ("a mapping", {"map": {"list": "str"}}, [{}, {"a": ["b"]}], [[], {"a": "b"}, {"a": [1]}]),
    ("any value", "", [None, 1, "a", {}], []),
]


@cases(("written", "right", "wrong"), VALUES)
def test_a_type_accepts_its_values(written, right, wrong):
    expected = config_types.parse(written)
    assert [value for value in right if not expected.accepts(value)] == []
    assert [value for value in wrong if expected.accepts(value)] == []


KINDS: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "strict_bool": Annotated[bool, Strict()],
    "strict_int": Annotated[int, Strict()],
    "strict_float": Annotated[float, Strict()],
    "str": str,
    "null": None,
    "natural_int": Annotated[int, Field(ge=0)],
    "positive_int": Annotated[int, Field(gt=0)],
    "natural_float": Annotated[float, Field(ge=0)],
    "positive_float": Annotated[float, Field(gt=0)],
}
TRIED: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 7, -1, 0.5, 1.0, 2.0, -0.5, 1e3, [], [1], {}, {"a": 1}, "", "word", "inf", "nan", "0x1", "\u0663"),
    *("1", "-1", "+1", "01", " 1 ", "1 0", "1_0", "1__0", "_1", "0.5", "1.0", "1.", ".5", "1e3", "0", "2", "true", "yes", "ON", "N", "si"),
)


@pytest.mark.parametrize("kind", config_types.kinds())
def test_a_kind_is_that_of_pydantic(kind):
    """Both read the same values."""
    adapter: TypeAdapter[Any] = TypeAdapter(KINDS[kind])
    expected = config_types.parse(kind)
    assert [value for value in TRIED if expected.accepts(value)] == [value for value in TRIED if _is_read(adapter, value)]


def _is_read(adapter, value):
    try:
        adapter.validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("program", TABLES)
def test_each_document_of_a_flag_is_in_the_table_of_its_releases(program):
    """Each flag with a document has its fields in each release, with types that this code knows."""
    content = TABLES[program]
    for release in content["releases"]:
        table = flag_tables.of_release(content, release)
        names = {flag.config for flag in table.flags.values() if flag.config}
        while names:
            name = names.pop()
            config = config_tables.get(program, release, name)
            assert config, (release, name)
            assert config.fields, (release, name)
            for field in config.fields.values():
                assert set(field.type.kinds) <= set(config_types.kinds())
                names |= {field.type.config} - {""}
            assert set(config.needs) <= set(config.fields)
