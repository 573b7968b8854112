"""Readers of many numbers at once, with the same results as Python's ``float`` and ``int``.

Digits are read eight at a time.  The digits of a decimal number are read as a whole number, which
is divided by a power of ten.  The remainder of the division then corrects the quotient.  ``float``
reads a number if the correction does not decide how the last bit is rounded, or if the number has
more than 19 digits.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Bytes, Floats, Ints, Keys, Mask
from ir_std.reading.ids import MARGIN, WORD, Ids, words_at

DECIMAL = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
"""Pattern of numbers that C's strtod reads; Python also reads other forms, such as 1_000."""
LOWEST, _TOO_LOW = b"-inf", b"-1e999"
"""The only infinite score that is allowed, and a decimal number that Python reads as this score."""
_WHOLE = rb"([+-]?)0*(\d{1,19})"

_BYTES = np.uint64(0x0101010101010101)
_HIGH_BITS = _BYTES * np.uint64(0x80)
_ZEROS = _BYTES * np.uint64(ord("0"))
_POINTS = _BYTES * np.uint64(ord("."))
_ES = _BYTES * np.uint64(ord("e"))
_SMALL = _BYTES * np.uint64(ord("e") - ord("E"))
_ABOVE_NINE = _BYTES * np.uint64(0x80 - 10)
_COUNTING = np.uint64(0x0001020304050607)
_JOINING = np.array(
    [
        (10 * 2**8 + 1, 8, 0x00FF00FF00FF00FF),
        (100 * 2**16 + 1, 16, 0x0000FFFF0000FFFF),
        (10000 * 2**32 + 1, 32, 0x00000000FFFFFFFF),
    ],
    np.uint64,
)
"""Factors, shifts and masks that combine digits into numbers of two, four and eight digits."""
_LAST = np.array([(1 << 64) - (1 << 8 * (WORD - n)) for n in range(WORD + 1)], np.uint64)
"""Masks of the last n bytes of a word."""
_POWERS = np.array([float(f"1e{n}") for n in range(MARGIN)])
_POWERS_REST = np.array([float(10**n - int(power)) for n, power in enumerate(_POWERS.tolist())])
"""Powers of ten as 64-bit floats, and their rounding errors."""
_EXACT = int(np.count_nonzero(_POWERS_REST == 0))
"""Number of powers of ten, starting at 1, that have no rounding error."""
_WHOLE_POWERS = np.array([10**n for n in range(20)], np.uint64)
_MOST = len(_WHOLE_POWERS) - 1
_TOO_LARGE = 10.0**_MOST
"""Number of digits that always fit into 64 bits, and the smallest number with more digits."""


def integer(text: bytes) -> int | None:
    """Parse a whole number; return None if the text is not one or has more than 64 bits."""
    match = re.fullmatch(_WHOLE, text)
    value = int(b"".join(match.groups())) if match else 2**63
    return value if -(2**63) <= value < 2**63 else None


class NotANumber(ValueError):
    """Error for a token that is not a number, or not a number that a file may hold."""


def floats(codes: Bytes, starts: Ints, ends: Ints) -> Floats:
    """Read tokens as 64-bit floats.

    Parameters
    ----------
    codes : ndarray of uint8
        Bytes, with :data:`MARGIN` bytes before the first token and :data:`WORD` after the last.
    starts, ends : ndarray of int, shape (n,)

    Raises
    ------
    NotANumber
        If a token is not a decimal number.  A number that is too large becomes infinite.
    """
    values, _, certain = decimal_numbers(codes, starts, ends)
    rows = np.flatnonzero(~certain)
    values[rows] = _one_by_one(Ids.between(codes, starts[rows], ends[rows]).bytes())
    return values


