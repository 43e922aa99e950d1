"""liblooseleaf.so by ctypes: the functions of looseleaf_c.h, with errors as exceptions."""

import ctypes
import ctypes.util
import json
import os
import pathlib
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_size_t, c_void_p


class LooseleafError(Exception):
    """What an engine refused. `code` and `param` are the API's: the kind of error and the field's path."""

    def __init__(self, message, code=None, param=None):
        super().__init__(message)
        self.code, self.param = code, param


# Name: result, arguments; the trailing char** of errors is added where `error` is true. Texts are c_void_p, so that
# their address is kept and can be freed.
_FUNCTIONS = {
    "open": (c_void_p, [c_char_p, c_char_p], True),
    "close": (None, [c_void_p], False),
    "ask": (c_void_p, [c_void_p, c_char_p], True),
    "score": (c_void_p, [c_void_p, c_char_p, c_char_p], True),
    "prefill": (c_void_p, [c_void_p, c_char_p, c_char_p], True),
    "chunk_kv": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_int32), POINTER(c_float), POINTER(c_float), c_size_t],
                 True),
    "tokenize": (c_void_p, [c_void_p, c_char_p], True),
    "describe": (c_void_p, [c_void_p], False),
    "cache_stats": (c_void_p, [c_void_p], False),
    "clear_cache": (None, [c_void_p], False),
    "methods": (c_void_p, [], False),
    "version": (c_char_p, [], False),
    "free": (None, [c_void_p], False),
}


def _candidates():
    if given := os.environ.get("LOOSELEAF_LIBRARY"):
        return [given]  # and nothing else: a wrong path must not find another version
    here = pathlib.Path(__file__).resolve().parent
    found = [here / "liblooseleaf.so", here.parent.parent / "build" / "liblooseleaf.so"]
    return [str(path) for path in found if path.exists()] + [ctypes.util.find_library("looseleaf") or "liblooseleaf.so.0"]


def _load():
    problems = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as problem:
            problems.append(str(problem))
            continue
        for name, (result, arguments, error) in _FUNCTIONS.items():
            function = getattr(library, "looseleaf_" + name)
            function.restype = result
            function.argtypes = arguments + ([POINTER(c_void_p)] if error else [])
        return library
    raise ImportError("liblooseleaf.so was not found; build it (make) and set LOOSELEAF_LIBRARY to its path: "
                      + "; ".join(problems))


_library = _load()


def _take(address):
    """The text at `address`, which is freed."""
    try:
        return ctypes.string_at(address).decode()
    finally:
        _library.looseleaf_free(address)


def encoded(value):
    """JSON as the C functions take it; None stays NULL. Refuses NaN, which JSON does not have."""
    return None if value is None else json.dumps(value, allow_nan=False).encode()


def call(name, *arguments):
    """Calls looseleaf_NAME. A returned text is parsed as JSON."""
    result_type, _, has_error = _FUNCTIONS[name]
    function = getattr(_library, "looseleaf_" + name)
    if not has_error:
        result = function(*arguments)
        return json.loads(_take(result)) if result_type is c_void_p else result
    error = c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if error.value:
        problem = json.loads(_take(error.value))["error"]
        raise LooseleafError(problem["message"], problem.get("code"), problem.get("param"))
    return result if name in ("open", "chunk_kv") else json.loads(_take(result))
