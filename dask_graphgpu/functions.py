"""Plain Python functions taken apart: where they stand, what they read, what they return."""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
import marshal
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dask_graphgpu.errors import ProgramError

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_MODULES = {"math": math, "numpy": np}

_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

_BITS = ("&", "|", "^", ">>")  # operators that keep integers within 64 bits

_OUTER = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "IMPORT_NAME")


def plain(function: Any, role: str) -> FunctionType:
    """Return the plain Python function behind ``function`` (a Numba dispatcher is unwrapped)."""
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        raise ProgramError(
            f"{role}: {function!r} is a {type(function).__name__}; give a plain Python function "
            "(def or lambda)."
        )
    return function


def where(function: FunctionType) -> str:
    """Return ``file:line`` of a function, for messages."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def parameters(function: FunctionType, role: str) -> dict[str, bool]:
    """Return the parameter names of ``function``, each with whether it has a default."""
    code = function.__code__
    only_named = not (code.co_posonlyargcount or code.co_kwonlyargcount or code.co_flags & _STARRED)
    if only_named and not vars(function):  # asked every superstep: inspect takes ten times as long
        first = code.co_argcount - len(function.__defaults__ or ())
        return {name: i >= first for i, name in enumerate(code.co_varnames[: code.co_argcount])}
    named = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise ProgramError(
                f"{role} ({where(function)}): parameter {str(parameter)!r} cannot be given by "
                "name; a function of a vertex program takes plain named parameters."
            )
        named[parameter.name] = parameter.default is not parameter.empty
    return named


@lru_cache(maxsize=1024)  # every run asks several times, and takes milliseconds without
def _own_instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    yield from _own_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)


@lru_cache(maxsize=1024)
def _outer_names(code: CodeType) -> tuple[tuple[str, Any], ...]:
    """Names from outside that a function takes, sets or imports: the instruction and the name."""
    named = {(i.opname, i.argval): None for i in _instructions(code) if i.opname in _OUTER}
    return tuple(named)


def may_overflow(function: FunctionType) -> bool:
    """Return whether a result may lie beyond int64 although no argument does.

    So if it does arithmetic or calls anything; not if it only hands on, compares and takes bits.
    """
    return any(
        i.opname.startswith(("BINARY", "UNARY", "CALL")) and i.argrepr.rstrip("=") not in _BITS
        for i in _instructions(function.__code__)
        if i.opname not in ("UNARY_INVERT", "UNARY_NOT")
    )


def handed_on(function: FunctionType) -> str | None:
    """Name of the only parameter of a function that gives it back as it is; else None."""
    steps = [i for i in _own_instructions(function.__code__) if i.opname != "RESUME"]
    if function.__code__.co_argcount != 1 or len(steps) != 2:
        return None
    name: str = function.__code__.co_varnames[0]
    load, leave = steps
    given_back = load.opname.startswith("LOAD_FAST") and leave.opname == "RETURN_VALUE"
    return name if given_back and load.argval == name else None


def check_literals(function: FunctionType, role: str) -> None:
    """Raise ProgramError for a whole number beyond int64 in the text of ``function``."""
    for value in _literals(function.__code__.co_consts):
        _check_int64(value, f"{role} ({where(function)})")


def check_integers(function: FunctionType, role: str, above: tuple[FunctionType, ...] = ()) -> None:
    """As `check_literals`, also for what ``function`` reads from outside and for what it calls."""
    check_literals(function, role)
    outside = reads(function, role)
    for value in (*outside.globals.values(), *outside.cells, *outside.defaults):
        if not is_function(value):
            for number in _literals((value,)):
                _check_int64(number, f"{role} ({where(function)})")
        elif (helper := plain(value, role)) not in above:
            check_integers(helper, role, (*above, function))


def _literals(values: Iterable[Any]) -> Iterator[int]:
    """Whole numbers among ``values``, in tuples and in nested code."""
    for value in values:
        if isinstance(value, CodeType):
            yield from _literals(value.co_consts)
        elif isinstance(value, (tuple, frozenset)):
            yield from _literals(value)
        elif isinstance(value, (int, np.integer)):
            yield int(value)


def _check_int64(value: int, role: str) -> None:
    if not INT64_MIN <= value <= INT64_MAX:
        raise ProgramError(
            f"{role}: reads the number {value}, beyond int64 ({INT64_MIN} to {INT64_MAX}), in which "
            "whole numbers are kept; write it as a float."
        )


# -- what a function returns ------------------------------------------------------------------


def returned_keys(function: FunctionType, role: str) -> tuple[str, ...] | None:
    """Return the keys of the dict that ``function`` returns, None if it returns one value.

    The dict has to be written as a display, ``{"rank": ..., "level": ...}``, with the same keys
    in the same order everywhere: fields are then known without running the function.
    """
    found: set[tuple[str, ...]] = set()
    strings: list[str] = []
    previous: Any = None
    for instruction in _own_instructions(function.__code__):
        if instruction.opname.startswith("LOAD_CONST") and isinstance(instruction.argval, str):
            strings.append(instruction.argval)
        elif instruction.opname == "BUILD_CONST_KEY_MAP":
            found.add(tuple(previous))
        elif instruction.opname == "BUILD_MAP":
            count = instruction.argval or 0
            found.add(tuple(strings[len(strings) - count :]))
        elif instruction.opname == "LOAD_GLOBAL" and instruction.argval == "dict":
            found.add(())
        previous = instruction.argval
    if not found:
        return None
    keys = found.pop()
    if found or not keys or not all(isinstance(key, str) for key in keys):
        raise ProgramError(
            f"{role} ({where(function)}): return one value or a dict written out as "
            '{"field": value, ...}, with the same fields in the same order at every return.'
        )
    return keys


def tuple_returning(code: CodeType) -> CodeType:
    """Return ``code`` with its dict displays made tuples: same values, in the order of the keys.

    Numba would type a dict of equal values as a hash table on the heap, made anew at each call.
    """
    text = bytearray(code.co_code)
    nop, build_tuple = dis.opmap["NOP"], dis.opmap["BUILD_TUPLE"]
    previous: dis.Instruction | None = None
    for instruction in _own_instructions(code):
        if instruction.opname.startswith("LOAD_CONST") and isinstance(instruction.argval, str):
            text[instruction.offset : instruction.offset + 2] = bytes((nop, 0))
        elif instruction.opname == "BUILD_CONST_KEY_MAP" and previous is not None:
            text[previous.offset : previous.offset + 2] = bytes((nop, 0))
            text[instruction.offset] = build_tuple
        elif instruction.opname == "BUILD_MAP":
            text[instruction.offset] = build_tuple
        previous = instruction
    return code.replace(co_code=bytes(text))


# -- what a function reads --------------------------------------------------------------------


@dataclass(frozen=True)
class Reads:
    """The values that a function takes from outside: globals, closure cells and defaults."""

    globals: dict[str, Any]
    cells: tuple[Any, ...]
    defaults: tuple[Any, ...]


def reads(function: FunctionType, role: str) -> Reads:
    """Return what ``function`` reads from outside its parameters."""
    values: dict[str, Any] = {}
    for instruction, name in _outer_names(function.__code__):
        if instruction in ("LOAD_GLOBAL", "LOAD_NAME"):
            if name in function.__globals__:
                values[name] = function.__globals__[name]
            elif not hasattr(builtins, name):
                raise ProgramError(f"{role} ({where(function)}): name {name!r} is not defined.")
        else:
            raise ProgramError(
                f"{role} ({where(function)}): a function of a vertex program neither imports nor "
                f"sets globals ({name!r})."
            )
    try:
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        raise ProgramError(
            f"{role} ({where(function)}): a name it closes over has no value yet "
            f"({', '.join(function.__code__.co_freevars)})."
        ) from None
    return Reads(dict(sorted(values.items())), cells, function.__defaults__ or ())


def is_function(value: Any) -> bool:
    """Return whether ``value`` is a function of the user's that has to be carried along."""
    return isinstance(getattr(value, "py_func", value), FunctionType)


