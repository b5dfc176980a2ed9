"""Updates of saved graphs on an object store: what is there stays there, and the slower of two writers fails."""

import pandas as pd
import pytest
from object_places import EDGES, same

import dask_graphgpu as dg
from dask_graphgpu.errors import GraphError

MORE = EDGES[:7].assign(src=1000)


def objects(store):
    return set(store.names("saved"))


def loaded(store):
    return dg.load(f"{store.url}/saved", storage_options=store.options)


def test_an_update_writes_what_is_new(store):
    EDGES.graph().save(f"{store.url}/saved", storage_options=store.options)
    before = objects(store)
    graph = loaded(store).update(MORE, EDGES[:3])
    left = EDGES[
        ~EDGES.set_index(["src", "dst"]).index.isin(
            [*zip(EDGES.src[:3], EDGES.dst[:3], strict=True)]
        )
    ]
    anew = pd.concat([left, MORE], ignore_index=True).graph()
    same(graph.pagerank().compute(), anew.pagerank())
    after = objects(store)
    new = sorted(name.rpartition("/")[2] for name in after - before if "commit" not in name)
    assert new == ["log-0000000001-added.arrow", "log-0000000001-removed.arrow", "manifest.json"]
    assert {name for name in before - after if "commit" not in name} == set()
    again = loaded(store).append(MORE)
    assert again.generation == 2
    again.compact()
    assert len({name.partition("/")[0] for name in objects(store) if "commit" not in name}) <= 3
    graph = loaded(store)
    same(
        graph.pagerank().compute(),
        pd.concat([left, MORE, MORE], ignore_index=True).graph().pagerank(),
    )
    EDGES.graph().save(f"{store.url}/saved", storage_options=store.options)
    assert len({name.partition("/")[0] for name in objects(store) if "commit" not in name}) == 1


def test_the_slower_of_two_fails(store):
    EDGES.graph().save(f"{store.url}/saved", storage_options=store.options)
    first, second = loaded(store), loaded(store)
    first.append(MORE)
    with pytest.raises(GraphError, match="load it again"):
        second.append(MORE)
    assert loaded(store).generation == 1
    assert second.degree().compute() is not None
