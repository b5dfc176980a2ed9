"""Python source that rebuilds a user's function in another module, without its source file.

The function's code object is carried in marshalled form, and everything that it reads from outside
(globals, closure cells, defaults) is frozen by value; plain functions that it calls come along.
Numba caches what a module of its own holds, but never functions given as arguments or closures.
"""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any

from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import (
    code_bytes,
    is_function,
    literal,
    normal_code,
    plain,
    reads,
    tuple_returning,
    where,
)


def embed(
    function: Any, name: str, role: str, *, tuples: bool = False, above: tuple[Any, ...] = ()
) -> list[str]:
    """Return lines of source that define ``name`` as ``function`` compiled by Numba.

    Parameters
    ----------
    function : function
        Of the user.
    name : str
        Name of the definition; helpers get names that start with it.
    role : str
        What the program calls it, for errors.
    tuples : bool
        Make the dict that it returns a tuple, in the order of the keys.
    above : tuple of functions
        Callers, to find recursion.

    Raises
    ------
    ProgramError
        It reads something that cannot be frozen, or calls itself.
    """
    function = plain(function, role)
    role = f"{role} ({where(function)})"
    if function in above:
        raise ProgramError(f"{role}: {function.__name__} calls itself; write it as a loop.")
    outside = reads(function, role)
    lines: list[str] = []

    def text(key: str, value: Any) -> str:
        if not is_function(value):
            return literal(value, role)
        helper = f"{name}__{key}"
        lines.extend(embed(value, helper, role, above=(*above, function)))
        return helper

    values = ["'__builtins__': __builtins__"]
    values += [f"{key!r}: {text(key, value)}" for key, value in outside.globals.items()]
    free = function.__code__.co_freevars
    cells = "".join(
        f"types.CellType({text(key, value)}), "
        for key, value in zip(free, outside.cells, strict=True)
    )
    defaults = "".join(f"{literal(value, role)}, " for value in outside.defaults)
    lines.append(
        f"{name} = inner(types.FunctionType(marshal.loads({_code(function.__code__, tuples)}), "
        f"{{{', '.join(values)}}}, {name!r}, ({defaults}), ({cells})))"
    )
    return lines


@lru_cache(maxsize=1024)  # each run looks whether it is as an earlier one
def _code(code: CodeType, tuples: bool) -> str:
    """Source text of the bytes of ``code``."""
    code = normal_code(code)
    return repr(code_bytes(tuple_returning(code) if tuples else code))
