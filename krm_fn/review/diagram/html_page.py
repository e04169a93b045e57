"""A page in one file that shows a drawn diagram. It loads nothing and runs no script."""

from __future__ import annotations

from krm_fn.review.diagram import COLOURS, WORDS

_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Dynamo graphs</title>
<style>
body { margin: 1rem; font-family: Helvetica, Arial, sans-serif }
svg { max-width: 100%; height: auto }
span { padding: .2rem .5rem; margin-right: .5rem; border: 2px solid }
</style>
</head>
<body>
"""


def html(svg: str, *, compared: bool) -> str:
    """The page with a diagram that graphviz drew. `compared` adds a legend of the colours."""
    legend = "".join(
        f'<span style="background: {area}; border-color: {border}">{WORDS[state].lower()}</span>'
        for state, (area, border) in COLOURS.items()
    )
    return f"{_HEAD}{f'<p>{legend}</p>' if compared else ''}\n{svg[svg.index('<svg') :].rstrip()}\n</body>\n</html>\n"
