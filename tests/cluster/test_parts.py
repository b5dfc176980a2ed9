"""Parts and windows of a graph whose shares are on workers."""

import dask.dataframe as dd
import pandas as pd
from dated_edges import chosen, made


def test_workers_take_parts_of_their_shares(client):
    frame = made()
    graph = dd.from_pandas(frame, npartitions=3).graph(ranks=2).persist(columns="day")
    part = graph.where("day", 3, 7)
    del graph
    for method in ("pagerank", "weakly_connected_components"):
        found = getattr(part, method)().compute().reset_index(drop=True)
        wanted = getattr(chosen(frame, 3, 7).graph(), method)()
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    found = part.windows("day", 2).degree().compute().reset_index(drop=True)
    wanted = chosen(frame, 3, 7).graph().persist(columns="day").windows("day", 2).degree()
    pd.testing.assert_frame_equal(found, wanted)
