"""Answers from documents whose keys and values are computed once and used anywhere.

    import looseleaf
    engine = looseleaf.Engine("model.gguf")
    chunk = engine.prefill("The ferry leaves at dawn.")
    answer = engine.ask("When does it leave?", documents=["The ferry leaves at dawn."], method="reuse")
    keys, values = chunk.kv(layer=0)          # NumPy, [tokens, kv heads, head size]

The package calls liblooseleaf.so: the one that LOOSELEAF_LIBRARY names, one beside the package, or the system's.
"""

from ._native import LooseleafError
from .engine import Chunk, Engine, methods, version

__all__ = ["Chunk", "Engine", "LooseleafError", "methods", "version"]
