"""Folders of object stores with edges in them, and what is to be there afterwards."""

import re

import numpy as np
import pandas as pd

RNG = np.random.default_rng(7)
EDGES = pd.DataFrame({"src": RNG.integers(0, 60, 400), "dst": RNG.integers(0, 60, 400)})
# What there is of a result "out".
RESULT = [r"_out\.graphgpu/commit-\d{20}\.json", r"out/result\.parquet"]


class Here:
    """A folder of a store: its URL, a file system to look into it, and what options are given for it."""

    def __init__(self, url, options, fs):
        self.url, self.options, self.fs = url, options, fs
        for i in range(3):
            part = EDGES[i * 150 : (i + 1) * 150]
            part.to_parquet(f"{url}/edges/{i}.parquet", storage_options=options)

    def names(self, folder=""):
        """All objects in a folder, without its name."""
        self.fs.invalidate_cache()
        root = self.fs._strip_protocol(f"{self.url}/{folder}").rstrip("/") + "/"
        return sorted(name.removeprefix(root) for name in self.fs.find(root))

    @property
    def words(self):
        """The options on a command line."""
        return [f"--storage-options={name}={value}" for name, value in (self.options or {}).items()]


def is_result(store):
    """Whether there is a result "out", and nothing else of it."""
    names, patterns = [name for name in store.names() if "out" in name], RESULT
    return len(names) == len(patterns) and all(map(re.fullmatch, patterns, names))


def same(one, other):
    """Raise unless two results have the same rows, in any order."""
    one, other = (f.sort_values("vertex").reset_index(drop=True) for f in (one, other))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)
