"""Merging ranked lists of different engines or shards, by scores on a common scale or by ranks.

The six linear methods of Markov, Arampatzis and Crestani, "Unsupervised linear score
normalization revisited" (SIGIR 2012).  None needs training, and each looks at one list at a
time, the scores ``s`` of one run on one topic:

======  =====================  ===========================================================
name    a score becomes        recommended by the paper for
======  =====================  ===========================================================
minmax  (s-min)/(max-min)      most settings
max     s/max                  the same, and often better; scores that start at 0
mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if one kind of engine scored them
uv      s/sd                   short lists; scores that start at 0
zscore  (s-mean)/sd            short lists
sum     (s-min)/sum(s-min)     rarely
======  =====================  ===========================================================

``sd`` is the standard deviation of the list itself, so divided by n, not n-1.  ``mmstdv`` favors
lists whose scores are spread widely; since ``sd`` is in the units of the scores, that means
engines whose scores are larger numbers.  ``uv`` favors lists whose scores are nearly equal.

Three combinations look at ranks, not at scores, and take no method:

=========  =====================================================================================
name       a document gets
=========  =====================================================================================
rrf        the sum of 1/(60+rank) over the lists that have it: reciprocal rank fusion (Cormack,
           Clarke and Büttcher, SIGIR 2009)
borda      from each list n points for the first of the n documents of all lists, n-1 for the
           second, ...; the documents that a list lacks share its remaining points (Aslam and
           Montague, SIGIR 2001)
condorcet  a place before those that more lists rank behind it than before it (Montague and
           Aslam, CIKM 2002); a list ranks what it has before what it lacks
=========  =====================================================================================

Edge cases:

- A list whose scores are all equal, such as a list of one document, does not distinguish its
  documents: they get 0 (the middle of a list by ``zscore``, its end by the others), but 1 by
  ``max``, which needs no spread.
- ``minmax``, ``zscore``, ``sum`` and ``mmstdv`` look at differences only, so negative scores, such
  as log-probabilities, are like any others.  ``max`` and ``uv`` take 0 for the lowest score that
  an engine can give.  Where the highest score of a list is 0 or below, ``max`` raises an error that
  names the topic; otherwise negative scores stay negative.  ``uv`` divides them like others, but
  the 0 of a list of equal scores is then above them all: prefer ``zscore``.
- ``zscore`` gives negative scores to about half of every list; ``max`` and ``uv`` keep negative
  scores negative.  CombMNZ then lowers scores that it should raise: if documents are equally far
  below the mean of their lists, the document in the most lists comes last.  Use CombMNZ with
  ``minmax``, ``mmstdv`` or ``sum``, whose scores start at 0.
- Scores that are NaN or infinite, and a document twice in a list, are errors.
- A topic that only some runs have is merged from those.
- Ranks are those of trec_eval: by score as 32-bit float, ties by id descending.
- Where as many lists prefer one document as the other, Borda points decide for ``condorcet``,
  then ids.  Preferences may form a cycle: its documents are then adjacent, and each is
  preferred to the next.
- No document of a list passes another, and no result is NaN, whatever the scores; scores that
  differ in their last digits may become equal.  A result that does not fit into a 64-bit float,
  such as -1e308 / 1e-300 by ``max``, is an error.
"""

from ir_std.merging.fusion import merge, normalize, runs_without_common_topics
from ir_std.merging.methods import BY_RANK, COMBINE, METHODS

__all__ = [
    "BY_RANK",
    "COMBINE",
    "METHODS",
    "merge",
    "normalize",
    "runs_without_common_topics",
]
