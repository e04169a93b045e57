"""`krm-fn check --format`: output for other programs is valid in each format, for findings with any text."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from krm_fn.base import results
from krm_fn.base.results import Ref
from krm_fn.cli import finding_formats
from krm_fn.schemas import finding_pages
from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support.cases import cases

REF = Ref("nvidia.com/v1alpha1", "DynamoGraphDeployment", "chat", "team")
LABELLED = GRAPH.replace("name: chat", "name: other").replace(
    "      replicas: 2\n", "      extraPodMetadata: {labels: {nvidia.com/selector: mine}}\n"
)

SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "text": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}},
        },
        "run": {
            "type": "object",
            "required": ["tool", "results", "columnKind"],
            "additionalProperties": False,
            "properties": {
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "version", "rules"],
                            "properties": {"name": {"const": "krm-fn"}, "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}}},
                        }
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id", "name", "shortDescription", "helpUri", "help"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string", "pattern": "^DYN[0-9]{3}$"},
                "name": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
                "shortDescription": {"$ref": "#/$defs/text"},
                "help": {"$ref": "#/$defs/text"},
                "helpUri": {"type": "string", "pattern": "^https://"},
            },
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/text"},
                "locations": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/location"}},
            },
        },
        "location": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "additionalProperties": False,
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "required": ["uri"],
                            "properties": {"uri": {"type": "string", "minLength": 1}},
                        },
                        "region": {
                            "type": "object",
                            "required": ["startLine"],
                            "additionalProperties": False,
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                        },
                    },
                },
                "logicalLocations": {"type": "array", "items": {"type": "object", "required": ["fullyQualifiedName", "kind"]}},
            },
        },
    },
}
"""What of SARIF 2.1.0 we write, closed: the standard has more, and means the same by it."""

FINDINGS = [
    # reason, finding
    ("a field of a file", results.error("DYN021", "wants; write", REF, ("spec", "a"), file="a.yaml", line=3, column=5)),
    ("a line without a column", results.warning("DYN057", "is", REF, file="a.yaml", line=3)),
    ("a file", results.error("DYN011", "cannot be read", file="a.yaml")),
    ("nothing but words", results.error("DYN001", "there is nothing")),
    ("a resource of nobody knows where", results.info("DYN300", "replaces", REF, ("spec",))),
    ("stdin", results.error("DYN021", "wants", REF, ("spec", "a"), file="<stdin>", line=3, column=5)),
    (
        "letters of all kinds",
        results.error(
            "DYN023",
            'unknown "fields" & <tags>, 50%: ü\n\u2028\x1b[31m\x00\ufffe',
            REF,
            ("a:b,c%",),
            file="ä b/c,d:e%f.yaml",
            line=1,
            column=1,
        ),
    ),
    ("a file of an earlier state", results.warning("DYN073", "changes", file="main:a.yaml", line=2, column=1)),
    ("a file of another repository", results.warning("DYN057", "is", REF, file="https://example.com/x//a b.yaml?ref=v1")),
]
EVERY = finding_formats.Checked([], [finding for _, finding in FINDINGS])


def write(style, *found):
    return finding_formats.write(style, finding_formats.Checked([], found))


def test_every_format_can_be_asked_for():
    assert set(finding_formats.names()) == {"text", "oneline", "json", "sarif", "junit", "github"}
    help_text = console.run("check", "--help").out
    assert all(name in help_text for name in finding_formats.names())


@pytest.mark.parametrize("style", ["text", "oneline", "json", "sarif", "junit", "github"])
def test_the_exit_code_is_the_same_in_every_format(style, tmp_path):
    for name, text in (("sound", GRAPH), ("labelled", LABELLED), ("misspelt", MISSPELT)):
        (tmp_path / f"{name}.yaml").write_text(text)
    exits = [console.run("check", "--format", style, tmp_path / f"{name}.yaml").code for name in ("sound", "labelled", "misspelt")]
    assert exits == [0, 0, 1]


@pytest.mark.parametrize("style", ["text", "oneline", "json", "sarif", "junit", "github"])
def test_nothing_wrong_is_said_in_every_format(style):
    text = write(style)
    assert text == "" if style in ("text", "oneline", "github") else text.endswith("\n")


def test_sarif_has_the_shape_of_the_standard():
    log = json.loads(finding_formats.write("sarif", EVERY))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(write("sarif")))
    (run,) = log["runs"]
    assert len(run["results"]) == len(FINDINGS)


def test_sarif_names_its_rules():
    (run,) = json.loads(finding_formats.write("sarif", EVERY))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [finding.code for _, finding in FINDINGS]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"] == finding_pages.pages()[rule["id"]].title
        assert rule["helpUri"] == finding_pages.url(rule["id"])
        assert rule["name"] == finding_pages.name(rule["id"])
        assert rule["help"]["markdown"] == finding_pages.markdown(rule["id"])


def test_sarif_places_what_is_known():
    (run,) = json.loads(finding_formats.write("sarif", EVERY))["runs"]
    at = {reason: result.get("locations", [{}])[0] for (reason, _), result in zip(FINDINGS, run["results"], strict=True)}
    place = at["a field of a file"]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a.yaml"}, "region": {"startLine": 3, "startColumn": 5}}
    assert at["a field of a file"]["logicalLocations"] == [
        {"fullyQualifiedName": "team/DynamoGraphDeployment/chat/spec.a", "kind": "object"}
    ]
    assert at["a line without a column"]["physicalLocation"]["region"] == {"startLine": 3}
    assert "region" not in at["a file"]["physicalLocation"]
    assert at["nothing but words"] == {}
    assert [*at["stdin"]] == ["logicalLocations"]
    assert unquote(at["letters of all kinds"]["physicalLocation"]["artifactLocation"]["uri"]) == "ä b/c,d:e%f.yaml"


def test_sarif_levels_are_those_of_the_standard():
    (run,) = json.loads(finding_formats.write("sarif", EVERY))["runs"]
    said = {(finding.severity, result["level"]) for (_, finding), result in zip(FINDINGS, run["results"], strict=True)}
    assert said == {("error", "error"), ("warning", "warning"), ("info", "note")}


PATHS = [
    # reason, file relative to the working directory, uri
    ("below", "sub/a.yaml", "sub/a.yaml"),
    ("below, in full", "{here}/sub/a.yaml", "sub/a.yaml"),
    ("below, the long way", "sub/../sub/./a.yaml", "sub/a.yaml"),
    ("beside, in full", "{here}-other/a.yaml", "file://{here}-other/a.yaml"),
    ("above", "../a.yaml", "../a.yaml"),
    ("with blanks", "sub/a b.yaml", "sub/a%20b.yaml"),
    ("with a colon", "main:a.yaml", "main%3Aa.yaml"),
    ("an address", "https://example.com/x//a.yaml?ref=v1", "https://example.com/x//a.yaml?ref=v1"),
]


@cases(("reason", "file", "uri"), PATHS)
def test_files_are_named_as_seen_from_the_working_directory(reason, file, uri, tmp_path, monkeypatch):
    """GitHub finds them by that in the repository."""
    monkeypatch.chdir(tmp_path)
    finding = results.error("DYN011", "cannot be read", file=file.format(here=tmp_path))
    (result,) = json.loads(write("sarif", finding))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri.format(here=tmp_path)
    named = re.search("file=([^,:]*(?:%3A[^,:]*)*)", write("github", finding))
    assert named
    parts = urlsplit(uri.format(here=tmp_path))
    assert unquote(named[1]) == unquote(parts.path if parts.scheme == "file" else uri)


COMMAND = re.compile(r"::(error|warning|notice) (?:file=([^,:\n]*),)?(?:line=(\d+),)?(?:col=(\d+),)?title=([^,:\n]*)::([^\n]*)\n")


def test_github_commands_are_one_line_each_and_nothing_in_them_ends_them():
    text = finding_formats.write("github", EVERY)
    read = COMMAND.findall(text)
    assert "".join(found.group() for found in COMMAND.finditer(text)) == text
    assert len(read) == len(FINDINGS)
    for (_, finding), (level, file, line, column, title, message) in zip(FINDINGS, read, strict=True):
        assert level == {"error": "error", "warning": "warning", "info": "notice"}[finding.severity]
        assert unquote(title) == f"{finding.code} {finding_pages.pages()[finding.code].title}"
        assert unquote(file) == ("" if finding.file == "<stdin>" else finding.file)
        assert (int(line or 0), int(column or 0)) == ((finding.line, finding.column) if file else (0, 0))
        assert unquote(message).startswith(finding.code)


def test_a_github_command_reads_as_documented():
    finding = results.error("DYN021", "100%: wants\na number", REF, ("spec", "a"), file="a,b.yaml", line=3, column=5)
    assert write("github", finding) == (
        "::error file=a%2Cb.yaml,line=3,col=5,title=DYN021 Wrong type::"
        "DYN021 spec.a: 100%25: wants a number (DynamoGraphDeployment team/chat)\n"
    )


def test_github_escapes_what_moves_the_cursor_everywhere():
    """Names of files and resources may hold any characters, and a log shows them."""
    ref = REF._replace(name="cha\x1bt")
    out = write("github", results.error("DYN021", "is \x1b[31mred\x7f", ref, ("a\x9b",), file="\x1b]0;a\x07\nb.yaml", line=3))
    assert out.startswith("::error file=\\x1b]0;a\\x07%0Ab.yaml,line=3,title=")
    assert not [character for character in out[:-1] if not character.isprintable()]


def test_junit_has_a_case_for_every_resource(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a", GRAPH), ("b", LABELLED), ("c", MISSPELT.replace("name: chat", "name: third")), ("d", "a: [\n")):
        (tmp_path / f"{name}.yaml").write_text(text)
    done = console.run("check", "--format", "junit", "a.yaml", "b.yaml", "c.yaml", "d.yaml")
    assert done.code == 1
    root = ET.fromstring(done.out.encode())  # noqa: S314 - our own
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    cases = {(case.get("classname"), case.get("name")): [part.tag for part in case] for case in suite}
    assert cases == {
        ("a.yaml", "DynamoGraphDeployment team/chat"): [],
        ("b.yaml", "DynamoGraphDeployment team/other"): ["system-out"],
        ("c.yaml", "DynamoGraphDeployment team/third"): ["failure"],
        ("d.yaml", "file"): ["failure"],
    }
    for counted in (root, suite):
        assert (counted.get("tests"), counted.get("failures"), counted.get("errors")) == ("4", "2", "0")
    failure = next(part for case in suite for part in case if case.get("name") == "DynamoGraphDeployment team/third")
    assert (failure.get("type"), failure.get("message")) == ("DYN023", "1 error")
    assert failure.text
    assert failure.text.startswith("c.yaml:14:7: error DYN023 spec.services.Worker.replica: ")


def test_junit_tells_all_errors_of_a_resource_in_one_failure():
    both = [results.error("DYN021", message, REF, file="a.yaml") for message in ("is wrong", "is wrong too")]
    root = ET.fromstring(write("junit", *both, results.warning("DYN057", "is odd", REF, file="a.yaml")))  # noqa: S314 - our own
    (case,) = root.iter("testcase")
    failure, out = case
    assert failure.get("message") == "2 errors"
    assert (failure.text or "").count("\n") == 1
    assert "is odd" in (out.text or "")


def test_junit_holds_what_xml_can_hold():
    root = ET.fromstring(finding_formats.write("junit", EVERY))  # noqa: S314 - our own
    said = "".join(root.itertext())
    assert 'unknown "fields" & <tags>, 50%: ü' in said
    assert "\x1b" not in said


def test_junit_of_a_build_knows_its_resources_by_their_address(tmp_path):
    done = console.run("check", "--format", "junit", "-", stdin=console.run("render", "-", stdin=GRAPH).out)
    names = [case.get("name") for case in ET.fromstring(done.out).iter("testcase")]  # noqa: S314 - our own
    assert len(names) == len({*names}) == 8
    assert "Deployment team/chat-worker" in names


@pytest.mark.parametrize("style", ["json", "sarif", "junit", "github"])
def test_a_file_whose_name_is_no_text_breaks_no_format(style, tmp_path):
    """Names of files are bytes on Linux."""
    file = (str(tmp_path).encode() + b"/\xff.yaml").decode(errors="surrogateescape")
    with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123 - pathlib would do as well
        out.write(MISSPELT)
    done = console.program("check", "--format", style, str(tmp_path))
    assert done.code == 1
    assert "DYN023" in done.out
    assert "DYN019" not in done.err


@pytest.mark.parametrize("path", [".", "{here}"])
def test_sarif_names_a_file_whose_name_is_no_text_by_its_bytes(path, tmp_path):
    """RFC 3986: a byte that is not of ASCII is written with a percent sign. The log stays valid."""
    with open(os.fsencode(tmp_path) + b"/\xff %.yaml", "w", encoding="utf-8") as out:  # noqa: PTH123 - pathlib has no bytes
        out.write(MISSPELT)
    done = console.program("check", "--format", "sarif", path.format(here=tmp_path), folder=tmp_path)
    log = json.loads(done.out)
    jsonschema.Draft202012Validator(SARIF).validate(log)
    locations = [location["physicalLocation"] for result in log["runs"][0]["results"] for location in result["locations"]]
    assert {location["artifactLocation"]["uri"] for location in locations} == {"%FF%20%25.yaml"}


SHARED = [
    # reason, what differs in the second finding, lines in text
    (
        "graphs of two overlays share the line of a base",
        {"ref": REF._replace(namespace="other")},
        ["(DynamoGraphDeployment team/chat, other/chat)"],
    ),
    (
        "the path differs, because an overlay moves the component",
        {"path": ("spec", "b"), "ref": REF._replace(namespace="other")},
        ["other/chat)"],
    ),
    ("another line", {"line": 2, "ref": REF._replace(namespace="other")}, ["team/chat)", "other/chat)"]),
    ("another message", {"message": "other", "ref": REF._replace(namespace="other")}, ["team/chat)", "other/chat)"]),
    ("another severity", {"severity": "warning", "ref": REF._replace(namespace="other")}, ["team/chat)", "other/chat)"]),
]


@cases(("changes", "ends"), SHARED)
def test_a_finding_of_several_resources_at_one_line_is_one_entry_of_the_text(changes, ends):
    """JSON keeps each finding, because a program counts them."""
    first = results.error("DYN023", "unknown field", REF, ("spec", "a"), file="base.yaml", line=1)
    both = finding_formats.Checked([], [first, first._replace(**changes)])
    lines = finding_formats.write("text", both).splitlines()
    assert len(lines) == len(ends)
    assert all(line.endswith(end) for line, end in zip(lines, ends, strict=True))
    assert len(json.loads(finding_formats.write("json", both))["findings"]) == 2
