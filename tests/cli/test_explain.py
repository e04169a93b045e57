"""`krm-fn explain`: the page of a code, unknown codes, and wrong usage with codes."""

import pytest

from krm_fn.schemas import codes
from tests.cli import console


@pytest.mark.parametrize("asked", ["DYN021", "dyn021"])
def test_the_page_of_a_code_is_printed(asked):
    done = console.run("explain", asked)
    assert (done.code, done.out, done.err) == (0, codes.markdown("DYN021"), "")


@pytest.mark.parametrize("asked", ["DYN998", "21", ""])
def test_what_is_no_code_is_wrong_usage(asked):
    done = console.run("explain", asked)
    assert (done.code, done.out) == (2, "")
    assert f"{asked!r} is not the code of a finding, such as DYN021" in done.err


@pytest.mark.parametrize(("arguments", "words"), [(["DYN021", "-"], "without paths"), (["--unused", "DYN021"], "without options")])
def test_codes_stand_alone(arguments, words):
    done = console.run("explain", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
