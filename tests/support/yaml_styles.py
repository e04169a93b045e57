"""YAML texts of values in random styles, with random comments: block and flow, comments at the end of lines and on lines of their own."""

from __future__ import annotations

import json

from hypothesis import strategies as st


def text(value, draw, pad=""):
    """A value as lines of YAML in styles and with comments that are drawn."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 3)) == 0:
        comment = draw(st.sampled_from(["", "", " # end", f"\n{pad}# own"]))
        return f" {json.dumps(value, ensure_ascii=False)}{comment}\n"
    heads = [f"{json.dumps(key, ensure_ascii=False)}:" for key in value] if isinstance(value, dict) else ["-"] * len(value)
    inner = value.values() if isinstance(value, dict) else value
    return "\n" * bool(pad) + "".join(f"{pad}{head}{text(entry, draw, pad + '  ')}" for head, entry in zip(heads, inner, strict=True))
