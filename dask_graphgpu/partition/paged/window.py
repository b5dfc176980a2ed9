"""A pass over arrays on disk: pages come into a ring of memory ahead of it, and are overwritten behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import at_most, for_blocks, num_threads
from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.held_array import HeldArray
from dask_graphgpu.partition.paged.limits import AT_ONCE

# The part of the time of those that work in a pass that they wait for a disk which is not the bound.
_LITTLE = 0.1


class Window:
    """Arrays of one length, of which a few pages at a time are in memory.

    An edge is at its own index, so kernels work on them as on arrays in memory, within what a pass
    has brought in.

    Parameters
    ----------
    arrays : mapping of str to PagedArray
    stays : bool
        Whether memory for pages stays for the next pass, until `release`: the system takes milliseconds
        to fill new memory with zeros, while the disk waits.
    memory : callable
        Pins some bytes of memory for pages, from which a device copies them, and which are left to other windows over
        the graph's edges. Default: `aligned`, whose are not.

    Attributes
    ----------
    read_bytes : int
        From disk so far.
    waited : float
        Seconds in which whoever asked for spans waited for the disk.
    """

    def __init__(
        self,
        arrays: Mapping[str, PagedArray],
        *,
        stays: bool = False,
        memory: Callable[[int], np.ndarray] | None = None,
    ) -> None:
        self._stays, self.waited = stays, 0.0
        self._held = {name: HeldArray(array, memory) for name, array in arrays.items()}
        self._took: dict[int, float] = {}  # seconds of an element, by threads that work on a span
        self._hurries = False
        self._spare = next(iter(arrays.values())).folder.spare

    @property
    def read_bytes(self) -> int:
        return sum(held.read_bytes for held in self._held.values())

    def over(self, spans: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
        """Go over the arrays: one span after the other is in memory.

        Parameters
        ----------
        spans : int64, shape (n, 2)
            First element and the one after the last; both columns ascend.

        Yields
        ------
        dict of str to array
            Each has the length of the whole. Only the elements of the span may be touched, and only
            until the next span is asked for: what would be the others' memory is anything's.

        Raises
        ------
        SpillError
            A page cannot be read, or is not what was written.
        """
        if not len(spans):
            return
        with self.passing(spans, 1):
            for i in range(len(spans)):
                with self._brought(i) as held:
                    yield held

    def each(
        self, spans: np.ndarray, work: Callable[[int, dict[str, np.ndarray]], Any]
    ) -> list[Any]:
        """What ``work(i, arrays)`` gives for each span ``i``, in order; some are worked on at once.

        Parameters and errors are those of `over`, and what ``work`` raises. It is called from
        several threads, with a fair part of them to use.
        """
        threads = num_threads()
        at_once = max(min(threads, AT_ONCE, len(spans)), 1)
        share = self._share(threads // at_once) if at_once > 1 else threads

        def one(i: int, _: int) -> Any:
            with at_most(share), self._brought(i) as held:
                return work(i, held)

        began, waited = time.perf_counter(), self.waited
        with self.passing(spans, at_once), at_most(at_once):
            found = for_blocks(one, np.arange(len(spans) + 1))
        took, waited = time.perf_counter() - began, self.waited - waited
        if at_once > 1:
            size = max(int((spans[:, 1] - spans[:, 0]).sum()), 1)
            self._took[share] = took / size
            self._hurries |= waited < _LITTLE * at_once * took
        return found

    def _share(self, most: int) -> int:
        """Threads that work on a span: one, unless work was what a pass took and more of them were no slower."""
        if not self._hurries or most not in self._took:
            return most if self._hurries else 1
        return min(1, most, key=lambda share: self._took.get(share, np.inf))

    @contextmanager
    def passing(self, spans: np.ndarray, at_once: int, *, whole: bool = False) -> Iterator[None]:
        """A pass in which spans are asked for one by one, from several threads, each in ascending order.

        Parameters
        ----------
        spans : as of `over`
        at_once : int
            Spans that are worked on at a time.
        whole : bool
            Also where they have many pages; else there is room for one of these.
        """
        left = [] if self._has_memory else self._spare.take()
        try:
            for held in self._held.values():
                held.begin(spans, at_once, left, whole=whole)
            left.clear()
            yield
        finally:
            for held in self._held.values():
                held.end()
            if not self._stays:
                self.release()

    def has(self, i: int) -> bool:
        """Whether span ``i`` of a pass is there, so that `bring` does not wait."""
        return all(held.has(i) for held in self._held.values())

    def bring(self, i: int) -> dict[str, np.ndarray]:
        """Span ``i`` of a pass, until `leave`; errors are those of `over`."""
        began = time.perf_counter()
        try:
            return {name: held.bring(i) for name, held in self._held.items()}
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            self.waited += time.perf_counter() - began

    def leave(self, i: int) -> None:
        """Span ``i`` is not needed any more."""
        for held in self._held.values():
            held.leave(i)

    def fail(self, error: BaseException) -> None:
        """End a pass: nothing is read any more, and whoever waits gets the error."""
        for held in self._held.values():
            held.fail(error)

    def release(self) -> None:
        """Give back the memory, between passes."""
        if self._has_memory:
            self._spare.leave([each for held in self._held.values() for each in held.release()])

    @property
    def _has_memory(self) -> bool:
        return any(held.has_memory for held in self._held.values())

    @contextmanager
    def _brought(self, i: int) -> Iterator[dict[str, np.ndarray]]:
        try:
            yield self.bring(i)
            self.leave(i)
        except GeneratorExit:
            # It would refer, by its frames, to who keeps it here, and so to all pages.
            self.fail(RuntimeError("the pass has ended"))
            raise
        except BaseException as error:  # others may wait for what is not read any more
            self.fail(error)
            raise


def even_spans(cuts: np.ndarray) -> np.ndarray:
    """Spans between neighbouring cuts, shape (len(cuts) - 1, 2)."""
    return np.array(list(pairwise(cuts.tolist())), np.int64).reshape(-1, 2)
