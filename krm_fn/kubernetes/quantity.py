"""Kubernetes quantities such as `1500m`, `2Gi` and `1e3`, printed as an API server prints them, and the names of GPUs among resources.

Follows apimachinery `pkg/api/resource`, ParseQuantity and CanonicalizeBytes; for names of GPUs, the operator's `internal/dra`
(isGPUResourceName, looksLikeGPUIdentifier).
"""

from __future__ import annotations

import re
from functools import lru_cache

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHAPE = re.compile(r"([+-]?)(?=\.?[0-9])0*+([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: name for name, exponent in _DECIMAL.items()}
_BINARY_NAMES = {exponent: name for name, exponent in _BINARY.items()}
_DIGITS = 18  # the limit of Kubernetes' 64-bit fast path
_LONGEST = 256  # characters; parsing longer numbers costs time
_CPUS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*v?(?:cpu|core)s?", re.IGNORECASE | re.ASCII)
_LIKE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGTPkmgtp])\s?([Ii]?)[Bb]?")
_EXPONENT = re.compile(r"[eE][-+]?[0-9]{1,3}")
_SHOWN = 40
UNIT = 10**9  # values count in billionths, the smallest amount
_LEAST_MEMORY = 2**20 * UNIT
_AMOUNT = re.compile(r"[1-9][0-9]{0,8}(?:\.[0-9]{1,3})?(?=[kKum]?i?\Z)")
_MOST_GIBIBYTES = 4096
"""An amount of memory without a unit from which on its author counts in mebibytes."""
_LARGEST = (2**63 - 1) * UNIT


class Quantity(NamedTuple):
    """A parsed quantity: its value in billionths and its canonical text."""

    value: int
    text: str


@lru_cache(maxsize=4096, typed=True)  # a graph writes few amounts, and many times
def parse(written: str | float) -> Quantity:
    """Parses a quantity as written in YAML, where it may be a number.

    Raises ValueError if it is not a quantity.

    >>> parse("1000m").text, parse("0.5").text, parse("1024Mi").text, parse(2).text
    ('1', '500m', '1Gi', '2')

    Rule pod.quantities: see `krm_fn.kubernetes.quantity`.
    """
    source = f"{written}".strip()
    match = _SHAPE.fullmatch(source) if len(source) <= _LONGEST else None
    if not match:
        raise ValueError(f"{source[:_SHOWN]!r} is not a quantity")
    sign, whole, fraction, suffix = match[1], match[2] or "0", match[3] or "", match[4]
    base, exponent, scientific = _suffix(suffix, source)
    value = _billionths(whole, fraction, base, exponent) * (-1 if sign == "-" else 1)
    if _is_canonical(whole, fraction, base, exponent):
        return Quantity(value, source)
    return Quantity(value, _text(value, binary=base == 2, scientific=scientific))


def meant(text: str) -> str:
    """Returns the quantity that a text means: with blanks, `B` for bytes, another case of its unit or a word for CPUs; empty without one.

    >>> [meant(text) for text in ("64GiB", "500 Gi", "32GB", "16gi", "8 cores", "2vCPU", "16", "many")]
    ['64Gi', '500Gi', '32G', '16Gi', '8', '2', '', '']
    """
    if len(text) <= _LONGEST and (cpus := _CPUS.fullmatch(text.strip())):
        return cpus[1]
    match = _LIKE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if not match:
        return ""
    unit = match[2].upper()
    return f"{match[1]}{unit}{'i' if match[3] else ''}"


def intended_memory(written: str | float | None) -> str:
    """Returns the amount of memory that an author means with less than 1 MiB; empty for 0 and for a larger amount.

    No container starts with less. The author forgot the unit, or wrote `m`, which is a thousandth of a byte.

    >>> [intended_memory(written) for written in (32, "128m", "16384", "8.5", "0", "64Mi", "many")]
    ['32Gi', '128Gi', '16384Mi', '8.5Gi', '', '', '']
    """
    if not 0 < value(written) < _LEAST_MEMORY:
        return ""
    match = _AMOUNT.match(f"{written}")
    return f"{match[0]}{'Gi' if float(match[0]) < _MOST_GIBIBYTES else 'Mi'}" if match else ""


