"""Measure objects that ir_std defines or extends, and checks of their parameters."""

import math
from typing import TYPE_CHECKING, Any

from ir_measures import measures as irm
from ir_measures.measures import Measure, ParamInfo
from ir_measures.measures.base import Agg

from ir_std.errors import UsageError, suggestion

if TYPE_CHECKING:
    from typing_extensions import Self

CUTOFF = ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold")
REL = ParamInfo(dtype=int, default=1, desc="minimum relevance score (inclusive)")
_FORMULATION = ParamInfo(
    dtype=str, choices=["log2", "exp-log2", "jk"], default="log2", desc="DCG formulation"
)
_BINARY = ParamInfo(
    dtype=int, required=False, desc="level from which gains are 1 (by default, gains are graded)"
)


class TypedMeasure(Measure):
    """A measure with the type hints that ir_measures' class lacks."""

    decided: Any = None
    """Properties that depend on all topics of a collection, for evaluation in batches."""

    def __init__(self, **params: Any) -> None:
        for name, value in params.items():
            info = self.SUPPORTED_PARAMS.get(name)
            if info and info.dtype is float and type(value) is int:
                params[name] = float(value)  # a measure's name shows it as a float
        super().__init__(**params)

    if TYPE_CHECKING:

        def __call__(self, **params: Any) -> Self:
            """Return the measure with these parameters changed."""

        def __matmul__(self, at_param: float) -> Self: ...

        def __getitem__(self, key: str) -> Any: ...


def check_params(measure: Measure) -> None:
    """Check a measure's parameters; an error names the wrong parameter and its allowed values."""
    supported = measure.SUPPORTED_PARAMS
    for name in measure.params:
        if name not in supported:
            raise UsageError(
                f"{measure.__name__} has no parameter {name!r}; choose from "
                f"{', '.join(supported) or 'none'}{suggestion(name, supported)}"
            )
    for name, info in supported.items():
        if name in measure.params:
            _check_value(measure, name, info)
        elif info.required:
            example = "@10" if name == measure.AT_PARAM else f"({name}=...)"
            raise UsageError(f"{measure.__name__} needs {name}; write {measure.__name__}{example}")
    for name, least in {"cutoff": 1, "rel": 1, "beta": 0}.items():
        if measure.params.get(name, 1) < least:
            raise UsageError(f"{measure}: {name} must be at least {least}")
    if not 0 < measure.params.get("A", 1) < math.inf:
        raise UsageError(f"{measure.__name__}: A must be above 0 and finite")
    if "p" in supported and "RBP" in measure.__name__ and not 0 <= measure["p"] < 1:
        raise UsageError(f"{measure}: p must be at least 0 and below 1")


def _check_value(measure: Measure, name: str, info: ParamInfo) -> None:
    value = measure.params[name]
    if info.validate(value):
        return
    choices = getattr(info, "choices", None)
    allowed = (
        f"one of {', '.join(map(repr, choices))}"
        if isinstance(choices, list)
        else f"of type {info.dtype.__name__}"
    )
    raise UsageError(f"{measure.__name__}: {name} must be {allowed}, got {value!r}")


def canonical(measure: Measure) -> str:
    """Return a measure's name with parameters in a fixed order and without defaults.

    Equal measures that were written differently have the same canonical name.
    """
    params: dict[str, Any] = {
        name: measure.params[name]
        for name, info in measure.SUPPORTED_PARAMS.items()
        if name in measure.params and measure.params[name] != info.default
    }
    return repr(type(measure)(**params)) if params else measure.__name__


# --- what ir_measures lacks, or has in part -------------------------------------------------------


class _OwnMeasure(TypedMeasure):
    """A measure of ir_std; the class defines its name, and the docstring describes it."""

    def __init_subclass__(
        cls, pretty: str = "", name: str = "", at: str = "cutoff", **params: ParamInfo
    ) -> None:
        cls.NAME = name or cls.__qualname__[1:]
        cls.AT_PARAM, cls.SUPPORTED_PARAMS, cls.PRETTY_NAME = at, params, pretty
        cls.SHORT_DESC = (cls.__doc__ or "").partition("\n")[0]

    @property
    def __name__(self) -> str:
        """Name of the measure, which providers look up."""
        return str(self.NAME)


class _SP(_OwnMeasure, pretty="Sum of Precisions", cutoff=CUTOFF, rel=REL):
    """Sum of the precision scores at each relevant item retrieved.

    SP equals AP times the number of relevant documents (Webber, Moffat and Zobel, SIGIR 2008).
    """


