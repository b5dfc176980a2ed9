"""Jobs of PageRank on five edges, and whether the result is right."""

import pandas as pd
from commands import call, refused, result

import dask_graphgpu  # noqa: F401  puts .graph on frames

EDGES = pd.DataFrame({"src": [0, 0, 1, 2, 5], "dst": [1, 2, 3, 3, 6], "weight": [4, 1, 1, 7, 2]})
RANKS = EDGES.graph.pagerank()
_JOB = ("pagerank", "edges.parquet", "--output", "out")


def is_right(path="out"):
    pd.testing.assert_frame_equal(result(path), RANKS, check_dtype=False)
    return True


def pagerank(*words, code=0):
    return call(*_JOB, *words, code=code)


def refusal(*words, code):
    return refused(*_JOB, *words, code=code)
