"""Components that come together edge by edge, the largest weight first, and stay small.

Encoding
--------
low, high, weight : edges of a forest in falling order of their weights; ends are places in the order of the user's ids.
whole : trees over places of the components, however large; a root is the smallest place of its tree.
size : of each root of these, the places in its tree.
cluster : the same trees, of which none gets larger than is allowed.
weakest, joined : of each root of these, the least weight within, and whether there is an edge within.
"""

from dask_graphgpu.kernels.compile import jit


@jit(inline="always")
def _root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@jit
def unite_small(lo, hi, low, high, weight, most, whole, size, cluster, weakest, joined):
    """Join the ends of the edges lo..hi unless more than ``most`` vertices would come together. One thread.

    Edges of one weight join all together or, in a component that becomes too large by them, not at all.
    """
    first = lo
    while first < hi:
        end = first
        while end < hi and weight[end] == weight[first]:
            a, b = _root(whole, low[end]), _root(whole, high[end])
            root = min(a, b)
            whole[max(a, b)] = root
            size[root] = size[a] + size[b]
            end += 1
        for i in range(first, end):
            if size[_root(whole, low[i])] <= most:
                a, b = _root(cluster, low[i]), _root(cluster, high[i])
                root = min(a, b)
                cluster[max(a, b)] = root
                weakest[root] = weight[i]
                joined[root] = True
        first = end
