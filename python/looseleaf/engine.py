"""Engines and chunks."""

import ctypes
import json

import numpy

from . import _native


class Engine:
    """A model loaded and ready. Options are those of the command line: device, threads, context, cache_bytes, kv_type,
    private_kv_type, exact, deterministic. May be used from several threads, which take turns."""

    def __init__(self, model, **options):
        self._handle = None
        self._handle = _native.call("open", str(model).encode(), _native.encoded(options or None))

    def ask(self, question=None, documents=(), **fields):
        """Answers, greedily unless told otherwise. Further fields are those of an API body: messages, prompt, prefix,
        method, layout, encoding_prefix, max_tokens, temperature, logprobs, ...

        Gives the object of `looseleaf run --json` as a dictionary: text, tokens, usage, looseleaf, ..."""
        return _native.call("ask", self._open(), _native.encoded(_body(question, documents, fields)))

    def score(self, continuation, question=None, documents=(), **fields):
        """How likely `continuation`, a text or a list of token ids, is after the prompt: {"tokens", "logprobs",
        "prompt_tokens_ids", "looseleaf"}."""
        if not isinstance(continuation, str):
            continuation = [int(token) for token in continuation]
        return _native.call("score", self._open(), _native.encoded(_body(question, documents, fields)),
                            _native.encoded(continuation))

    def prefill(self, document, **settings):
        """Computes a document's chunk ahead of its first use. Settings: layout, encoding_prefix, cache_salt."""
        made = _native.call("prefill", self._open(), _native.encoded(document), _native.encoded(settings or None))
        return Chunk(self, made["id"])

    def tokenize(self, text):
        """Token ids; special-token text stays text."""
        if "\0" in text:
            raise ValueError("the text holds a zero byte, which C cannot pass on")
        return _native.call("tokenize", self._open(), text.encode())["tokens"]

    def describe(self):
        """What `looseleaf inspect --json` says."""
        return _native.call("describe", self._open())

    def cache_stats(self):
        return _native.call("cache_stats", self._open())

    def clear_cache(self):
        _native.call("clear_cache", self._open())

    def close(self):
        """Gives everything back at once; later calls raise ValueError."""
        if self._handle:
            _native.call("close", self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def _open(self):
        if not self._handle:
            raise ValueError("the engine is closed")
        return self._handle


class Chunk:
    """A document's keys and values in an engine. They may be evicted; kv() then raises LooseleafError."""

    def __init__(self, engine, chunk_id):
        self.engine, self.id = engine, chunk_id

    def kv(self, layer):
        """(keys, values) of a layer as float32 arrays [tokens, kv heads, head size], copies of what is stored. Keys are
        rotated at the document's own positions."""
        shape = (ctypes.c_int32 * 3)()
        arguments = (self.engine._open(), self.id.encode(), int(layer), shape)
        _native.call("chunk_kv", *arguments, None, None, 0)
        keys, values = (numpy.empty(tuple(shape), numpy.float32) for _ in range(2))
        pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for array in (keys, values)]
        _native.call("chunk_kv", *arguments, *pointers, keys.size)
        return keys, values

    def __repr__(self):
        return f"Chunk({self.id[:12]})"


def methods():
    """The methods with their options, as a list of dictionaries."""
    return _native.call("methods")


def version():
    return _native.call("version").decode()


def _body(question, documents, fields):
    body = dict(fields)
    if question is not None:
        body["question"] = question
    if documents:
        body["documents"] = [document if isinstance(document, str) else dict(document) for document in documents]
    return json.loads(json.dumps(body, default=_plain))


def _plain(value):
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")
