"""Where edges, shares and results lie, when work is done, and when memory is given back."""

import gc
import time

import cluster_cases as cases
import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from distributed import wait
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.cluster import placement
from dask_graphgpu.cluster.holdings import held
from dask_graphgpu.cluster.parcels import Parcel, deal
from dask_graphgpu.cluster.work import deal_rows
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.io import parquet

WORKERS = 3


def edges(n=1000, m=4000):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"src": rng.integers(0, n, m), "dst": rng.integers(0, n, m)})
    return frame.assign(weight=rng.integers(1, 9, m), note="text")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("edges")
    for i, part in enumerate(np.array_split(np.arange(4000), 4)):
        edges().iloc[part].to_parquet(path / f"{i}.parquet", row_group_size=150, index=False)
    return path


def wait_until_nothing_is_held(client):
    gc.collect()  # errors of earlier tests refer to frames that refer to graphs
    until = time.monotonic() + 10
    while sum(client.run(held).values()):
        assert time.monotonic() < until, client.run(held)
        time.sleep(0.1)


# Where things lie


@pytest.mark.parametrize("partitions", [1, 2, 3, 7])
def test_partitions_lie_where_ranks_made_them(client, partitions):
    workers = cases.addresses(client)
    result = partitioned(edges(), partitions).graph(ranks=3).pagerank().persist()
    wait(result)
    where = client.who_has(result)
    assert len(where) == partitions
    for (*_, i), holders in where.items():
        assert holders == (workers[i * 3 // partitions],)
    frames = [part.compute() for part in result.to_delayed()]
    sizes = [len(frame) for frame in frames]
    assert max(sizes) - min(sizes) <= 1
    assert pd.concat(frames)["vertex"].is_monotonic_increasing


def test_some_partitions_only(client):
    result = partitioned(edges(), 6).graph(ranks=3).degree()
    whole = result.compute()
    assert result.partitions[4:].compute()["vertex"].tolist() == whole["vertex"].tolist()[-len(
        result.partitions[4:].compute()) :]  # fmt: skip
    assert result.head(3)["vertex"].tolist() == whole["vertex"].tolist()[:3]


def test_partitions_can_be_taken_elsewhere(client):
    workers = cases.addresses(client)
    result = partitioned(edges(), 3).graph(ranks=3).degree()
    future = client.compute(result, workers=[workers[1]], allow_other_workers=False)
    pd.testing.assert_frame_equal(future.result(30), result.compute())


def in_memory(dask_worker):
    """Keys of what a worker has as results of a graph's methods."""
    return sorted(str(key) for key in dask_worker.data if "dask-graphgpu-degree" in str(key))


def test_partitions_of_one_rank_are_handed_in(client):
    """They lie where the graph does, whichever of them is asked for, and nothing else stays."""
    graph = partitioned(edges(), 4).graph(ranks=1).persist()
    wait(graph._input.held)
    (home,) = client.who_has(graph._input.held)[graph._input.held.key]
    wanted = edges().graph(ranks=1).degree()
    for asked in ([0, 1, 2, 3], [2], [3, 0]):
        result = graph.degree()
        parts = [result.partitions[i] for i in asked]
        kept = client.persist(parts)
        wait(kept)
        for i, part in zip(asked, kept, strict=True):
            assert set(client.who_has(part).values()) == {(home,)}
            rows = slice(i * len(wanted) // 4, (i + 1) * len(wanted) // 4)
            expected = wanted.iloc[rows]
            pd.testing.assert_frame_equal(part.compute(), expected)
        until = time.monotonic() + 20
        while sum(map(len, client.run(in_memory).values())) > 2 * len(asked):
            assert time.monotonic() < until, client.run(in_memory)
            time.sleep(0.05)
        del result, parts, kept, part
        gc.collect()
        while any(client.run(in_memory).values()):
            assert time.monotonic() < until, client.run(in_memory)
            time.sleep(0.05)
    plugins = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    assert not [name for name in plugins if "dask-graphgpu-handed-in" in name]


def test_a_method_that_fails_on_one_rank_hands_nothing_in(client):
    graph = partitioned(edges(), 4).graph(ranks=1).persist()
    with pytest.raises(errors.UnknownVertex, match="not a vertex"):
        graph.bfs(10**6).compute()
    pd.testing.assert_frame_equal(graph.degree().compute(), edges().graph(ranks=1).degree())


def test_edges_do_not_pass_through_the_task_that_leads(client):
    client.run(sent_by_dask)
    frame = partitioned(edges(m=90_000), 9)
    graph = frame.graph(ranks=3).persist()
    plan = graph.explain()
    # Dask sends tasks' results: here parcels, where the chunks are half a megabyte.
    assert sum(client.run(sent_by_dask).values()) < 50_000
    assert (plan.rows, plan.vertices) == (90_000, 1000)
    assert [share.where for share in plan.shares] == sorted(client.run(held))
    assert sum(share.vertices for share in plan.shares) == 1000
    assert sum(share.edges for share in plan.shares) == 2 * 90_000
    assert all(share.border > 0 for share in plan.shares)
    assert str(plan).count(" edges of ") == 3


def sent_by_dask(dask_worker):
    sent = sum(each["total"] for each in dask_worker.transfer_outgoing_log)
    dask_worker.transfer_outgoing_log.clear()
    return sent


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_row_groups_are_dealt_evenly(folder, size):
    found = parquet.pieces(dd.read_parquet(folder))
    dealt = run_local(size, lambda ranks: deal_rows(ranks, found))
    rows = [parquet.num_rows(pieces) for pieces, _ in dealt]
    assert rows == [number for _, number in dealt]
    assert sum(rows) == 4000
    assert max(rows) - min(rows) <= 2 * 150
    groups = [(p.path, g) for pieces, _ in dealt for p in pieces for g in p.row_groups]
    assert groups == sorted(groups)
    assert len(set(groups)) == len(groups) == 4 * 7


def test_chunks_are_dealt_to_where_they_lie_and_the_rest_evenly():
    lying = [Parcel(worker, str(i), 10) for i, worker in enumerate("aabacd")]
    dealt = deal(lying, ["a", "b"])
    assert [parcel.worker for parcel in dealt[0]] == ["a", "a", "a"]
    assert [parcel.worker for parcel in dealt[1]] == ["b", "c", "d"]
    chunks = [list(range(n)) for n in (5, 1, 1, 1, 4)]
    assert deal(chunks, [None, None]) == [chunks[:2], chunks[2:]]
    assert deal([], [None] * 3) == [[], [], []]
    assert deal(chunks[:1], [None] * 3) == [chunks[:1], [], []]


# When work is done


def test_a_call_does_no_work(client, folder, monkeypatch):
    read = []
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *a, **k: read.append(a))
    for frame in (dd.read_parquet(folder), partitioned(edges(), 3)):
        graph = frame.graph(ranks=3)
        result = graph.sssp(0, predecessor=True)
        assert result.columns.tolist() == ["vertex", "distance", "predecessor"]
        result[["vertex"]].rename(columns=str.upper)
        graph.explain()
    assert not read
    mine = {str(key) for key in result.dask}
    assert not mine & set(client.run_on_scheduler(cases.task_names))


def test_equal_calls_share_their_work(client):
    graph = partitioned(edges(), 3).graph(ranks=3)
    keys = [set(graph.sssp(0).dask) for _ in range(2)]
    assert keys[0] == keys[1]
    other = set(graph.sssp(1).dask)
    shared = {key for key in keys[0] & other if "build" in str(key)}
    assert len(shared) == 1
    with_weights, without = set(graph.sssp(0).dask), set(graph.bfs(0).dask)
    assert not {key for key in with_weights & without if "build" in str(key)}


def test_results_computed_together_share_one_build(client, folder):
    built = []
    client.subscribe_topic("test-builds", lambda event: built.append(event))
    client.run(spy_on_builds)
    graph = dd.read_parquet(folder).graph(ranks=3, weight=None)
    one = edges().graph(ranks=1, weight=None)
    of_rows = dask.compute(graph.bfs(0), graph.degree(), graph.core_number())
    assert len(client.get_events("test-builds")) == 3  # one a rank
    of_edges = dask.compute(*[graph.weakly_connected_components()] * 2)
    client.run(unspy)
    wanted = one.bfs(0), one.degree(), one.core_number(), *[one.weakly_connected_components()] * 2
    for found, expected in zip((*of_rows, *of_edges), wanted, strict=True):
        assert found.to_dict("list") == expected.to_dict("list")
    assert len(client.get_events("test-builds")) == 6  # what reads no rows is built without them
    wait_until_nothing_is_held(client)


def spy_on_builds():
    from distributed import get_worker

    from dask_graphgpu.cluster import tasks

    build = tasks.build_share

    def spied(*args):
        get_worker().log_event("test-builds", 1)
        return build(*args)

    spied.was = build
    tasks.build_share = spied


def unspy():
    from dask_graphgpu.cluster import tasks

    tasks.build_share = tasks.build_share.was


def test_only_columns_that_are_needed_travel(client):
    frame = partitioned(edges(), 2)
    tasks = str(frame.graph(ranks=3).bfs(0).optimize().dask)
    assert "note" not in tasks


# When memory is given back


def test_shares_go_with_the_last_reference(client):
    graph = partitioned(edges(), 3).graph(ranks=3).persist()
    results = [graph.degree().persist(), graph.bfs(0)]
    wait(results[0])
    assert sum(client.run(held).values()) >= 3
    found = results[1].compute()
    del graph
    time.sleep(3)
    assert sum(client.run(held).values()) == 3  # the lazy result still refers to it
    pd.testing.assert_frame_equal(results[1].compute(), found)
    results.clear()
    wait_until_nothing_is_held(client)


def test_a_build_that_fails_leaves_nothing(client):
    bad = partitioned(edges().assign(weight=-1), 3).graph(ranks=3)
    with pytest.raises(errors.InvalidEdges, match="negative"):
        bad.sssp(0).compute()

    def wrong(numbers, degrees, ranks):
        return numbers * 0 + ranks

    with pytest.raises(errors.InvalidArgument, match="partitioner") as caught:
        partitioned(edges(), 3).graph(ranks=3, partitioner=wrong).degree().compute()
    assert any("raised by rank" in note for note in caught.value.__notes__)
    with pytest.raises(errors.UnknownVertex, match="5000 is not a vertex"):
        partitioned(edges(), 3).graph(ranks=3).bfs(5000).compute()
    wait_until_nothing_is_held(client)
    assert client.run_on_scheduler(cases.lock_state) == []


def test_a_run_after_one_that_failed_on_a_persisted_graph(client):
    graph = partitioned(edges(), 3).graph(ranks=3).persist()
    program = dg.VertexProgram(
        state={"x": dg.Field("int64", initial=lambda id: 2**61 + id)},  # noqa: A006
        compute=lambda source_x: source_x * 3,
        combine="sum",
    )
    wanted = edges().graph(ranks=1).sssp(0)
    for _ in range(2):
        with pytest.raises(errors.IntegerOverflow):
            graph.run(program, max_supersteps=3).compute()
        assert graph.sssp(0).compute().to_dict("list") == wanted.to_dict("list")


def test_a_graph_that_was_never_computed_leaves_nothing(client):
    wait_until_nothing_is_held(client)
    partitioned(edges(), 3).graph(ranks=3).degree()
    assert sum(client.run(held).values()) == 0


# How many ranks


def test_workers_are_counted_while_the_client_looks_at_the_cluster(client, monkeypatch):
    """Its own looks, every two seconds, are without workers, and overwrite what it had found."""
    update = client._update_scheduler_info

    async def looked_again(n_workers=0):
        await update(n_workers)
        await update()

    monkeypatch.setattr(client, "_update_scheduler_info", looked_again)
    assert placement.num_workers() == 3


def test_auto_is_one_rank_for_what_fits_a_worker(client, folder, monkeypatch):
    graph = dd.read_parquet(folder).graph()
    assert graph.explain().ranks == 1
    monkeypatch.setattr(placement, "_NEED", 10**9)
    plan = graph.explain()
    assert plan.ranks == 3
    assert "half of a worker's memory" in str(plan)
    found = graph.degree()
    assert any("dask-graphgpu-build" in str(key) for key in found.dask)
    assert found.compute().to_dict("list") == edges().graph(ranks=1).degree().to_dict("list")
    # Nobody can tell how large this is before it is computed.
    assert partitioned(edges(), 3).graph().explain().ranks == 1
    assert dd.read_parquet(folder).graph(ranks=1).explain().ranks == 1


def test_settings(client):
    with dask.config.set({"graphgpu.ranks": 2, "graphgpu.partitioner": "random"}):
        graph = partitioned(edges(), 3).graph()
        assert graph.explain().ranks == 2
        assert edges().graph(engine="interpreted").explain().ranks == 1
        assert partitioned(edges(), 3).graph(ranks=3).persist(ranks=2).explain().ranks == 2
        kept = graph.persist(ranks=3)
        assert kept.explain().ranks == 3
        with pytest.raises(errors.InvalidArgument, match="built on several ranks"):
            kept.persist(ranks=2)
    for ranks in (0, -1, 1.5, "two", True, None):
        with pytest.raises(errors.InvalidArgument, match="allowed are 'auto' and whole numbers"):
            edges().graph(ranks=ranks)
    with pytest.raises(errors.InvalidArgument, match="partitioner='fair'; allowed are 'balanced'"):
        edges().graph(partitioner="fair")
    with pytest.raises(errors.EngineUnavailable, match="runs on one rank"):
        edges().graph(ranks=2, engine="interpreted").pagerank()


def test_saved_is_a_graph_of_one_rank(client, tmp_path):
    graph = partitioned(edges(), 3).graph(ranks=3)
    saved = dg.load(graph.save(tmp_path / "graph"))
    assert saved.explain().ranks == 1
    assert saved.degree().compute().to_dict("list") == graph.degree().compute().to_dict("list")
    with pytest.raises(errors.InvalidArgument, match="several ranks"):
        graph.persist().save(tmp_path / "other")
    with pytest.raises(errors.InvalidArgument, match="built on one rank"):
        saved.persist(ranks=2)


def test_frames_in_this_process_run_on_its_threads(client):
    found = edges().graph(ranks=2).degree()
    assert isinstance(found, pd.DataFrame)
    assert found.to_dict("list") == edges().graph(ranks=1).degree().to_dict("list")
    lazy = partitioned(edges(), 3).graph(ranks=2).degree()
    assert lazy.compute(scheduler="threads").to_dict("list") == found.to_dict("list")


def test_chunks_that_a_run_has_taken_are_made_again(client):
    """As when the task that leads a build is run again, and the parcels of its chunks are still there."""
    frame = partitioned(edges(), 4)
    wanted = edges().graph(ranks=1).degree()
    client.run(take_chunks_away, 1)
    found = frame.graph(ranks=3).degree().compute()
    assert sum(client.run(take_chunks_away, 0).values()) > 0
    assert found.to_dict("list") == wanted.to_dict("list")


def take_chunks_away(times):
    """Have chunks gone that are asked for, so many times; how many that were, before."""
    from dask_graphgpu.cluster import tasks
    from dask_graphgpu.cluster.parcels import ChunksGone

    collect = getattr(tasks.collect, "was", tasks.collect)
    gone = getattr(tasks.collect, "gone", [])

    def spied(parcels, idle_timeout):
        if parcels and len(spied.gone) < times:
            spied.gone.append(parcels)
            collect(parcels, idle_timeout)
            raise ChunksGone("taken before")
        return collect(parcels, idle_timeout)

    spied.was, spied.gone = collect, []
    tasks.collect = spied if times else collect
    return len(gone)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_graph_kept_on_a_cluster_that_is_gone_is_no_matter_to_its_frame(ranks):
    graph = partitioned(edges(), 2).graph(ranks=ranks)
    with cases.started(2):
        kept = graph.persist().sssp(0)
        wanted = kept.compute()
    with cases.started(2):
        pd.testing.assert_frame_equal(graph.sssp(0).compute(), wanted)
    pd.testing.assert_frame_equal(graph.sssp(0).compute(), wanted)
    assert kept.columns.tolist() == wanted.columns.tolist()  # it was held all the time


@pytest.mark.parametrize("ranks", [1, 3])
def test_several_methods_in_one_frame(client, folder, ranks):
    asked = ["pagerank", "degree", "weakly_connected_components"]
    found = dd.read_parquet(folder).graph(ranks=ranks).features(asked)
    wanted = edges().graph(ranks=1).features(asked)
    pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), wanted, check_dtype=False)
