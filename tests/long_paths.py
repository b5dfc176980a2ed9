"""Graphs of edges on disk whose shortest paths are long, or beside which there are others."""

import numpy as np
import pandas as pd


def settings_of_pages(folder):
    """Settings with which these graphs lie on disk."""
    return {
        "graphgpu.host-memory-limit": "1MB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": str(folder),
    }


def path_beside_a_core(length, *, shuffled=False, edges=60_000):
    """A path of undirected edges from a dense part on, by ascending ids or any; and an end of the path."""
    rng = np.random.default_rng(4)
    path = np.arange(299, 299 + length)
    ends = np.concatenate([rng.integers(0, 300, (2, edges)), [path, path + 1]], axis=1)
    if shuffled:
        ends = rng.permutation(299 + length + 1)[ends]
    weight = 1 + ends.sum(0) % 5
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": weight}), ends[1, -1]


def beside(edges):
    """Edges, with others that are not joined to them, so often that they do not fit."""
    others = pd.DataFrame({"src": np.arange(10, 2000), "dst": np.arange(11, 2001), "weight": 1})
    return pd.concat([edges] + [others] * 40, ignore_index=True)