class _DCG(
    _OwnMeasure, pretty="Discounted Cumulative Gain", cutoff=CUTOFF, dcg=_FORMULATION, rel=_BINARY
):
    """Total gain of a result list, discounted by rank and not normalized.

    ``dcg='log2'`` discounts by 1/log2(rank+1).  ``dcg='exp-log2'`` has the same discount, but the
    gain is 2**level - 1 (Burges et al. 2005).  ``dcg='jk'`` discounts by 1/log2(rank) from rank 3
    on (Järvelin and Kekäläinen, TOIS 2002).  With ``rel``, the gain is 1 at level ``rel`` or above.
    """


class _nDCG(TypedMeasure, irm._nDCG):
    """ir_measures' nDCG, extended by ``dcg='jk'`` and by ``rel`` for binary gains."""

    __name__ = "nDCG"
    SUPPORTED_PARAMS = {**irm._nDCG.SUPPORTED_PARAMS, "dcg": _FORMULATION, "rel": _BINARY}

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if "rel" in params or params.get("dcg") == "jk":
            # Providers look up NAME and ignore unknown parameters.  Under the name nDCG,
            # pytrec_eval would return the graded value for nDCG(rel=1).
            self.NAME = "nDCG of ir_std"


class _Q(
    _OwnMeasure,
    pretty="Q-measure",
    cutoff=CUTOFF,
    beta=ParamInfo(dtype=float, default=1.0, desc="weight of gains (0: the measure is AP)"),
):
    """Mean over relevant items of a ratio that blends precision and gain.

    T. Sakai, Information Processing and Management 43(2), 2007.  With a cutoff k, the sum is
    divided by k or by the number of relevant documents, whichever is smaller.
    """


class _nERR(_OwnMeasure, pretty="Normalized Expected Reciprocal Rank", cutoff=CUTOFF):
    """Expected reciprocal rank divided by its value for the ideal ranking.

    A document satisfies the user with probability level / (h + 1), where h is the highest level in
    the qrels (T. Sakai and R. Song, SIGIR 2011).  If the qrels are only a part of the collection, h
    is the highest level in the whole collection.
    """


class _MainScore(_OwnMeasure, name="main_score", pretty="Main score"):
    """Main score of an MTEB task: nDCG@10, AP for reranking, nDCG@5 for document images.

    ir_std reads the main score from MTEB results and never computes it from a run.
    """


LEAST = 1e-5
"""Value to which lower values are raised in a geometric mean."""


class GeometricMean(Agg):
    """Geometric mean; values below 0.00001 count as 0.00001."""

    def __init__(self) -> None:
        self.logarithms: list[float] = []

    def add(self, value: float) -> None:
        """Add a value."""
        self.logarithms.append(math.log(max(value, LEAST)))

    def result(self) -> float:
        """Return the geometric mean of the values; NaN if there are none."""
        n = len(self.logarithms)
        return math.exp(sum(self.logarithms) / n) if n else math.nan


class _GMAP(_OwnMeasure, pretty="Geometric Mean Average Precision", rel=REL):
    """Average precision, with the geometric mean over topics: trec_eval's ``gm_map``."""

    def aggregator(self) -> Any:
        """Return the aggregator, which computes geometric means."""
        return GeometricMean()


class _GMBpref(_GMAP, pretty="Geometric Mean Binary Preference", rel=REL):
    """Bpref, with the geometric mean over topics: trec_eval's ``gm_bpref``."""


class _RIPrec(
    _OwnMeasure,
    pretty="Interpolated Precision at Rounded Recall",
    at="recall",
    recall=ParamInfo(dtype=float, required=True, desc="recall"),
    rel=REL,
):
    """Interpolated precision at a recall, as in ``iprec_at_recall`` since trec_eval 10.0.

    The recall is converted to a number of relevant documents, which is rounded to the nearest
    integer.  ``IPrec`` rounds this number up, as trec_eval did before 10.0.
    """


class _IPrec11(_OwnMeasure, pretty="11-Point Average Precision", rel=REL):
    """Mean of interpolated precision over recall 0, 0.1, ... 1: trec_eval's ``11pt_avg``."""


class _Unjudged(
    _OwnMeasure,
    pretty="Unjudged at k",
    cutoff=ParamInfo(dtype=int, required=True, desc=CUTOFF.desc),
):
    """Number of unjudged documents in the first k ranks, divided by k: trec_eval's ``unj``."""


class _RBPResidual(
    _OwnMeasure,
    pretty="Residual of Rank-Biased Precision",
    p=ParamInfo(dtype=float, default=0.9, desc="persistence"),
):
    """Largest amount that unjudged documents could add to RBP: trec_eval's ``rbp_resid``."""


SP, DCG, nDCG, Q, nERR, main_score = _SP(), _DCG(), _nDCG(), _Q(), _nERR(), _MainScore()
GMAP, GMBpref, RIPrec, IPrec11 = _GMAP(), _GMBpref(), _RIPrec(), _IPrec11()
Unjudged, RBPResidual = _Unjudged(), _RBPResidual()
