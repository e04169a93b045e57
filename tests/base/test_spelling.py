"""A misspelt name leads to the name that it means, and another name to none."""

from __future__ import annotations

from krm_fn.base import spelling
from tests.support.cases import cases

MISSPELT = [
    ("a wrong letter", "--max-num-seqz", "--max-num-seqs"),
    ("two wrong letters", "--tensor-paralell-size", "--tensor-parallel-size"),
    ("swapped letters", "--bolck-size", "--block-size"),
    ("a missing plural", "--max-num-seq-", "--max-num-seqs"),
    ("an abbreviated word", "--gpu-mem-utilization", "--gpu-memory-utilization"),
    ("a longer word", "--max-model-length", "--max-model-len"),
    ("a longer word beside swapped letters", "--max-modle-length", "--max-model-len"),
    ("a shorter word beside a missing letter", "--gpu-mem-utlization", "--gpu-memory-utilization"),
    ("another word beside a slip", "--gpu-meters-utlization", ""),
    ("another form", "--enable-prefix-cache", "--enable-prefix-caching"),
    ("another order", "--parallel-tensor-size", "--tensor-parallel-size"),
    ("capitals", "--Block-Size", "--block-size"),
    ("another word with the same beginning", "--max-model-seqs", ""),
    ("many equal letters", "--guided-decoding-backend", ""),
    ("equal words only", "--max-batch-size", ""),
    ("a short name", "--xx", ""),
    ("another letter", "-n", ""),
    ("two equally near names", "--abcdefgz", ""),
]
OBJECTS = [
    ("letters that name a zone", "cache-eu", "cache-us", ""),
    ("a single letter", "cache-a", "cache-b", ""),
    ("another short word", "team-chat", "team-chap", ""),
    ("another letter in a long word", "model-cashe", "model-cache", "model-cache"),
    ("a missing separator", "hftoken", "hf-token", "hf-token"),
    ("a short name", "abc", "abcd", ""),
    ("another case", "hf_token", "HF_TOKEN", "HF_TOKEN"),
]


@cases(("text", "expected"), MISSPELT)
def test_only_a_typing_mistake_has_a_suggestion(text, expected):
    names = [
        *("--max-num-seqs", "--tensor-parallel-size", "--block-size", "--gpu-memory-utilization", "--max-model-len"),
        *("--enable-prefix-caching", "--kda-decode-backend", "--ubatch-size", "--tp", "-h", "--abcdefgx", "--abcdefgy"),
    ]
    assert spelling.nearest(text, names) == expected


@cases(("name", "known", "expected"), OBJECTS)
def test_short_parts_of_names_of_objects_differ_on_purpose(name, known, expected):
    assert spelling.nearest_name(name, [known]) == expected
