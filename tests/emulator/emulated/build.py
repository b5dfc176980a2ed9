"""CUDA sources to shared libraries of the host, kept by their hash.

The preprocessor runs first, so that what follows sees the text that is compiled; then declarations of
shared memory and inline assembly, which g++ does not know, are translated by their text.
"""

import ctypes
import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

from dask_graphgpu.kernels import cache_folder

HERE = Path(__file__).parent
SEEDED = os.environ.get("GRAPHGPU_EMULATOR_SEED", "0") != "0"
CXX = [
    "g++",
    '-D_V_=__attribute__((visibility("default")))',
    "-std=c++17",
    "-O1",
    "-w",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-asynchronous-unwind-tables",
    "-fno-math-errno",
    "-ftemplate-depth=2000",
    "-fpermissive",
]
_DECLARED = "__GLOBAL__KERNEL__"


def _balanced(text, start, pair="()"):
    """Place behind what is closed that opens at ``start``."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == pair[0]:
            depth += 1
        elif text[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError("not balanced")


_ASM = {
    "ld.acquire.gpu.u32 %0, [%1];": "{0} = emu_spin_load({1});",
    "ld.acquire.sys.u32 %0, [%1];": "{0} = emu_spin_load({1});",
    "ld.acquire.gpu.u64 %0, [%1];": "{0} = emu_spin_load({1});",
    "mov.u64 %0, %%globaltimer;": "{0} = emu_nanoseconds();",
}


def _asm(text):
    out, at = [], 0
    for found in re.finditer(r"\basm\s*(volatile)?\s*\(", text):
        if found.start() < at:
            continue
        end = _balanced(text, found.end() - 1)
        inside = text[found.end() : end - 1]
        strings = re.match(r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', inside)
        template = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings[1])).strip()
        operands = [m.strip() for m in _operands(inside[strings.end() :])]
        out.append(text[at : found.start()])
        out.append(
            _asm_one(template.replace("\\n", " ").replace("\\t", " ").strip(), operands).rstrip(";")
        )
        at = end
    return "".join(out) + text[at:]


def _operands(text):
    """The expressions of the operands, in order."""
    found, i = [], 0
    for m in re.finditer(r'"[=+]?&?[a-z]+"\s*\(', text):
        if m.start() < i:
            continue
        i = _balanced(text, m.end() - 1)
        found.append(text[m.end() : i - 1])
    return found


def _asm_one(template, operands):
    if template in _ASM:
        return _ASM[template].format(*operands)
    m = re.fullmatch(r"(ld|st|red|atom)\.([\w.:]+)\s+(.*);", template)
    if m:
        kind, more, rest = m.groups()
        if "v2" in more.split(".") or "v4" in more.split("."):
            width = 4 if "v4" in more.split(".") else 2
            names = re.findall(r"%(\d+)", rest)
            place = re.search(r"\[%(\d+)(?:\+(\d+))?\]", rest)
            values = [n for n in names if n != place[1]]
            t = f"decltype({operands[int(values[0])]})"
            base = f"((std_plain<{t}> *)(void *)({operands[int(place[1])]}))"
            if kind == "ld":
                return (
                    "("
                    + ", ".join(
                        f"{operands[int(n)]} = {base}[{i}]" for i, n in enumerate(values[:width])
                    )
                    + ")"
                )
            if kind == "st":
                return (
                    "("
                    + ", ".join(
                        f"{base}[{i}] = {operands[int(n)]}" for i, n in enumerate(values[:width])
                    )
                    + ")"
                )
        scalar = re.fullmatch(r"%(\d+), \[%(\d+)\](?:, %\d+)?", rest)
        if kind == "ld" and scalar:
            value, place = operands[int(scalar[1])], operands[int(scalar[2])]
            spins = "acquire" in more or "volatile" in more or "relaxed" in more
            cast = f"(std_plain<decltype({value})> *)(void *)({place})"
            return f"{value} = " + (f"emu_spin_load({cast})" if spins else f"*({cast})")
        scalar = re.fullmatch(r"\[%(\d+)\], %(\d+)(?:, %\d+)?", rest)
        if kind == "st" and scalar:
            place, value = operands[int(scalar[1])], operands[int(scalar[2])]
            return f"*(volatile std_plain<decltype({value})> *)(void *)({place}) = {value}"
    if template.startswith("prefetch") or template.startswith("createpolicy"):
        return "(void)0"
    return f'emu_fail("inline assembly that the emulator does not know: {template}")'


def _shared(text):
    """Declarations of shared memory as references into that of the block."""
    text = re.sub(
        r"\bextern\s+__shared__\s+([^;=]*?)\b(\w+)\s*\[\s*\]\s*;",
        r"\1 *\2 = (\1 *)emu_cur->dynamic;",
        text,
    )

    def made(found):
        body = found[1].strip()
        m = re.match(r"(?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)?", body)
        body = body[m.end() :]
        # the type: words, with arguments of templates; then names with their dimensions
        m = re.match(
            r"((?:const\s+|unsigned\s+|signed\s+|struct\s+)*(?:typename\s+)?[\w:]+"
            r"(?:\s+(?:long|int|char|short))*(?:\s*<[^;]*?>(?:::\w+)*)?(?:\s*\*)?)"
            r"\s*(?=[A-Za-z_]\w*\s*(?:\[|,|$))",
            body,
        )
        kind, rest = m[1], body[m.end() :]
        out = []
        for each in _split(rest):
            n = re.match(r"(\w+)\s*((?:\[.*\])?)$", each.strip(), re.S)
            name, dims = n[1], n[2]
            out.append(
                f"using emu_t_{name} = {kind}{dims}; static const unsigned emu_o_{name} = "
                f"emu_shared_place(&emu_shared_top, sizeof(emu_t_{name}), alignof(emu_t_{name})); "
                f"emu_t_{name} &{name} = *(emu_t_{name} *)(emu_cur->shared + emu_o_{name});"
            )
        return " ".join(out)

    return re.sub(r"\b__shared__\s+([^;]*);", made, text)


def _split(text):
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "[(<{"
        depth -= c in "])>}"
        if c == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    return [*parts, text[at:]]


_TYPES = {
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
    "boolean": "bool",
    "bool": "bool",
    "void": "void",
    "intp": "long long",
    "uintp": "unsigned long long",
}


def _c_type(text):
    text = text.strip()
    m = re.fullmatch(r"CPointer\((.*)\)", text)
    return _c_type(m[1]) + " *" if m else _TYPES[text]


def _function(function):
    """A symbol that calls what a pointer says, which is set when the library is loaded."""
    m = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", function.signature, re.S)
    given = [_c_type(t) for t in _split(m[2]) if t.strip()]
    name, result = function.name, _c_type(m[1])
    taken = ", ".join(f"{t} a{i}" for i, t in enumerate(given))
    called = ", ".join(f"a{i}" for i in range(len(given)))
    return (
        f'extern "C" {{ _V_ {result} (*emu_function_{name})({", ".join(given)}) = nullptr;\n'
        f"{result} {name}({taken}) {{ return emu_function_{name}({called}); }} }}\n"
    )


def _transform(text, functions):
    text = re.sub(r"__global__", _DECLARED, text)
    # by the preprocessor, which knows what is left out; then what it leaves
    with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=CACHE) as file:
        vectors = '#include "vectors.hpp"\n' if _VECTOR.search(text) else ""
        file.write('#include "device.hpp"\n' + vectors + text)
        file.flush()
        done = subprocess.run(
            [
                "g++",
                *(["-DEMU_SEEDED"] if SEEDED else []),
                "-E",
                "-x",
                "c++",
                "-std=c++17",
                "-w",
                "-I",
                str(HERE),
                file.name,
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"preprocessor: {done.stderr[:4000]}")
        text = done.stdout
    text = _asm(text)
    text = re.sub(
        r"(\bT\s+fresh\s*\(\s*const\s+T\s*\*\s*(\w+)\s*\)\s*\{)", r"\1 emu_point(); ", text
    )
    if SEEDED:  # another thread may run between this and what is done with it
        text = re.sub(
            r"return \*\(const volatile T ?\*\)\s*(\w+);",
            r"return emu_after(*(const volatile T *)\1);",
            text,
        )
    text = _shared(text)
    kernels, out, at = [], [], 0
    for found in re.finditer(_DECLARED, text):
        i = found.end()
        name = None
        while name is None:
            m = re.compile(r"\s*(\w+)").match(text, i)
            if m[1] == "__launch_bounds__":
                i = _balanced(text, text.index("(", i))
            elif m[1] in ("void", "static", "inline"):
                i = m.end()
            else:
                name = m[1]
        # `extern "C" void name(...)` again, at the end
        kernels.append(name)
        out.append(text[at : found.start()])
        out.append(" ")
        at = found.end()
    text = "".join(out) + text[at:]
    for name in dict.fromkeys(kernels):
        text += (
            f'\nextern "C" {{ _V_ void emu_call_{name}(void **a) {{ emu_invoke({name}, a); }} '
            f"_V_ unsigned emu_sizes_{name}(unsigned *out) {{ return emu_sizes({name}, out); }} }}\n"
        )
    return text + "".join(_function(f) for f in functions)


_lock = threading.Lock()
_VECTOR = re.compile(r"\b(?:make_)?(?:u?char|u?short|u?int|u?longlong|float|double)[1-4]\b")


def _stamp():
    """Of all that a library depends on beside the kernel's text: the emulator and the compiler."""
    compiler = subprocess.run(["g++", "--version"], capture_output=True, check=True).stdout
    sources = sorted(p for p in HERE.iterdir() if p.suffix in (".py", ".cpp", ".hpp"))
    texts = [compiler, " ".join(CXX).encode(), *(p.read_bytes() for p in sources)]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:24]


