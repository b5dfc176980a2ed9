"""Embeddings by random walks (node2vec, DeepWalk).

References
----------
.. [1] Grover, Leskovec, "node2vec: scalable feature learning for networks", KDD 2016.
.. [2] Perozzi, Al-Rfou, Skiena, "DeepWalk: online learning of social representations", KDD 2014.
.. [3] Mikolov, Sutskever, Chen, Corrado, Dean, "Distributed representations of words and phrases and their
   compositionality", NeurIPS 2013.
"""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.random_walks import RandomWalks
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.skip_gram import LONGEST, Walks, gensim_models, skip_gram
from dask_graphgpu.algorithms.start_vertices import start_vertices
from dask_graphgpu.arguments import check_whole, refuse
from dask_graphgpu.engine.walking import WalkRule
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host

_MOST_SEED = 2**32 - 1  # gensim's


@dataclass(frozen=True)
class Node2Vec(Algorithm):
    """Embeddings of vertices by random walks (node2vec).

    Walks begin at every vertex, as `random_walks` makes them. Vertices that come within ``window`` steps of each other
    get vectors that point the same way, others do not. With ``p`` and ``q`` 1 this is DeepWalk (Perozzi et al., KDD
    2014). Training is gensim's: ``pip install 'dask-graphgpu[embeddings]'``. `fastrp` needs no training, and takes
    seconds where this takes minutes.

    Parameters
    ----------
    dimension : int
        Numbers of a vector.
    length : int
        Steps of a walk, below 10,000.
    walks_per_vertex : int
        Walks from each vertex.
    weighted : bool
        Take an edge in proportion to its weight; else all are alike.
    p : float
        Return parameter, as of `random_walks`: a small one goes back often.
    q : float
        In-out parameter, as of `random_walks`: a small one goes far, a large one stays near.
    window : int
        Steps between two vertices that count as near, at most.
    negative : int
        Vertices drawn for each such pair that are to point another way.
    epochs : int
        Passes over the walks.
    seed : int
        Other seeds give other embeddings. Below 2**32.
    training_threads : int
        Threads that train. With more than one, each call gives other embeddings.

    Returns
    -------
    frame
        ``vertex``, ``embedding_0``, ``embedding_1``, ... (float32), a column a dimension. One row a vertex in
        ascending order of ids.

    Raises
    ------
    MissingPackage
        gensim cannot be imported.
    InvalidArgument
        ``weighted`` and there are no weights, or an argument is out of range.

    Notes
    -----
    Skip-grams with negative samples (Mikolov et al., 2013); no vertex is left out for being rare or passed often. In
    the order of training each vertex has one walk before any has the next one, in an order drawn anew each time.

    With one thread the same machine gives the same vectors for a seed, whatever the engine, ranks, and order of rows:
    walks are the same everywhere. On other processors sums are rounded in another order.

    Cost: that of `random_walks`, and training in O(V * walks_per_vertex * length * window * negative * dimension), some
    hundred thousand steps a second and thread, on the processors: of the first rank, where there are several. It has
    all walks, 4 bytes a step, and 8 bytes a vertex and dimension.
    """

    dimension: int = 128
    _: KW_ONLY
    length: int = 80
    walks_per_vertex: int = 10
    weighted: bool = False
    p: float = 1.0
    q: float = 1.0
    window: int = 10
    negative: int = 5
    epochs: int = 1
    seed: int = 0
    training_threads: int = 1

    rule = "keep"

    def __post_init__(self) -> None:
        for name in (
            "dimension",
            "walks_per_vertex",
            "window",
            "negative",
            "epochs",
            "training_threads",
        ):
            check_whole(name, getattr(self, name), 1)
        RandomWalks(length=self.length, p=self.p, q=self.q, seed=self.seed)
        if self.length >= LONGEST:
            refuse("length", self.length, f"are steps below {LONGEST:,}")
        if self.seed > _MOST_SEED:
            refuse("seed", self.seed, f"are whole numbers up to {_MOST_SEED:,}")
        gensim_models()

    def engine_functions(self) -> tuple[str, ...]:
        return ("random_walks",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "node2vec with weighted=True", "")
        return self.weighted

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        number = ColumnType("float32")
        columns = {f"embedding_{i}": number for i in range(self.dimension)}
        return {"vertex": ColumnType("vertex"), **columns}

    def run(self, run: Run) -> Table:
        walks = self._walks(run)
        begun = time.perf_counter()
        vectors = np.empty((0, self.dimension), np.float32)
        if walks is not None and run.num_vertices:
            vectors = skip_gram(
                run.num_vertices, walks, dimension=int(self.dimension), window=int(self.window),
                negative=int(self.negative), epochs=int(self.epochs), seed=int(self.seed),
                workers=int(self.training_threads),
            )  # fmt: skip
        run.report.advance(
            "training", supersteps=int(self.epochs), frontier=run.num_vertices, edges=0,
            bytes=vectors.nbytes, seconds=time.perf_counter() - begun,
        )  # fmt: skip
        if run.ranks is not None:
            wanted = run.ranks.all_gather(np.asarray(run.vertices).astype(np.int64))
            rows = [vectors.take(some, axis=0) if len(vectors) else vectors for some in wanted]
            vectors = run.ranks.all_to_all(rows)[0]
        columns = np.ascontiguousarray(vectors.T)
        named = {f"embedding_{i}": Values(column) for i, column in enumerate(columns)}
        return {"vertex": Values(run.vertices), **named}

    def _walks(self, run: Run) -> Walks | None:
        """All walks in the order of training, of vertices by their places; None: not the first rank."""
        rule = WalkRule(
            int(self.length), self.weighted, float(self.p), float(self.q), 0.0, int(self.seed)
        )
        starts, places, n = start_vertices(run, "start", None)
        each = int(self.walks_per_vertex)
        first = run.ranks is None or run.ranks.rank == 0
        kind = np.uint32 if n <= 2**32 else np.uint64
        vertices = np.zeros((each * n, self.length + 1) if first else (0, 0), kind)
        lengths = np.zeros(len(vertices), np.int32)
        order = np.random.default_rng(int(self.seed))
        for i in range(each):
            found = run.engine.random_walks(run.view, places * each + i, starts, rule, run.report)
            walk, step, vertex = (to_host(array) for array in found)
            if run.ranks is not None:
                walk, step, vertex = (run.ranks.to_first(array) for array in (walk, step, vertex))
            if first:
                row = i * n + order.permutation(n)[walk // each]
                vertices[row, step.astype(np.intp)] = vertex
                lengths[i * n : (i + 1) * n] = np.bincount(row - i * n, minlength=n)
        return Walks(vertices, lengths) if first else None
