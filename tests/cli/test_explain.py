"""`krm-fn explain`: the page of a code, unknown codes, and wrong usage with codes."""

from pathlib import Path

import pytest

from krm_fn.schemas import finding_pages
from tests.cli import console


@pytest.mark.parametrize("asked", ["DYN021", "dyn021", "wrong-type", "WRONG_TYPE"])
def test_the_page_of_a_code_is_printed(asked):
    done = console.run("explain", asked)
    assert (done.code, done.out, done.err) == (0, finding_pages.markdown("DYN021"), "")


def test_a_file_with_the_name_of_a_finding_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong-type").write_text("replicas: 2\n")
    done = console.run("explain", "wrong-type")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("wrong-type:1:1: error DYN015 ")


@pytest.mark.parametrize("asked", ["DYN998", "wrong-typ", "21", ""])
def test_what_is_no_code_is_wrong_usage(asked):
    done = console.run("explain", asked)
    assert (done.code, done.out) == (2, "")
    assert f"{asked!r} is not the code of a finding, such as DYN021" in done.err


@pytest.mark.parametrize(("arguments", "words"), [(["DYN021", "-"], "without paths"), (["--unused", "DYN021"], "without options")])
def test_codes_stand_alone(arguments, words):
    done = console.run("explain", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
