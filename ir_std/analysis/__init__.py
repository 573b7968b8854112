"""The statistics behind standardization: pure functions on topics x systems arrays.

Each takes scores of shape (n_topics, n_systems), from wherever they come; most take leading
axes too, for many resamplings at once.  ``import ir_std`` does not import this module.
"""

from ir_std.analysis.agreement import cohen_kappa, confusion_matrix, order_agreement
from ir_std.analysis.correlation import kendall_tau_b, tau_ap_b
from ir_std.analysis.effects import paired_effect, random_effects
from ir_std.analysis.incomplete import LinkedScores, linked_scores
from ir_std.analysis.linking import link
from ir_std.analysis.means import residual_variance
from ir_std.analysis.ranks import RankIntervals, rank_intervals
from ir_std.analysis.significance import (
    discriminative_power,
    paired_p_values,
    paired_t,
    self_false_positives,
    tukey_p_values,
    two_sample_p_values,
)
from ir_std.analysis.size import (
    topic_set_size,
    topic_set_size_paired_t,
    topic_set_size_two_way,
    within_system_variance,
)
from ir_std.analysis.stability import SwapRates, drmse, factor_stability, swap_rate
from ir_std.analysis.standardization import leave_out, standardize_matrix
from ir_std.analysis.uncertainty import bootstrap_covariance, normal_covariance

__all__ = [
    "LinkedScores",
    "RankIntervals",
    "SwapRates",
    "bootstrap_covariance",
    "cohen_kappa",
    "confusion_matrix",
    "discriminative_power",
    "drmse",
    "factor_stability",
    "kendall_tau_b",
    "leave_out",
    "link",
    "linked_scores",
    "normal_covariance",
    "order_agreement",
    "paired_effect",
    "paired_p_values",
    "paired_t",
    "random_effects",
    "rank_intervals",
    "residual_variance",
    "self_false_positives",
    "standardize_matrix",
    "swap_rate",
    "tau_ap_b",
    "topic_set_size",
    "topic_set_size_paired_t",
    "topic_set_size_two_way",
    "tukey_p_values",
    "two_sample_p_values",
    "within_system_variance",
]
