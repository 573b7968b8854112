"""Read runs and qrels from files and objects, and rank the documents of runs."""

from ir_std.trec.files import read_run, read_trec_qrels, read_trec_run, run_text, write_run
from ir_std.trec.inputs import as_qrels, as_run, is_dataset, is_file, read_texts
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.ranking import Ranker, order_documents, sort_run, with_whole_scores
from ir_std.trec.runs import DUPLICATES, Run

# fmt: off
__all__ = [
    "DUPLICATES", "Qrels", "Ranker", "Ranking", "Run", "as_qrels", "as_run", "is_dataset",
    "is_file", "order_documents", "read_run", "read_texts", "read_trec_qrels", "read_trec_run",
    "run_text", "sort_run", "with_whole_scores", "write_run",
]
# fmt: on
