"""Label selectors: the rules of an API server about them, and the labels that they select.

The selection follows LabelSelectorAsSelector of apimachinery `pkg/apis/meta/v1/helpers.go`, and `pkg/labels/selector.go`.
"""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Fields = Mapping[str, Any]


_WITH_VALUES, _WITHOUT_VALUES = ("In", "NotIn"), ("Exists", "DoesNotExist")


def validate(selector: Fields | None) -> Iterator[Rejection]:
    """Yields the rejections of a label selector (ValidateLabelSelector)."""
    if selector is None:
        return
    for rejection in name_formats.validate_labels(selector.get("matchLabels") or {}):
        yield rejection.below("matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        for rejection in validate_requirement(expression):
            yield rejection.below("matchExpressions", index)
        if expression.get("operator") not in (*_WITH_VALUES, *_WITHOUT_VALUES):
            message = f"{expression.get('operator')!r} is not an operator of a label selector; write In, NotIn, Exists or DoesNotExist"
            yield Rejection(codes.INVALID_SELECTOR_VALUES, ("matchExpressions", index, "operator"), message)


def validate_requirement(expression: Fields, *, checks_values: bool = True) -> Iterator[Rejection]:
    """Yields the rejections that a requirement of a label selector and of a node selector share (ValidateLabelSelectorRequirement)."""
    operator, values = expression.get("operator"), expression.get("values") or ()
    if operator in _WITH_VALUES and not values:
        yield Rejection(
            codes.INVALID_SELECTOR_VALUES, ("values",), f"the operator {operator} needs values; write at least one, or the operator Exists"
        )
    if operator in _WITHOUT_VALUES and values:
        yield Rejection(
            codes.INVALID_SELECTOR_VALUES, ("values",), f"the operator {operator} cannot have values; remove them, or write the operator In"
        )
    if not name_formats.is_qualified(expression.get("key") or ""):
        yield Rejection(codes.INVALID_METADATA_KEY, ("key",), name_formats.BAD_KEY)
    for index, value in enumerate(values if checks_values else ()):
        if not name_formats.is_label_value(value):
            yield Rejection(codes.INVALID_LABEL_VALUE, ("values", index), name_formats.bad_value(value))


def validate_label_keys(holder: Fields, selector: Fields | None) -> Iterator[Rejection]:
    """Yields the rejections of `matchLabelKeys` and `mismatchLabelKeys` beside a label selector.

    A key of `matchLabels` may be repeated in `matchLabelKeys` here, because only a pod, and no template, gets it as an expression.
    Follows ValidateMatchLabelKeysAndMismatchLabelKeys.
    """
    match, mismatch = holder.get("matchLabelKeys") or (), holder.get("mismatchLabelKeys") or ()
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            yield Rejection(
                codes.FIELDS_NOT_ALLOWED_TOGETHER, (field,), f"{field} needs a labelSelector beside it; add one, or remove the keys"
            )
            continue
        for index, key in enumerate(keys):
            if not name_formats.is_qualified(key):
                yield Rejection(codes.INVALID_METADATA_KEY, (field, index), name_formats.BAD_KEY)
    keys_before = {*((selector or {}).get("matchLabels") or ())}
    for expression in (selector or {}).get("matchExpressions") or ():
        key = expression.get("key")
        if key in match and key in keys_before:
            yield Rejection(
                codes.FIELDS_NOT_ALLOWED_TOGETHER,
                ("matchLabelKeys",),
                f"the label selector has the key {key} too; remove it from one of the two",
            )
        keys_before.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            yield Rejection(
                codes.FIELDS_NOT_ALLOWED_TOGETHER,
                ("matchLabelKeys", index),
                f"the key {key} is in mismatchLabelKeys too; remove it from one of the two",
            )


def matches(selector: Fields, labels: Fields) -> bool:
    """Returns true if a selector selects the labels. An empty selector selects all labels."""
    exact = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return exact and all(_fulfils(expression, labels) for expression in selector.get("matchExpressions") or ())


def _fulfils(expression: Fields, labels: Fields) -> bool:
    key, values = expression.get("key") or "", expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return True  # another rule reports an unknown operator
