"""Runs pytest with the emulator in the place of CuPy and of the compilers for GPUs.

From anywhere: ``python tests/emulator/run.py tests/gpu/test_bfs.py -q``, with pytest's arguments;
``python tests/emulator/run.py --script FILE`` runs a program instead. Paths are relative to the root
of the repository. CONTRIBUTING.md lists the settings.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Kernels take hundreds of times longer than on a GPU.
PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "emulated.overruns", "-o", "timeout=1800"]


def main(arguments):
    # In front of an installed CuPy, for all processes that tests start as well.
    paths = [str(HERE), str(ROOT), str(ROOT / "tests")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    given = arguments[1:] if arguments[:1] == ["--script"] else [*PYTEST, *arguments]
    os.chdir(ROOT)
    os.execve(sys.executable, [sys.executable, *given], environment)


main(sys.argv[1:])
