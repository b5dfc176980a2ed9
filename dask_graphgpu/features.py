"""Several methods of one graph in one frame: what is asked, which names columns get, how results come together."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from dask.base import is_dask_collection

from dask_graphgpu.algorithms import ALGORITHMS, Algorithm
from dask_graphgpu.arguments import as_mapping, said
from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.execute import needs_of
from dask_graphgpu.ingest import Needs
from dask_graphgpu.inputs import Input
from dask_graphgpu.io.arrow_frames import taken
from dask_graphgpu.io.naming import own_names
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.signatures import check_call, signature_of

ALLOWED = tuple(name for name, kind in ALGORITHMS.items() if kind.row == "vertex")


@dataclass(frozen=True)
class Feature:
    """A method that is asked for.

    Attributes
    ----------
    method : str
    arguments : dict
        Of the method, ``columns`` among them where names have to differ from the method's own.
    algorithm : Algorithm
        The same, checked.
    names : dict of str to str
        The columns that the method makes, and what they are called in the frame.
    """

    method: str
    arguments: Mapping[str, Any]
    algorithm: Algorithm
    names: Mapping[str, str]


def features_asked(methods: Any, schema: EdgeSchema) -> list[Feature]:
    """The methods that a call of `Graph.features` asks for, with names that tell their columns apart.

    Raises
    ------
    InvalidArgument
        A method is unknown, given twice or does not give a row for each vertex; two columns have one name.
    TypeError
        A method does not take its arguments.
    """
    found = [_feature(name, given, schema) for name, given in _as_pairs(methods)]
    times = Counter(shown for each in found for shown in each.names.values())
    told_apart = [_told_apart(each, times, schema) for each in found]
    shown = Counter(name for each in told_apart for name in each.names.values())
    shown.update(schema.vertex)
    if twice := [name for name, number in shown.items() if number > 1]:
        raise InvalidArgument(
            f"the result would have several columns named {twice[0]!r}: give one of the methods other names with "
            f"columns=, as in {{'pagerank': {{'columns': {{'rank': 'score'}}}}}}"
        )
    return told_apart


def _as_pairs(methods: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    """Names of methods with their arguments."""
    if isinstance(methods, Mapping):
        named = as_mapping("methods", methods, "arguments")
        pairs = [(name, as_mapping(name, given, "arguments")) for name, given in named.items()]
    elif isinstance(methods, Sequence) and not isinstance(methods, str):
        pairs = [(name, {}) for name in methods]
    else:
        raise InvalidArgument(
            f"methods={said(methods)}; give a list of names such as ['pagerank', 'degree'], or a dict of names to "
            "arguments such as {'pagerank': {'damping': 0.9}, 'degree': {}}"
        )
    if not pairs:
        raise InvalidArgument(f"methods={said(methods)}; name at least one of {', '.join(ALLOWED)}")
    names = [name for name, _ in pairs]
    for i, name in enumerate(names):
        if not (isinstance(name, str) and name in ALGORITHMS):
            raise InvalidArgument(
                f"methods: {said(name)} is no method; allowed are {', '.join(ALLOWED)}"
            )
        if name in names[:i]:
            raise InvalidArgument(
                f"methods: {name} is given twice; call it once more with other arguments, and put its columns "
                "beside the rest"
            )
    return pairs


def _feature(method: str, given: dict[str, Any], schema: EdgeSchema) -> Feature:
    kind = ALGORITHMS[method]
    if kind.row != "vertex":
        raise InvalidArgument(
            f"methods: {method} gives a row for each {kind.row}, and features have one for each vertex; allowed "
            f"are {', '.join(ALLOWED)}"
        )
    check_call(method, signature_of(kind), (), given)
    given = {name: taken(value) for name, value in given.items()}  # a stream is read once
    try:
        algorithm = kind(**given)
        if isinstance(getattr(algorithm, "source", None), list) or (
            getattr(algorithm, "target", None) is not None
        ):
            raise InvalidArgument(
                "features have one row for each vertex: give one source, not a list, and no target"
            )
        if getattr(algorithm, "labels", None) is not None:
            raise InvalidArgument(
                "features have one row for each vertex of the graph, and labels= may have others: call the method"
            )
        if getattr(algorithm, "since", None) is not None:
            raise InvalidArgument(
                "features are made of the whole graph: leave start= and since= out, or call the method"
            )
        if getattr(algorithm, "levels", False):
            raise InvalidArgument(
                "features have one row for each vertex, and levels= has one for each level: call the method"
            )
        columns = algorithm.result_columns(schema)
        if algorithm.num_rows(1, schema) != 1:
            raise InvalidArgument(
                "features have one row for each vertex, and with these arguments there are others: call the method"
            )
        names = own_names(columns, schema, method, algorithm.columns)
        # The name of the method's own, where ids are one column.
        if names.pop("vertex", "vertex") != "vertex":
            raise InvalidArgument(
                "the column 'vertex' is that of all methods: leave it out of columns="
            )
    except InvalidArgument as error:
        raise InvalidArgument(f"{method}: {error}") from None
    return Feature(method, given, algorithm, names)


def _told_apart(each: Feature, times: Mapping[str, int], schema: EdgeSchema) -> Feature:
    """The same with the method's name before columns that another method calls alike, unless the user has named it."""
    chosen = each.algorithm.columns or {}
    names = {
        own: f"{each.method}_{shown}" if times[shown] > 1 and own not in chosen else shown
        for own, shown in each.names.items()
    }
    if names == each.names:
        return each
    return dataclasses.replace(each, arguments={**each.arguments, "columns": names}, names=names)


def needs_of_all(found: Sequence[Feature], graph: Input) -> Needs:
    """What all of the methods read of a graph together."""
    needs = [needs_of(each.algorithm, graph) for each in found]
    ways = {each.by for each in needs}
    absent = [each.absent for each in needs if each.absent is not None]
    return Needs(
        weight=any(each.weight for each in needs),
        edge_columns=tuple(dict.fromkeys(c for each in needs for c in each.edge_columns)),
        vertex_columns=tuple(dict.fromkeys(c for each in needs for c in each.vertex_columns)),
        by=ways.pop() if len(ways) == 1 else None,
        tells_apart=any(each.tells_apart for each in needs),
        judged=any(each.judged for each in needs),
        absent=absent[0] if absent else None,
    )


def beside(results: Sequence[Any], found: Sequence[Feature], schema: EdgeSchema) -> Any:
    """One frame of results that have the same rows in the same order; nothing is shuffled."""
    first, *rest = results
    ids, names = list(schema.vertex), [list(each.names.values()) for each in found[1:]]
    if not rest:
        return first
    if not is_dask_collection(first):
        return _beside(first, *rest, ids=ids, names=names)
    meta = _beside(first._meta, *(each._meta for each in rest), ids=ids, names=names)
    return first.map_partitions(
        _beside, *rest, ids=ids, names=names, meta=meta, align_dataframes=False
    )


def _beside(first: Any, *rest: Any, ids: list[str], names: list[list[str]]) -> Any:
    made = first.copy(deep=False)
    for other, columns in zip(rest, names, strict=True):
        ends = [0, -1] if len(other) else []
        if len(other) != len(made) or not (other[ids].iloc[ends].equals(made[ids].iloc[ends])):
            raise GraphError(
                "results of one graph have other rows: its edges have changed between two methods that read them; "
                "persist() the graph first"
            )
        if isinstance(made, pd.DataFrame):  # it warns where many columns come one by one
            made = pd.concat([made, other[columns]], axis=1)
        else:
            made = made.assign(**{name: other[name] for name in columns})
    return made
