"""Vectors of vertices, and how well they tell edges that were held back from pairs that are none."""

import networkx as nx
import numpy as np
import pandas as pd


def vectors(frame):
    frame = frame.compute() if hasattr(frame, "compute") else frame
    return frame.drop(columns="vertex").to_numpy()


def unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(length > 1e-12, rows / np.where(length > 0, length, 1), 0)


def areas(scores, labels):
    """Area under the curve: how often a true pair is before a false one."""
    order = pd.Series(scores).rank()
    true = labels.sum()
    return (order[labels].sum() - true * (true + 1) / 2) / (true * (~labels).sum())


def found_links(embed):
    """Areas under the curve, of cosines of both ends and of products of degrees.

    Of a graph of groups a tenth of the edges is held back; embed : gives a frame for the graph of the others.
    """
    made = nx.random_partition_graph([25] * 12, 0.4, 0.003, seed=4)
    frame = nx.to_pandas_edgelist(made, "src", "dst")
    rng = np.random.default_rng(5)
    held = rng.random(len(frame)) < 0.1
    ids = pd.DataFrame({"vertex": range(300)})
    found = unit(vectors(embed(frame[~held].graph(directed=False, vertices=ids))))
    true = frame[held].to_numpy()
    false = [pair for pair in rng.integers(0, 300, (3 * len(true), 2)) if not made.has_edge(*pair)]
    pairs = np.concatenate([true, np.array(false)])
    labels = np.arange(len(pairs)) < len(true)
    cosine = (found[pairs[:, 0]] * found[pairs[:, 1]]).sum(axis=1)
    degree = np.bincount(frame[~held].to_numpy().ravel(), minlength=300)
    return areas(cosine, labels), areas(degree[pairs[:, 0]] * degree[pairs[:, 1]], labels)
