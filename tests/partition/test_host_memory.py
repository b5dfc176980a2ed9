"""Memory that is freed stays while ranks are at work, where else it would go back to the system at once."""

import json
import os
import subprocess
import sys

import pytest

FAULTS = """
import json, resource
import numpy as np
from dask_graphgpu.partition.host_memory import kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.full(1 << 20, 1, np.uint8)  # too small for large pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
found = [faults()]
with kept():
    faults()
    with kept():
        pass
    found.append(faults())
print(json.dumps([*found, faults()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_what_is_freed_is_used_again_inside_and_only_there():
    done = subprocess.run(
        [sys.executable, "-c", FAULTS],
        env=os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, inside, behind = json.loads(done.stdout)
    assert inside < 1000  # the pages of one array, which had gone at the end of the inner one
    assert before > 5000
    assert behind > 5000
