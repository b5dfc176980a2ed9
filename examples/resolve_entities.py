"""From matches of records, two at a time and with a score, to a cluster id for each record.

    python examples/resolve_entities.py matches/ records/ clusters/

``matches/`` has the columns ``left``, ``right`` and ``score``, ``records/`` a column ``vertex`` with the
ids of all records. ``clusters/`` gets ``record`` and ``cluster``, the smallest id in it.
"""

import sys

import dask.dataframe as dd

import dask_graphgpu  # noqa: F401  registers .graph


def resolve(matches, records, least=0.9):
    """Clusters of the pairs whose score is at least so much; records without one are alone."""
    pairs = dd.read_parquet(matches)
    sure = pairs[pairs["score"] >= least]
    graph = sure.graph(source="left", destination="right", vertices=dd.read_parquet(records))
    found = graph.weakly_connected_components()
    return found.rename(columns={"vertex": "record", "component": "cluster"})


if __name__ == "__main__":
    matches, records, clusters = sys.argv[1:]
    resolve(matches, records).to_parquet(clusters)
