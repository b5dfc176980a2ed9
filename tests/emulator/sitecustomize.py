"""What a process of the emulator asks of a GPU is answered by the emulator.

Python imports a module of this name when it starts, so this holds in processes that tests start,
too. The folder is on the path of those only that ``run.py`` has started.
"""

import os
import sys
from functools import cache
from importlib.machinery import PathFinder


def _driver(module):
    number = int(os.environ.get("GRAPHGPU_EMULATOR_GPUS", "2"))
    module.num_gpus = cache(lambda: number)
    module.least_memory = lambda: int(os.environ.get("GRAPHGPU_EMULATOR_MEMORY", 1 << 34))
    module._PACKAGES = {}  # CuPy is here, and of the compilers for GPUs nothing is asked


def _build(module):
    from emulated import build

    build.patch(module)


_AFTER = {"dask_graphgpu.engine.driver": _driver, "dask_graphgpu.kernels.cuda_build": _build}


class _Finder:
    """Changes a module of the library right after it was loaded."""

    def find_spec(self, name, path=None, target=None):
        if name not in _AFTER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _AFTER[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Finder())
