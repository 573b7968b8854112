"""Merging of ranked lists from several engines or shards, by scores or by ranks.

The six linear methods come from Markov, Arampatzis and Crestani, "Unsupervised linear score
normalization revisited" (SIGIR 2012).  The linear methods need no training.  Each method normalizes
one list at a time.  A list contains the scores ``s`` of one run on one topic:

======  =====================  ===========================================================
name    a score becomes        recommended by the paper for
======  =====================  ===========================================================
minmax  (s-min)/(max-min)      most settings
max     s/max                  the same, and often better; scores that start at 0
mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if all use the same kind of engine
uv      s/sd                   short lists; scores that start at 0
zscore  (s-mean)/sd            short lists
sum     (s-min)/sum(s-min)     rarely
======  =====================  ===========================================================

``sd`` is the standard deviation of the list itself, with divisor n instead of n-1.  ``mmstdv``
favors lists whose scores are spread widely.  Because ``sd`` is in the units of the scores,
``mmstdv`` also favors engines whose scores are larger numbers.  ``uv`` favors lists whose scores
are nearly equal.

Three combinations use ranks instead of scores, so they accept no method:

=========  =====================================================================================
name       a document gets
=========  =====================================================================================
rrf        the sum of 1/(60+rank) over the lists that have it: reciprocal rank fusion (Cormack,
           Clarke and Büttcher, SIGIR 2009)
borda      from each list, n points at rank 1, n-1 points at rank 2, and so on, where n is the
           number of documents in all lists; the documents that a list lacks share its
           remaining points equally (Aslam and Montague, SIGIR 2001)
condorcet  a rank above each document that it precedes in more lists than it follows (Montague
           and Aslam, CIKM 2002); a list ranks the documents that it lacks below all others
=========  =====================================================================================

Edge cases:

- If all scores of a list are equal, as in a list of one document, the list does not distinguish
  its documents.  With ``max``, all documents get 1.  With the other methods, all documents get 0.
  With ``zscore``, a score of 0 is in the middle of a list; with the other methods, at its end.
- ``minmax``, ``zscore``, ``sum`` and ``mmstdv`` use only differences of scores, so they handle
  negative scores, such as log-probabilities, like any other scores.  ``max`` and ``uv`` assume that
  0 is the lowest possible score of an engine.  If the highest score of a list is 0 or below,
  ``max`` raises an error that names the topic; otherwise negative scores stay negative.  ``uv``
  also keeps negative scores negative, but gives 0 to all documents of a list with equal scores,
  and 0 is above all negative scores.  For negative scores, use ``zscore`` instead.
- ``zscore`` gives negative scores to about half of every list, and ``max`` and ``uv`` keep negative
  scores negative.  CombMNZ then lowers scores that it should raise.  For example, if documents are
  equally far below the mean of their lists, the document in the most lists comes last.  Use CombMNZ
  with ``minmax``, ``mmstdv`` or ``sum``, whose scores start at 0.
- Scores that are NaN or infinite are errors.  A document that occurs twice in a list is also an
  error.
- A topic that only some runs have is merged from these runs.
- Documents are ranked as in trec_eval, which means by score as 32-bit float, with ties by
  descending ID.
- If two documents tie, because as many lists prefer the one as prefer the other, ``condorcet``
  decides by Borda points, then by ID.  If the preferences form a cycle, the documents of the cycle
  are adjacent in the result, and each document is preferred to the next one.
- Normalization never reverses the order of two documents in a list, and no normalized score is NaN.
  Scores that differ only in their last digits may become equal.  A result that does not fit into a
  64-bit float, such as -1e308 / 1e-300 with ``max``, is an error.
"""

from ir_std.merging.fusion import BY_RANK, COMBINE, METHODS, merge, normalize

__all__ = ["BY_RANK", "COMBINE", "METHODS", "merge", "normalize"]