def decimal_numbers(codes: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Ints, Mask]:
    """Read tokens as 64-bit floats, and count their decimals.

    The parameters are those of :func:`floats`.

    Returns
    -------
    values : ndarray of float, shape (n,)
    decimals : ndarray of int, shape (n,)
        Number of decimals; an exponent shifts the decimal point.
    certain : ndarray of bool, shape (n,)
        True if value and decimals are exact; False if the token is not a number, or if ``float``
        must read the number.
    """
    read = _decimals(codes, starts, ends)
    others = np.flatnonzero(~read.certain)
    if others.size:
        scaled = _scaled(codes, starts[others], ends[others])
        for column, part in zip(read, scaled, strict=True):
            column[others] = part
    decimals = _between(read.decimals, len(_POWERS) - 1)
    values, exact = _divided(read.digits, decimals)
    np.negative(values, out=values, where=read.negative)
    return values, decimals, exact & read.certain


def _one_by_one(texts: list[bytes]) -> list[float]:
    """Read decimal numbers with ``float``, and reject other text that ``float`` accepts."""
    texts = [_TOO_LOW if text == LOWEST else text for text in texts]
    if b"".join(texts).translate(None, b"0123456789.eE+-"):
        raise NotANumber
    try:
        return list(map(float, texts))
    except ValueError:
        raise NotANumber from None


def integers(codes: Bytes, starts: Ints, ends: Ints) -> Ints:
    """Read tokens as 64-bit integers; the parameters are those of :func:`floats`.

    Raises
    ------
    NotANumber
        If a token is not a whole number, or has more than 64 bits.
    """
    values: Ints = codes[starts].astype(np.int64) - ord("0")
    others = np.flatnonzero((ends - starts != 1) | (values < 0) | (values > 9))
    if others.size:  # most levels have one digit
        values[others] = _long_integers(codes, starts[others], ends[others])
    return values


def _long_integers(codes: Bytes, starts: Ints, ends: Ints) -> Ints:
    read = _decimals(codes, starts, ends)
    values = read.digits.astype(np.int64)
    np.negative(values, out=values, where=read.negative)
    for row in np.flatnonzero(~read.certain | (read.decimals >= 0)).tolist():
        value = integer(codes[starts[row] : ends[row]].tobytes())
        if value is None:
            raise NotANumber
        values[row] = value
    return values


class _Decimals(NamedTuple):
    """Values of tokens that consist of digits and at most one point.

    Attributes
    ----------
    negative : ndarray of bool
        True if the token begins with a minus sign.
    digits : ndarray of uint64
        All digits of the token, read as one whole number.
    decimals : ndarray of int
        Number of digits after the point; -1 if there is no point.
    certain : ndarray of bool
        True if the token has this form and is not too long; otherwise, the other values are
        invalid.
    """

    negative: Mask
    digits: Keys
    decimals: Ints
    certain: Mask


def _decimals(codes: Bytes, starts: Ints, ends: Ints) -> _Decimals:
    sign = codes[starts]
    negative = sign == ord("-")
    starts = starts + (negative | (sign == ord("+")))
    width = ends - starts
    (first,) = words_at(codes, starts)
    point = np.minimum(_place(first, _POINTS), width)
    decimals = width - point - 1
    behind = _between(decimals, len(_POWERS) - 1)
    whole, certain = _value(first << (8 * (WORD - point)).view(np.uint64), point)
    certain &= (point < WORD) | (width <= WORD)
    certain &= (decimals < len(_POWERS)) & (point + behind > 0)
    parts: list[tuple[Keys, Any]] = [(whole, behind)]
    n_words = int(behind.max(initial=1) + WORD - 1) // WORD
    for i, words in enumerate(words_at(codes, ends - WORD * n_words, n_words)[::-1]):
        part, are_digits = _value(words, _between(behind - WORD * i, WORD))
        certain &= are_digits
        parts.append((part, WORD * i))
    digits = sum(part * _WHOLE_POWERS[np.minimum(place, _MOST)] for part, place in parts)
    if int((point + behind).max(initial=0)) > _MOST:
        certain &= sum(part * _POWERS[place] for part, place in parts) < _TOO_LARGE
    return _Decimals(negative, digits, decimals, certain)


