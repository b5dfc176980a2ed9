"""Vectors of vertices that come near each other in walks, trained by gensim.

References
----------
.. [1] Mikolov, Sutskever, Chen, Corrado, Dean, "Distributed representations of words and phrases and their
   compositionality", NeurIPS 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from dask_graphgpu.optional import imported

LONGEST = 10_000  # gensim leaves out what of a walk is beyond


def gensim_models() -> ModuleType:
    """Gensim's models.

    Raises
    ------
    MissingPackage
    """
    return imported("gensim.models", "embeddings", "node2vec")


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks in the order of training.

    Attributes
    ----------
    vertices : unsigned, shape (walks, longest)
    lengths : vertices of each walk
    """

    vertices: np.ndarray
    lengths: np.ndarray

    def __iter__(self) -> Iterator[list[int]]:
        for row, length in zip(self.vertices, self.lengths.tolist(), strict=True):
            yield row[:length].tolist()

    def frequencies(self, n: int) -> np.ndarray:
        """How often each of n vertices is passed."""
        there = np.arange(self.vertices.shape[1]) < self.lengths[:, None]
        return np.bincount(self.vertices[there], minlength=n)


def skip_gram(
    n: int, walks: Walks, *, dimension: int, window: int, negative: int, epochs: int, seed: int,
    workers: int,
) -> np.ndarray:  # fmt: skip
    """Vectors of n vertices by skip-grams with negative samples [1]_, float32 of shape (n, dimension).

    The same for a seed with one worker.
    """
    # In the order of vertices, and not of how often they are passed: vectors are then theirs, row by row.
    model = gensim_models().Word2Vec(
        vector_size=dimension, window=window, sg=1, hs=0, negative=negative, sample=0, min_count=0,
        sorted_vocab=0, seed=seed, workers=workers, epochs=epochs,
    )  # fmt: skip
    passed = walks.frequencies(n).tolist()
    model.build_vocab_from_freq(dict(enumerate(passed)), corpus_count=len(walks.lengths))
    model.train(walks, total_examples=len(walks.lengths), epochs=epochs)
    vectors: np.ndarray = model.wv.vectors
    return vectors