def _cache():
    """The folder of this emulator's libraries, which leaves like a cubin's: 90 days after its last use."""
    made = cache_folder.entry(cache_folder.CUDA + _stamp())
    if made is None:
        raise RuntimeError(
            "no folder for compiled code, which the emulator needs: set graphgpu.cache-directory"
        )
    return made


CACHE = _cache()


def library(source, whole, functions):
    """Path of the library of a text."""
    signatures = sorted(f"{f.name} {f.signature}" for f in functions)
    key = hashlib.sha256(
        "\0".join([*(["seeded"] if SEEDED else []), whole, *signatures]).encode()
    ).hexdigest()[:24]
    path = CACHE / f"{source}-{key}.so"
    if not path.exists():
        text = _transform(whole, functions)
        cpp = CACHE / f"{source}-{key}-{os.getpid()}-{threading.get_ident()}.cpp"
        made = cpp.with_suffix(".so.tmp")
        cpp.write_text(text)
        done = subprocess.run([*CXX, "-o", str(made), str(cpp)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{source}.cu for the emulator: {cpp}\n{done.stderr[:6000]}")
        made.replace(path)
        if os.environ.get("GRAPHGPU_EMULATOR_KEEP"):
            cpp.replace(CACHE / f"{source}-{key}.cpp")
        else:
            cpp.unlink()
    return path


_functions = {}  # by identity: DeviceFunction, of which code may be asked for
_addresses = {}


def code(source, whole, functions):
    """What stands for a cubin."""
    path = library(source, whole, functions)
    for function in functions:
        _functions[function.identity] = function
        _address(function.identity)  # errors of Numba's are raised here
    return json.dumps(
        {"library": str(path), "functions": {f.name: f.identity for f in functions}}
    ).encode()


def _address(identity):
    with _lock:
        if identity not in _addresses:
            import numba

            function = _functions[identity]
            made = numba.cfunc(function.signature, error_model="numpy")(function.function)
            _addresses[identity] = made
        return _addresses[identity].address


def load(path):
    """The library of such code, with its functions put in; a new one each time."""
    told = json.loads(Path(path).read_bytes())
    # A library that calls functions is one's own: two programs may have the same text.
    where = told["library"]
    if told["functions"]:
        with tempfile.NamedTemporaryFile(suffix=".so", dir=CACHE, delete=False) as file:
            file.write(Path(where).read_bytes())
        where = file.name
        loaded = ctypes.CDLL(where, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        os.unlink(where)
    else:
        loaded = ctypes.CDLL(where, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    for name, identity in told["functions"].items():
        ctypes.c_void_p.in_dll(loaded, f"emu_function_{name}").value = _address(identity)
    return loaded


def runtime():
    return _runtime


def _made_runtime():
    """The library that runs fibers, built when there is none yet."""
    path = CACHE / "runtime.so"
    if not path.exists():
        with tempfile.NamedTemporaryFile(suffix=".so", dir=CACHE, delete=False) as file:
            made = Path(file.name)
        options = [
            "-std=c++17",
            "-O2",
            "-fPIC",
            "-shared",
            "-pthread",
            "-ftls-model=initial-exec",
            "-fvisibility=hidden",
        ]
        sources = [str(p) for p in sorted(HERE.glob("*.cpp"))]
        subprocess.run(["g++", *options, "-o", str(made), *sources], check=True)
        made.replace(path)
    return ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)


_runtime = _made_runtime()
_runtime.emu_launch.restype = ctypes.c_int
_runtime.emu_launch.argtypes = [
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_uint,
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_char_p,
    ctypes.c_uint64,
]


def patch(module):
    """`dask_graphgpu.kernels.cuda_build` made to build for here."""

    def cubin(source, arch, *, defines, text, functions):
        whole = module.joined(source, defines, text)
        return code(source, whole, list(functions))

    module.cubin = cubin
    module.prebuilt.code = lambda arch, texts: None  # machine code of GPUs
