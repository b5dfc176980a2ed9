"""Edges of ten days, those of some days, and what every method gives of them."""

import numpy as np
import pandas as pd
from method_calls import IN_PLACES, METHODS

from dask_graphgpu.errors import EngineUnavailable, InvalidArgument, NotConverged

FAULTS = (EngineUnavailable, InvalidArgument, NotConverged)


def made(seed=0, n=1000, m=5000, kind="random"):
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((m, 2)) ** (3 if kind == "hubs" else 1)).astype(int)
    if kind == "mirrored":
        ends = np.concatenate([ends, ends[:, ::-1]])
    frame = pd.DataFrame(ends, columns=["src", "dst"])
    frame["day"] = np.tile(rng.integers(0, 10, m), len(frame) // m)
    frame["weight"] = np.tile(rng.integers(1, 9, m), len(frame) // m)
    return frame


def chosen(frame, low, high):
    return frame[(frame.day >= low) & (frame.day < high)]


def answers(graph):
    """What every method gives, and which refuse."""
    found = {}
    for name, call in {**METHODS, **IN_PLACES}.items():
        try:
            found[name] = call(graph)
        except FAULTS as error:
            found[name] = type(error)
    return found
