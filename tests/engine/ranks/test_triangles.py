"""Triangles and edges between neighbours on many ranks against those on one."""

from unittest import mock

from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from small_graphs import small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

FEW_EDGES = "dask_graphgpu.partition.ranks.ghost_rows.FEW_EDGES"


def check(parts):
    for name in ("triangles", "neighbour_arcs"):
        wanted = getattr(cpu, name)(parts.view, Report("one"))
        every = parts.run(lambda share, name=name: getattr(ranks, name)(share, Report("many")))
        assert parts.whole(every).tolist() == wanted.tolist()


def simple(view):
    return View.of(merge_repeats(view.out, "one"), directed=view.directed, user_rank=view.user_rank)


@given(small_graphs(max_edges=90), st.integers(1, 5), st.sampled_from([1, 4, 1 << 16]), st.data())
def test_any_owners(graph, size, few, data):
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    with mock.patch(FEW_EDGES, few):
        check(Cut(simple(graph.view()), owner, size))


def test_rows_come_by_parts():
    """With many owners most rows are elsewhere; no more of them are here than a rank has itself."""
    view, most = simple(rmat(9, 8).view()), []

    def run(share):
        rows = []
        report = Report("triangles")
        with mock.patch.object(report, "advance", lambda *_, **given: rows.append(given["edges"])):
            ranks.triangles(share, report)
        most.append(len(rows))

    with mock.patch(FEW_EDGES, 1):
        cut(view, 8).run(run)
    assert min(most) > 3
