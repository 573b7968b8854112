"""The statistics behind standardization: pure functions on topics x systems arrays.

Each function takes scores of shape (n_topics, n_systems) from any source.  Most functions also
accept leading axes, for many resamplings at once.  Names are imported when they are first used,
because importing scipy takes 0.2 s.
"""

# fmt: off
# isort: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ir_std.analysis.agreement import cohen_kappa, confusion_matrix, order_agreement
    from ir_std.analysis.correlation import kendall_tau_b, tau_ap_b
    from ir_std.analysis.effects import paired_effect, random_effects
    from ir_std.analysis.linking import link
    from ir_std.analysis.paired import (
        bonferroni, discriminative_power, holm, paired_t, randomization_test, t_test,
        topic_set_size_paired_t,
    )
    from ir_std.analysis.prediction import PredictionPowered, prediction_powered
    from ir_std.analysis.ranks import RankIntervals, rank_intervals
    from ir_std.analysis.standardization import LinkedScores, linked_scores, standardize_matrix

_NAMES = {
    "agreement": "cohen_kappa confusion_matrix order_agreement",
    "correlation": "kendall_tau_b tau_ap_b",
    "effects": "paired_effect random_effects",
    "linking": "link",
    "paired": "bonferroni discriminative_power holm paired_t randomization_test t_test "
    "topic_set_size_paired_t",
    "prediction": "PredictionPowered prediction_powered",
    "ranks": "RankIntervals rank_intervals",
    "standardization": "LinkedScores linked_scores standardize_matrix",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [
    "LinkedScores", "PredictionPowered", "RankIntervals", "bonferroni", "cohen_kappa",
    "confusion_matrix", "discriminative_power", "holm", "kendall_tau_b", "link", "linked_scores",
    "order_agreement", "paired_effect", "paired_t", "prediction_powered", "random_effects",
    "randomization_test", "rank_intervals", "standardize_matrix", "t_test", "tau_ap_b",
    "topic_set_size_paired_t",
]
# fmt: on

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'ir_std.analysis' has no attribute {name!r}")
        value = getattr(import_module(f"ir_std.analysis.{_MODULE_OF[name]}"), name)
        globals()[name] = value  # for tools that read a module's names
        return value


def __dir__() -> list[str]:
    return __all__
