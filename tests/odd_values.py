"""Values that a caller may give by mistake where a word, a number, a name or a vertex belongs."""

import datetime
import decimal
import fractions
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa


class Unspeakable:
    """Has no text of its own."""

    def __repr__(self):
        raise RuntimeError("no text")


class Unequal:
    """Cannot be compared, has no truth value and no length."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("not to be compared")

    def __bool__(self):
        raise RuntimeError("no truth value")

    def __len__(self):
        raise RuntimeError("no length")


class Word(str):
    """A text of a class of its own."""


FRAME = pd.DataFrame({"vertex": [0, 1], "p": [0.5, 0.5]})

MAKE = [
    lambda: None,
    lambda: True,
    lambda: False,
    lambda: 0,
    lambda: -1,
    lambda: 1,
    lambda: 2**31,
    lambda: 2**63 - 1,
    lambda: 2**63,
    lambda: -(2**64),
    lambda: 10**400,
    lambda: -(10**5000),
    lambda: 0.0,
    lambda: -0.5,
    lambda: 1e308,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: 1j,
    lambda: decimal.Decimal("0.5"),
    lambda: fractions.Fraction(1, 3),
    lambda: np.float32(0.5),
    lambda: np.int8(-3),
    lambda: np.uint64(2**64 - 1),
    lambda: np.bool_(True),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.str_("auto"),
    lambda: np.array(1),
    lambda: np.array("auto"),
    lambda: np.array([]),
    lambda: np.array([1, 1]),
    lambda: np.array([[0, 1], [1, 0]]),
    lambda: np.array(["auto", "cpu"], dtype=object),
    lambda: np.ma.masked,
    lambda: "",
    lambda: " ",
    lambda: "auto",
    lambda: "src",
    lambda: "\x00",
    lambda: "\ud800",
    lambda: "x" * 10_000,
    lambda: Word("auto"),
    lambda: b"auto",
    lambda: bytearray(b"1"),
    lambda: [],
    lambda: [None],
    lambda: [0],
    lambda: [0, 0],
    lambda: [[0, 1]],
    lambda: ["src", 1],
    lambda: [float("nan")],
    lambda: list(range(1000)),
    lambda: (),
    lambda: (0,),
    lambda: (0, "a"),
    lambda: {},
    lambda: {0: 1},
    lambda: {"rank": "score"},
    lambda: {"rank": 1},
    lambda: {1, 2},
    lambda: frozenset({"src"}),
    lambda: range(2),
    lambda: iter([1]),
    lambda: slice(None),
    lambda: ...,
    lambda: NotImplemented,
    lambda: int,
    lambda: print,
    lambda: lambda: None,
    lambda: np,
    lambda: object(),
    lambda: Unspeakable(),
    lambda: Unequal(),
    lambda: [Unequal()],
    lambda: ValueError("a value"),
    lambda: datetime.datetime(2020, 1, 1),
    lambda: datetime.timedelta(seconds=1),
    lambda: Path("never"),
    lambda: pd.NA,
    lambda: pd.NaT,
    lambda: pd.Timestamp(0),
    lambda: pd.Interval(0, 1),
    lambda: pd.Series([1, 2]),
    lambda: pd.Series([], dtype="object"),
    lambda: pd.Series(["src", "dst"]),
    lambda: pd.Index([0, 1]),
    lambda: pd.Categorical(["auto"]),
    lambda: FRAME,
    lambda: FRAME.iloc[:0],
    lambda: FRAME.rename(columns={"p": "q"}).assign(q="text"),
    lambda: pd.DataFrame(),
    lambda: pd.DataFrame([[0, 1, 2]], columns=["vertex", "p", "p"]),
    lambda: pd.DataFrame([[0, 1]], columns=[("a", "b"), 3]),
    lambda: dd.from_pandas(FRAME, npartitions=2),
    lambda: dd.from_pandas(FRAME, npartitions=2)["p"],
    lambda: da.ones(3),
    lambda: pa.table({"vertex": [0]}),
    lambda: pa.array([0, 1]),
    lambda: pa.scalar(1),
]


def odd(rng):
    """One of them, made anew."""
    return MAKE[rng.randrange(len(MAKE))]()
