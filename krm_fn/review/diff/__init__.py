"""Compares two states of graphs: the objects that differ, the lines that make them differ, and the forecast of the change.

`rendered_state` renders each state, `comparison` compares their objects, `change_origins` finds the input fields that make the changes,
`krm_fn.review.forecast` forecasts them, and `diff_report` makes the report, which `text_diff`, `markdown_diff` and `json_diff` write.
"""