def canonical(written: str | float) -> str:
    """Returns the text that an API server prints for a quantity.

    A text that is not a quantity is returned unchanged; the API server refuses it.

    Rule pod.quantities: Quantities in a pod are written as an API server prints them, for example `20Gi` for `20480Mi`. (krm-fn)
    """
    try:
        return parse(written).text
    except ValueError:
        return f"{written}"


def value(written: str | float | None) -> int:
    """Returns the amount of a quantity in billionths. None and a text that is not a quantity count as zero.

    Rule gpu-memory.amount: The amount of devices in a quantity is a whole number. (krm-fn)
    """
    try:
        return 0 if written is None else parse(written).value
    except ValueError:
        return 0


def values(amounts: Mapping[str, str | float]) -> dict[str, int]:
    """Returns the values of named quantities in billionths, as `value` does for one."""
    return {name: value(amount) for name, amount in amounts.items()}


def gpu_resource(names: Iterable[str]) -> str | None:
    """Returns the first name of a resource that means GPUs, in alphabetical order; None if there is none."""
    return min((name for name in names if is_gpu_resource(name)), default=None)


@lru_cache(maxsize=1024)  # all graphs use the same few names
def is_gpu_resource(name: str) -> bool:
    """Returns true if a resource name means GPUs, or parts of a GPU.

    >>> is_gpu_resource("nvidia.com/gpu"), is_gpu_resource("nvidia.com/mig-3g.20gb"), is_gpu_resource("cpu")
    (True, True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith("gpu.") or text.endswith("/gpu") or "/mig-" in text


def is_gpu_device(name: str) -> bool:
    """Returns true if the name of a DeviceClass or of a driver means GPUs.

    >>> is_gpu_device("gpu.nvidia.com"), is_gpu_device("compute-domain-default-channel.nvidia.com")
    (True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith(("gpu.", "gpu/")) or text.endswith("/gpu") or "/gpu." in text or "/gpu-" in text


def _suffix(suffix: str, source: str) -> tuple[int, int, bool]:
    """Returns base and exponent, and true for scientific notation."""
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], False
    if suffix in _BINARY:
        return 2, _BINARY[suffix], False
    if _EXPONENT.fullmatch(suffix):
        return 10, int(suffix[1:]), True
    raise ValueError(f"{source[:_SHOWN]!r} has no suffix that Kubernetes knows")


def _billionths(whole: str, fraction: str, base: int, exponent: int) -> int:
    """Returns the value, rounded up to a whole number of billionths. Binary quantities are capped at 64 bits (ParseQuantity)."""
    number: int = int(whole + fraction) * (2**exponent if base == 2 else 1)
    shift = 9 - len(fraction) + (exponent if base == 10 else 0)
    value: int = number * 10**shift if shift >= 0 else -(-number // 10**-shift)
    return min(value, _LARGEST) if base == 2 else value


def _is_canonical(whole: str, fraction: str, base: int, exponent: int) -> bool:
    """Returns true if Kubernetes' fast path keeps the text unchanged (ParseQuantity)."""
    digits = whole + fraction
    if base == 2:
        fits = not fraction and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0
        return fits and bool(int(digits) & 0x07)
    scale = exponent - len(fraction)
    return len(digits) <= _DIGITS and scale >= -9 and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _text(value: int, *, binary: bool, scientific: bool) -> str:
    if not value:
        return "0"
    if binary and abs(value) >= 1024 * UNIT and value % UNIT == 0:
        number, exponent = value // UNIT, 0
        while number % 1024 == 0:
            number, exponent = number // 1024, exponent + 10
        return f"{number}{_BINARY_NAMES.get(exponent, '')}"
    return _decimal(value, scientific=scientific)


def _decimal(value: int, *, scientific: bool) -> str:
    """Returns the shortest whole number with an exponent that is a multiple of three, as text."""
    number, exponent = value, -9
    while number % 10 == 0:
        number, exponent = number // 10, exponent + 1
    shift = exponent % 3
    number, exponent = number * 10**shift, exponent - shift
    if scientific or exponent not in _DECIMAL_NAMES:
        return f"{number}e{exponent}" if exponent else f"{number}"
    return f"{number}{_DECIMAL_NAMES[exponent]}"