def _scaled(codes: Bytes, starts: Ints, ends: Ints) -> _Decimals:
    """Read tokens with an exponent of at most 7 characters, and shift their decimal points."""
    (tail,) = words_at(codes, ends - WORD)
    place = _place((tail | _SMALL) & _LAST[np.minimum(ends - starts, WORD)], _ES)
    middle = ends - WORD + place
    negative, positive = codes[middle + 1] == ord("-"), codes[middle + 1] == ord("+")
    count = WORD - 1 - place - (negative | positive)
    size, certain = _value(tail, _between(count, WORD))
    exponent = size.astype(np.int64)
    read = _decimals(codes, starts, middle)
    decimals = np.maximum(read.decimals, 0) - np.where(negative, -exponent, exponent)
    zeros = _between(-decimals, _MOST)
    certain &= (count > 0) & read.certain & (decimals + zeros >= 0) & (decimals < len(_POWERS))
    certain &= read.digits * _POWERS[zeros] < _TOO_LARGE
    return _Decimals(read.negative, read.digits * _WHOLE_POWERS[zeros], decimals, certain)


def _between(values: Ints, most: int) -> Ints:
    """Clip values to the range from 0 to ``most``, without the overhead of np.clip."""
    return np.minimum(np.maximum(values, 0), most)


def _place(words: Keys, wanted: np.uint64) -> Ints:
    """Find the first byte of each word that equals the byte in ``wanted``; 8 if there is none."""
    other = words ^ wanted
    zeros = (other - _BYTES) & ~other & _HIGH_BITS  # correct up to the first zero byte
    lowest = (zeros & (~zeros + np.uint64(1))) >> np.uint64(7)
    place: Ints = ((lowest * _COUNTING) >> np.uint64(56)).astype(np.int64)
    place[zeros == 0] = WORD
    return place


def _value(words: Keys, count: Ints) -> tuple[Keys, Mask]:
    """Parse the last ``count`` bytes of each word; return numbers and whether they are valid."""
    words = words ^ _ZEROS
    words &= _LAST[count]
    above = words + _ABOVE_NINE
    above |= words
    are_digits: Mask = above & _HIGH_BITS == 0
    for factor, shift, mask in _JOINING:
        words *= factor
        words >>= shift
        words &= mask
    return words, are_digits


def _divided(digits: Keys, decimals: Ints) -> tuple[Floats, Mask]:
    """Return ``digits / 10**decimals``, and whether the result is certainly the nearest float.

    If two floats hold both numbers exactly, the quotient of the floats is the nearest float
    (Clinger, PLDI 1990).
    """
    quotient = digits.astype(np.float64) / _POWERS[decimals]
    certain = (digits <= 2**53) & (decimals < _EXACT)
    rows = np.flatnonzero(~certain)
    if rows.size:
        quotient[rows], certain[rows] = _corrected(digits[rows], decimals[rows], quotient[rows])
    return quotient, certain


def _corrected(digits: Keys, decimals: Ints, quotient: Floats) -> tuple[Floats, Mask]:
    """Divide numbers that floats do not hold exactly; return what :func:`_divided` returns.

    The quotient is corrected by the rounding errors of both numbers and by the remainder of the
    division.  Dekker's product (Numer. Math. 1971) gives the exact remainder.  The error of the
    correction is less than 2**-51 times the correction plus 2**-101 times the quotient.  Twice this
    error is once added to the correction and once subtracted from the correction.  If both results
    are the same, the rounding is certain.
    """
    divisor, high = _POWERS[decimals], digits.astype(np.float64)
    rest = (digits - high.astype(np.uint64)).astype(np.int64)
    product = quotient * divisor
    a, b = _halves(quotient)
    c, d = _POWERS_HIGH[decimals], _POWERS_LOW[decimals]
    error = ((a * c - product) + a * d + b * c) + b * d
    correction = ((high - product) - error + rest - quotient * _POWERS_REST[decimals]) / divisor
    doubt = np.abs(correction) * 2.0**-50 + quotient * 2.0**-100
    lowest = quotient + (correction - doubt)
    return lowest, lowest == quotient + (correction + doubt)


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Split each value into two floats of 26 bits, which add up to the value."""
    scaled = values * (2.0**27 + 1)
    high = scaled - (scaled - values)
    return high, values - high


_POWERS_HIGH, _POWERS_LOW = _halves(_POWERS)
