"""Small saved graphs and the frames of their updates."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dask_graphgpu as dg

SMALL = st.integers(0, 14)
PAIRS = st.lists(st.tuples(SMALL, SMALL), max_size=5)
IDS = {
    "integers": lambda numbers: pd.Series(np.asarray(numbers, "int64") * 7 - 20),
    "strings": lambda numbers: pd.Series([f"v{number}" for number in numbers], dtype="str"),
}


def frame_of(pairs, ids=IDS["integers"]):
    source, destination = list(zip(*pairs, strict=True)) or [(), ()]
    return pd.DataFrame({"src": ids(source), "dst": ids(destination)})


def saved(tmp_path, pairs, **options):
    frame_of(pairs).graph(**options).save(tmp_path / "saved")
    return dg.load(tmp_path / "saved")
