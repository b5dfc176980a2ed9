"""Generated kernels of monotone programs over edges by layers.

A vertex is stamped with the pass in which its value has last improved, and a layer with its last
pass: those stamped since then send. A layer is dirty when one of its vertices has to.
"""

from __future__ import annotations

from dask_graphgpu.engine.in_place_kernels import improve
from dask_graphgpu.engine.writer import Writer, indented

_THEN = ["stamp[v] = now", "dirty[level[v]] = 1"]


def write_layered(writer: Writer) -> None:
    """``layers``: a pass over each dirty layer of some, one after another, by one thread.

    Counts: the last pass, edges read, passes.

    ``layer_block``: a part of the pass ``now`` over one layer, by several threads.
    """
    edge = """\
u = sources[e]
if stamp[u] < since: continue
"""
    body = f"""\
now = counts[0]
for layer in range(first_layer, last_layer):
    if dirty[layer] == 0: continue
    dirty[layer] = 0
    now += 1
    since = passed[layer]
    passed[layer] = now
    counts[1] += starts[layer + 1] - starts[layer]
    counts[2] += 1
    for e in range(np.uint64(starts[layer]), np.uint64(starts[layer + 1])):
{indented(edge + improve(writer, then=_THEN, fail="return 1", atomic=False), 8)}
counts[0] = now
return 0"""
    lists = "starts, dirty, passed, level, stamp, late, counts, cutoff, sources, neighbours"
    writer.kernel("layers", f"first_layer, last_layer, {lists}", body)
    body = f"""\
bad = 0
for e in range(np.uint64(lo), np.uint64(hi)):
{indented(edge + improve(writer, then=_THEN, fail="return 1", atomic=True), 4)}
return bad"""
    fixed = "lo, hi, now, since, dirty, level, stamp, late, cutoff, sources, neighbours"
    writer.kernel("layer_block", fixed, body)
