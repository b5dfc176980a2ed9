"""Run NetworkX's own tests through our backend, and see that every function reached it.

    python tests/networkx_own_tests.py [part ...]

Parts are packages and modules below ``networkx.algorithms``; without any it runs all that have
functions of ours. What the backend does not run NetworkX computes itself, so passing alone would say
little: at the end stands how often each function was called here, and of a full run one that never
was is a failure.
"""

import os
import sys
import tempfile

import pytest

PARTS = (
    "shortest_paths",
    "link_analysis",
    "components",
    "traversal",
    "centrality",
    "community",
    "tree.tests.test_mst::TestKruskal",
    "tree.tests.test_recognition",
    "assortativity",
    "bipartite.tests.test_basic",
    *(
        f"tests.test_{part}"
        for part in (
            "bridges",
            "cluster",
            "core",
            "cycles::TestCycleEnumeration",
            "dag",
            "distance_measures::TestBarycenter",
            *(
                f"distance_measures::TestDistance::test_{name}"  # others take minutes
                for name in ("eccentricity", "diameter", "radius", "periphery", "center")
            ),
            "efficiency",
            "euler",
            "isolate",
            "link_prediction",
            "reciprocity",
            "regular",
            "smetric",
            "triads",
            "wiener",
        )
    ),
)


def main(parts):
    """Exit code: 0 when all tests passed and, of a full run, every function was called."""
    os.environ |= {"NETWORKX_TEST_BACKEND": "graphgpu", "NETWORKX_FALLBACK_TO_NX": "True"}
    with tempfile.TemporaryDirectory() as folder:  # away from our own settings of pytest
        os.chdir(folder)
        names = [f"networkx.algorithms.{part}" for part in parts or PARTS]
        code = pytest.main(
            [
                "-q",
                "-c",
                os.devnull,
                "--rootdir",
                folder,
                "-p",
                "no:cacheprovider",
                "--pyargs",
                *names,
            ]
        )
        os.chdir("/")
    from _dask_graphgpu_networkx.functions import FUNCTIONS
    from dask_graphgpu.networkx_functions.offer import calls

    for name in FUNCTIONS:
        print(f"{name} {calls[name]}")
    missing = [] if parts else [name for name in FUNCTIONS if not calls[name]]
    if missing:
        print("never called:", *missing)
    return int(code) or int(bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
