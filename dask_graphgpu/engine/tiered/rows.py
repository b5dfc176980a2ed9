"""Rows on a tier, for kernels that are not a vertex program's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address, to_host
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.fewer_edges import shrinking
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.tiered.disk import cut_of, kinds_of, transfer_of
from dask_graphgpu.engine.tiered.packed import packing_of_rows
from dask_graphgpu.engine.tiered.transfer import AtHand, Go
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

Found = TypeVar("Found")

_THREADS, _PUSHING = 256, 8  # of a block; blocks on a multiprocessor that go along edges


class TieredRows:
    """The rows by source of a view, and kernels over its vertices and over parts of its edges.

    Parameters
    ----------
    view : View
    source : str
        Of the kernels.
    defines : mapping of str to str
        Macros beside the types of ids and offsets.
    cut : Cut
    names : sequence of str
        Columns that kernels read.
    packing : Packing, optional
        How these are in words with the ends of edges.

    Attributes
    ----------
    active : uint8 array of shape (num_vertices,)
        Whose edges are gone along.
    read : uint64 array of shape (1,)
        Edges that were gone along.
    """

    def __init__(
        self,
        view: View,
        source: str,
        defines: Mapping[str, str],
        cut: Cut,
        names: Sequence[str] = (),
        packing: Packing | None = None,
    ) -> None:
        here = DeviceView.of(view)
        self.n, self._on_device = here.n, view.on_device
        tier, transfer = kinds_of(view.out)
        self.tier, self._names = tier(here, view.out, names, cut, packing), names
        self._is_packed = packing is not None
        self.transfer = transfer(self.tier, transfer_of(view.out), here.defines)
        self._module = cuda(source, defines={**here.defines, **defines})
        self.active = cupy.empty(self.n, np.uint8)
        self.read = cupy.zeros(1, np.uint64)

    @classmethod
    def run(
        cls,
        view: View,
        source: str,
        defines: Mapping[str, str],
        vertex: int,
        what: str,
        report: Report,
        work: Callable[[TieredRows], Found],
        names: Sequence[str] = (),
        *,
        buffers: bool = True,
        packs: bool = False,
    ) -> Found:
        """Do some work with as many edges on the device as may be there, and get there.

        Parameters
        ----------
        view, source, defines, names
            See the class.
        vertex : int
            Bytes of a vertex that the kernels take on the device.
        what : str
            For which a limit may be too small.
        report : Report
            Gets what was moved.
        work : callable
            Is given the rows, and begins anew if the device's memory is short.
        buffers : bool
            Whether there is to be room to bring edges to; kernels read them where they lie else.
        packs : bool
            Whether kernels take an edge and its weight, the only column, in one word: weights_of_part.cuh.

        Raises
        ------
        LimitTooSmall
            What belongs to vertices needs more than ``graphgpu.device-memory-limit``.
        """
        n, ids = view.num_vertices, view.out.neighbours.itemsize
        # Rows of the graph and twice those of its active part, a list, and flags.
        vertex += 3 * DeviceView.of(view).offset_dtype.itemsize + ids + 1
        size, what = (n + 1) * vertex, f"{what} of {n:,} vertices"
        kinds, packing = {name: view.out.columns[name].dtype for name in names}, None
        edge = ids + sum(kind.itemsize for kind in kinds.values())
        if packs and names:
            packing = packing_of_rows(DeviceView.of(view), view.out, kinds)
        if packing is not None:
            edge, (weight,) = packing.word.itemsize, packing.columns
            defines = {**defines, **packing.macros, "WEIGHT_IN(word)": weight.value("word")}
        cut = cut_of(view.out, edge, size, what)

        def attempt(cut: Cut) -> Found:
            rows = cls(
                view, source, defines, cut if buffers else cut.without_buffers(), names, packing
            )
            try:
                found = work(rows)
            finally:
                rows.transfer.close()
            rows.transfer.tell(report)
            return found

        return shrinking(cut, report, attempt)

    def over_vertices(self, name: str, *given: Any, alone: int = 0, shared: bool = False) -> None:
        """Launch a kernel with a thread a vertex.

        ``alone``: as one block of so many. ``shared``: with no more than the GPU holds at once, about.
        """
        kernel = self._module.kernel(name)
        if alone:
            launch.flat(kernel, alone, given, threads=alone)
        elif shared:
            most = launch.num_multiprocessors() * _PUSHING * _THREADS
            launch.flat(kernel, min(self.n, most), given, threads=_THREADS)
        else:
            launch.flat(kernel, self.n, given)

    def together(self, name: str, *given: Any) -> None:
        """Launch a kernel whose blocks wait for each other: one on a multiprocessor, as more wait longer."""
        kernel = self._module.kernel(name)
        launch.cooperative(kernel, given, threads=_THREADS, blocks_per_sm=1)

    def to_caller(self, array: Any) -> Any:
        """A result where the view has its arrays, as of `DeviceView`."""
        return array if self._on_device else to_host(array, self.tier.kept)

    def along(self, name: str, *given: Any) -> Go:
        """What launches a kernel over a part of the edges, for `Transfer.superstep`.

        It is given the part, where edge 0 of each column would be, 0 where edges are words, and ``given``.
        """
        kernel, most = self._module.kernel(name), launch.num_multiprocessors() * _PUSHING

        def go(edges: AtHand) -> None:
            begins, lo, hi = edges.begins, edges.lo, edges.hi
            neighbours = address(begins["neighbours"])
            part = launch.struct([edges.offsets, neighbours, self.n, lo, hi, self.active])
            blocks = min(most, -(-(hi - lo) // _THREADS))
            columns = [
                np.uint64(0 if self._is_packed else address(begins[name])) for name in self._names
            ]
            launch.flat(kernel, blocks * _THREADS, (part, *columns, *given), threads=_THREADS)

        return go
