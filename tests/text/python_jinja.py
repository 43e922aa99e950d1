"""Python's jinja2 set up as transformers renders chat templates: the definition that tests compare with."""

import copy
import datetime
import functools
import json
from pathlib import Path

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

TEMPLATES = Path(__file__).parent / "templates"
NOW = datetime.datetime(2026, 7, 4, 9, 8, 7)  # what jinja_render's clock says


class Generation(jinja2.ext.Extension):
    """The tag that marks the assistant's words; it changes no text."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


ENVIRONMENT = environment()


@functools.lru_cache(maxsize=64)
def compiled(template):
    return ENVIRONMENT.from_string(template)


def render(template, context):
    """(text, None), or (None, what was raised)."""
    try:
        return compiled(template).render(**copy.deepcopy(context)), None
    except Exception as raised:  # whatever Python raises is a refusal
        return None, f"{type(raised).__name__}: {raised}"
