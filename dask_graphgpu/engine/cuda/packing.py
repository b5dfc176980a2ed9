"""An edge and what it carries in one word, so that fewer bytes go over a link, and a short row is read at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.kernels.cpu.packing import put_ids, put_numbers, whole_ends
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency

_MASK = 2**64 - 1
_LARGE = 2.0**62  # what floats are below that go by way of an integer


@dataclass(frozen=True)
class PackedColumn:
    """Some bits of a word: a whole number less the least one there is, or all bits of a value.

    Attributes
    ----------
    name : str
    dtype : dtype
        As the column is given.
    shift, bits : int
        The lowest bit in a word, and how many there are.
    whole : bool
        Whether these are numbers: integers, or floats that are whole.
    least : int
        0 if they are not.
    """

    name: str
    dtype: np.dtype[Any]
    shift: int
    bits: int
    whole: bool
    least: int

    def value(self, word: str) -> str:
        """C++ of the value in a word, in the column's own type."""
        bits = f"((uint64){word} >> {self.shift} & {(1 << self.bits) - 1}ull)"
        kind = c_type(self.dtype)
        if not self.whole:
            return f"bits_as<{kind}>((uint{8 * self.dtype.itemsize}){bits})"
        number = f"({bits} + {self.least & _MASK}ull)"
        return f"({kind})(int64){number}" if self.dtype.kind == "f" else f"({kind}){number}"

    def put(self, words: np.ndarray, column: np.ndarray) -> None:
        """Put values into words in which these bits are 0, by all threads."""
        given = column if self.whole else column.view(f"u{self.dtype.itemsize}")
        least, shift = np.uint64(self.least & _MASK), np.uint64(self.shift)
        for_blocks(put_numbers, even_blocks(len(words)), given, least, shift, words)


@dataclass(frozen=True)
class Packing:
    """How the words of all edges are made up: the other end in the lowest bits, columns above.

    Attributes
    ----------
    word : dtype
        uint32 or uint64.
    id_bits : int
    columns : tuple of PackedColumn
    """

    word: np.dtype[Any]
    id_bits: int
    columns: tuple[PackedColumn, ...]

    @classmethod
    def of(
        cls,
        num_vertices: int,
        ids: np.dtype[Any],
        columns: Mapping[str, np.dtype[Any]],
        ranges: Mapping[str, tuple[int, int]],
    ) -> Packing | None:
        """Words for columns of these types; None where there are none, or words would be larger.

        Parameters
        ----------
        num_vertices : int
            Ids are less.
        ids : dtype
            Of ids outside of words.
        columns : dict of str to dtype
        ranges : dict of str to (int, int)
            The least and the largest value of each column of whole numbers.
        """
        id_bits = shift = max(1, (num_vertices - 1).bit_length())
        packed = []
        for name, dtype in columns.items():
            least, bits = 0, 1 if dtype.kind == "b" else 8 * dtype.itemsize
            lowest, largest = ranges.get(name, (0, _MASK))
            spanned = max(1, (largest - lowest).bit_length())
            # Whole floats may be further apart than their own bits go.
            whole = name in ranges and spanned <= bits
            if whole:
                least, bits = lowest, spanned
            packed.append(PackedColumn(name, dtype, shift, bits, whole, least))
            shift += bits
        word = np.dtype(np.uint32 if shift <= 32 else np.uint64)
        apart = ids.itemsize + sum(dtype.itemsize for dtype in columns.values())
        if not columns or shift > 64 or word.itemsize > apart:
            return None
        return cls(word, id_bits, tuple(packed))

    @property
    def macros(self) -> dict[str, str]:
        """Of kernels; see program.cuh."""
        return {"PACKED": str(self.id_bits), "WORD": c_type(self.word)}

    @property
    def bits(self) -> int:
        """Of a word, that are used."""
        return max(self.id_bits, *(column.shift + column.bits for column in self.columns))

    def put(self, words: np.ndarray, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        """Make words of edges, by all threads."""
        for_blocks(put_ids, even_blocks(len(words)), ids, words)
        for column in self.columns:
            column.put(words, columns[column.name])


def word_bytes(num_vertices: int, rows: Adjacency) -> int | None:
    """Bytes of an edge of these rows with all that it carries, if it can be one word; it looks at all columns."""
    found = {name: whole_range(column) for name, column in rows.columns.items()}
    ranges = {name: ends for name, ends in found.items() if ends is not None}
    kinds = {name: column.dtype for name, column in rows.columns.items()}
    made = Packing.of(num_vertices, rows.neighbours.dtype, kinds, ranges)
    return None if made is None else made.word.itemsize


def whole_range(column: np.ndarray) -> tuple[int, int] | None:
    """The least and the largest value, (0, 0) of none; None: not all are integers, or floats that come back of them."""
    if column.dtype.kind == "b":
        return None
    if not len(column):
        return 0, 0
    blocks = even_blocks(len(column))
    if column.dtype.kind == "f":
        found = for_blocks(whole_ends, blocks, column, _LARGE)
        if not all(whole for whole, _, _ in found):
            return None
        ends = [(least, largest) for _, least, largest in found]
    else:
        ends = for_blocks(_ends, blocks, column)
    return min(int(least) for least, _ in ends), max(int(most) for _, most in ends)


def _ends(lo: int, hi: int, column: np.ndarray) -> tuple[Any, Any]:
    part = column[lo:hi]
    return part.min(), part.max()
