"""Arguments of a wrong type get one clear line."""

from collections.abc import Callable
from typing import Any

import pytest

import ir_std

RUN = {"1": {"a": 1.0}}
QRELS = {"1": {"a": 1}}
MERGE: Any = ir_std.merge
CALLS: dict[str, Callable[[Any], Any]] = {
    "merge": lambda wrong: MERGE(wrong, "minmax"),
    "the runs of merge": lambda wrong: MERGE([wrong, wrong], "minmax"),
    "the method of merge": lambda wrong: MERGE([RUN, RUN], wrong),
    "the combination of merge": lambda wrong: MERGE([RUN, RUN], "minmax", wrong),
    "the depth of merge": lambda wrong: MERGE([RUN, RUN], "minmax", depth=str(wrong)),
    "normalize": lambda wrong: ir_std.normalize(wrong, "minmax"),
    "the method of normalize": lambda wrong: ir_std.normalize(RUN, wrong),
    "read_scores": ir_std.read_scores,
    "the measure of read_scores": lambda wrong: ir_std.read_scores({"1": 0.5}, [wrong]),  # type: ignore[arg-type]
    "system": ir_std.system,
    "standardized": ir_std.standardized,
    "compare": ir_std.compare,
    "the entries of compare": lambda wrong: ir_std.compare([wrong]),
    "schemes": lambda wrong: ir_std.calc_aggregate("AP", QRELS, RUN, schemes=[wrong]),
    "load_factors": ir_std.load_factors,
    "standardize": lambda wrong: ir_std.standardize(wrong, "AP", factors="dl19-passage"),
    "the scheme of standardize": lambda wrong: ir_std.standardize(RUN, "AP", scheme=wrong),
    "recognize": ir_std.recognize,
    "parse_measure": ir_std.parse_measure,
}


@pytest.mark.parametrize("wrong", [3, 0.5, object()], ids=["int", "float", "object"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_argument_of_a_wrong_type_gets_one_clear_line(
    call: Callable[[Any], Any], wrong: Any
) -> None:
    with pytest.raises(ir_std.IrStdError) as caught:
        call(wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\u2028b"])
def test_a_line_break_in_a_name_is_written_as_such(text: str) -> None:
    for call in (
        lambda: ir_std.calc_aggregate((), text, {}),
        lambda: ir_std.load_factors(text),
        lambda: ir_std.system(f"{text}/x"),
        lambda: ir_std.parse_measure(text),
    ):
        with pytest.raises(ir_std.IrStdError) as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1