def literal(value: Any, role: str) -> str:
    """Return source text for a value that a function may read: numbers, math, numpy, tuples."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return f"numpy.{value.dtype.type.__name__}({literal(value.item(), role)})"
    # Of the plain type: a member of an enumeration shows its name, which is no source text.
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, str):
        return str.__repr__(value)
    if isinstance(value, float):
        text = float.__repr__(value)
        return text if math.isfinite(value) else f"float({text!r})"
    if isinstance(value, tuple):
        return "(" + "".join(literal(item, role) + ", " for item in value) + ")"
    if isinstance(value, ModuleType) and value.__name__ in _MODULES:
        return value.__name__
    if isinstance(value, (BuiltinFunctionType, np.ufunc, type)) or callable(value):
        name = getattr(value, "__name__", "")
        for module, content in _MODULES.items():
            if name and getattr(content, name, None) is value:
                return f"{module}.{name}"
    raise ProgramError(
        f"{role}: reads {value!r} ({type(value).__name__}); from outside a function may read "
        "numbers, bools, tuples of them, the modules math and numpy, and plain Python functions. "
        "Give other values as constants=, or per vertex as Field(vertices=...)."
    )


def normal_code(code: CodeType) -> CodeType:
    """Return ``code`` without its place in a file: equal text gives equal code."""
    constants = tuple(normal_code(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(
        co_filename="<program>", co_firstlineno=1, co_qualname=code.co_name, co_consts=constants
    )


def code_bytes(code: CodeType) -> bytes:
    """Return ``code`` as bytes; version 2 of the format does not depend on reference counts."""
    return marshal.dumps(normal_code(code), 2)


def fingerprint(function: Callable[..., Any], role: str) -> str:
    """Return a digest of a function's code and of all that it reads, the same in any process."""
    digest = hashlib.sha256()
    for part in _parts(plain(function, role), role, ()):
        digest.update(len(part).to_bytes(8, "little"))  # or (1, 11) would be (11, 1)
        digest.update(part)
    return digest.hexdigest()


def _parts(function: FunctionType, role: str, above: tuple[FunctionType, ...]) -> Iterator[bytes]:
    """What tells a function from others; the number of parts follows from those before."""
    yield code_bytes(function.__code__)
    if function in above:
        return
    outside = reads(function, role)
    for kind, values in (
        ("global", outside.globals.items()),
        ("cell", enumerate(outside.cells)),
        ("default", enumerate(outside.defaults)),
    ):
        for name, value in values:
            yield f"{kind} {name}".encode()
            if is_function(value):
                yield b"function"
                yield from _parts(plain(value, role), role, (*above, function))
            else:
                yield b"value"
                yield literal(value, role).encode()
    yield b"end"
