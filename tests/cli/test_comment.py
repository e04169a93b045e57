"""`krm-fn comment` with a server that speaks the API of GitHub and of GitLab."""

from __future__ import annotations

import json

import pytest

from tests.cli import console
from tests.support.cases import cases
from tests.testbed import comment_server as forges

MARKER = "<!-- krm-fn diff -->\n"
VARIABLES = ("GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_TOKEN", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID")


@pytest.fixture
def forge(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with forges.running() as running:
        yield running


@pytest.fixture(params=["github", "gitlab"])
def job(request, forge, monkeypatch, tmp_path):
    """A job of a pull request in one of the CI systems."""
    variables = forge.github(tmp_path) if request.param == "github" else forge.gitlab()
    forge.is_job = request.param == "github"
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return forge


def comment(text="### What changes\n", *arguments):
    return console.run("comment", *arguments, "-", stdin=text)


def test_one_comment_is_written_and_then_rewritten(job):
    assert comment("first\n").out == "comment written: http://forge.example/100\n"
    assert comment("second\n").out == "comment rewritten: http://forge.example/100\n"
    assert job.bodies == [f"{MARKER}second\n"]


def test_a_text_that_did_not_change_is_not_written_again(job):
    comment("first\n")
    before = len(job.requests)
    assert comment("first\n").out.startswith("comment unchanged")
    assert all(each.startswith("GET ") for each in job.requests[before:])


def test_without_a_comment_nothing_is_written_if_only_an_existing_one_may_change(job):
    assert comment("no change\n", "--existing").out == "comment left out\n"
    assert job.bodies == []
    comment("a change\n")
    assert comment("no change\n", "--existing").out.startswith("comment rewritten")
    assert job.bodies == [f"{MARKER}no change\n"]


def test_the_comment_is_found_on_a_later_page(job):
    """The server gives fewer comments on a page than asked for."""
    login = "github-actions[bot]" if job.is_job else "robot"
    for number in range(2 * forges.MOST + 5):
        job.add(f"a comment {number}", login="ada", kind="User")
    mine = job.add(f"{MARKER}old", login=login)
    job.add("the last comment", login="ada", kind="User")
    assert comment("new").out.startswith("comment rewritten")
    assert mine["body"] == f"{MARKER}new"


def test_comments_of_several_names_stand_side_by_side(job):
    comment("prod", "--name", "prod")
    comment("staging", "--name", "staging")
    comment("prod again", "--name", "prod")
    assert job.bodies == ["<!-- krm-fn prod -->\nprod again", "<!-- krm-fn staging -->\nstaging"]


def test_a_comment_of_somebody_else_with_the_marker_is_left_alone(job):
    """Its author could change the text afterwards."""
    job.add(f"{MARKER}planted", login="mallory", kind="User")
    job.add("quoted:\n" + MARKER, login="github-actions[bot]" if job.is_job else "robot")
    comment("true")
    assert job.bodies == [f"{MARKER}planted", "quoted:\n" + MARKER, f"{MARKER}true"]


def test_line_ends_of_a_forge(job):
    """GitHub's web editor writes CR LF."""
    job.add(MARKER.replace("\n", "\r\n") + "old", login="github-actions[bot]" if job.is_job else "robot")
    assert comment("new").out.startswith("comment rewritten")


def test_a_token_of_a_person(forge, monkeypatch, tmp_path):
    for name, value in forge.github(tmp_path).items():
        monkeypatch.setenv(name, value)
    forge.is_job = False
    forge.add(f"{MARKER}of a bot")
    comment("first")
    comment("second")
    assert forge.bodies == [f"{MARKER}of a bot", f"{MARKER}second"]


REFUSED = [
    # reason, status, words of the message
    ("the job may not write", 403, "403 Resource not accessible by integration"),
    ("the token is wrong", 401, "401"),
    ("the server moved", 301, "301"),
    ("the server is down", 502, "502"),
]


@cases(("reason", "status", "message"), REFUSED)
def test_what_the_server_refuses(reason, status, message, job):
    job.status = status
    done = comment("text")
    assert (done.code, job.bodies) == (1, [])
    assert message in done.err
    assert "\x1b" not in done.err
    assert ("pull-requests: write" in done.err or "the scope `api`" in done.err) is (status in (401, 403))
    assert not [each for each in job.requests if "elsewhere" in each], "the token must not follow a redirect"


def test_a_server_that_is_away(job, monkeypatch):
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CI_API_V4_URL", "http://127.0.0.1:9")
    done = comment("text")
    assert done.code == 1
    assert "Connection refused" in done.err


WRONG = [
    # reason, variables to change, text, words of the message
    ("no token", {"GITHUB_TOKEN": "", "GITLAB_TOKEN": ""}, "a", "TOKEN is not set"),
    ("no job of a pull request", {"GITHUB_EVENT_PATH": "", "CI_MERGE_REQUEST_IID": ""}, "a", "run this in such a job"),
    ("no event", {"GITHUB_EVENT_PATH": "/nowhere", "CI_MERGE_REQUEST_IID": ""}, "a", "run this in such a job"),
    ("another protocol", {"GITHUB_API_URL": "file:///etc", "CI_API_V4_URL": "file:///etc"}, "a", "must begin with https://"),
    ("an empty text", {}, " \n", "the text is empty"),
    ("a text that is too long", {}, "a" * 1_000_000, "shorten the text"),
]


@cases(("reason", "variables", "text", "message"), WRONG)
def test_a_job_that_cannot_comment(reason, variables, text, message, job, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = comment(text)
    assert (done.code, job.bodies) == (1, [])
    assert message in done.err


def test_a_push_is_no_pull_request(forge, monkeypatch, tmp_path):
    for name, value in forge.github(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "event.json").write_text(json.dumps({"ref": "refs/heads/main"}))
    assert comment("text").code == 1
    assert forge.requests == []


@pytest.mark.parametrize("name", ["", "a b", "-->", "a" * 64, "a\nb"])
def test_a_name_cannot_end_the_marker(name):
    assert comment("text", "--name", name).code == 2


def test_a_file(job, tmp_path):
    (tmp_path / "comment.md").write_text("a\xff\u2192", encoding="utf-8")
    assert console.run("comment", tmp_path / "comment.md").code == 0
    assert job.bodies == [f"{MARKER}a\xff\u2192"]
