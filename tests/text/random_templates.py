"""Random templates that mostly render: expressions know roughly which type they have."""

TEXTS = ["", "a", "  ", "Hello", "x y", "<|im_end|>", "é日", "\n", " b\n", "A,b,c", "it's", "say \"hi\"", "</think>", "-"]
NAMES = ["s", "t", "n", "m", "f", "yes", "nil", "list", "words", "d", "people", "missing", "x", "y", "ns"]


class Generator:
    def __init__(self, random):
        self.random = random

    # ---- pieces

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def context(self):
        text = lambda: self.pick(*TEXTS) + self.pick(*TEXTS)
        people = [{"name": text(), "age": self.random.randint(0, 40)} for _ in range(self.random.randint(0, 3))]
        for one in people:
            if self.chance(0.3):
                del one["age"]
        return {"s": text(), "t": text(), "n": self.random.randint(-5, 9), "m": self.random.randint(0, 3),
                "f": self.pick(0.5, -1.25, 3.0, 1e20, 0.1), "yes": self.chance(0.7), "nil": None,
                "list": [self.random.randint(-3, 5) for _ in range(self.random.randint(0, 4))],
                "words": [text() for _ in range(self.random.randint(0, 4))],
                "d": {self.pick("a", "b", "items", text()): self.pick(1, "v", None, [1]) for _ in range(3)},
                "people": people}

    def literal(self):
        value = self.pick(*TEXTS)
        mark = self.pick("'", '"')
        return mark + value.replace("\\", "\\\\").replace(mark, "\\" + mark).replace("\n", self.pick("\\n", "\n")) + mark

    # ---- expressions

    def text(self, depth):
        if depth <= 0:
            return self.pick("s", "t", self.literal(), self.literal())
        a = lambda: self.text(depth - 1)
        i = lambda: self.number(depth - 1)
        return self.pick(
            lambda: f"{a()} ~ {self.anything(depth - 1)}", lambda: f"({a()} + {a()})",
            lambda: f"{self.wrapped(a())}|{self.pick('upper', 'lower', 'trim', 'title', 'capitalize', 'string', 'reverse')}",
            lambda: f"{self.wrapped(a())}|replace({self.literal()}, {a()})",
            lambda: f"{self.wrapped(a())}|indent({i()}, {self.truth(0)})",
            lambda: f"{self.wrapped(a())}|trim({self.literal()})", lambda: f"{self.wrapped(a())}|center({i()})",
            lambda: f"{self.wrapped(a())}|truncate({self.pick(3, 5, 8)}, {self.truth(0)}, leeway={self.pick(0, 2)})",
            lambda: f"{self.wrapped(a())}.{self.pick('strip', 'lstrip', 'rstrip', 'upper', 'lower', 'title', 'swapcase')}()",
            lambda: f"{self.wrapped(a())}.{self.pick('strip', 'lstrip', 'rstrip')}({self.literal()})",
            lambda: f"{self.wrapped(a())}.replace({self.literal()}, {self.literal()}, {i()})",
            lambda: f"{self.wrapped(a())}[{self.pick('', i())}:{self.pick('', i())}{self.pick('', ':-1', ':2', ':' + i())}]",
            lambda: f"{self.wrapped(a())}[{i()}]", lambda: f"{a()} * {self.pick(0, 2, 3)}",
            lambda: f"{self.wrapped(self.sequence(depth - 1))}|join({self.literal()})",
            lambda: f"{self.literal()}.join({self.sequence_of_text(depth - 1)})",
            lambda: f"{self.wrapped(self.anything(depth - 1))}|tojson({self.pick('', 'indent=2', 'sort_keys=true')})",
            lambda: f"({a()} if {self.truth(depth - 1)} else {a()})",
            lambda: f"{self.wrapped(a())}.split({self.literal()})[{self.pick(0, -1, 1)}]",
            lambda: f"'%s:%{self.pick('', '5', '-4', '.1')}s' % ({self.anything(depth - 1)}, {a()})",
            lambda: f"{self.wrapped(self.anything(depth - 1))}|default({a()}, {self.truth(0)})",
            lambda: f"people[{self.pick(0, -1)}].name",
        )()

    def number(self, depth):
        if depth <= 0:
            return self.pick("n", "m", "0", "1", "2", "-1", "3", "5", "-2")
        i = lambda: self.number(depth - 1)
        return self.pick(
            lambda: f"({i()} {self.pick('+', '-', '*')} {i()})", lambda: f"({i()} {self.pick('//', '%')} {i()})",
            lambda: f"{self.wrapped(self.anything(depth - 1))}|length", lambda: f"{self.wrapped(self.text(depth - 1))}|int",
            lambda: f"{self.wrapped(self.text(depth - 1))}.{self.pick('find', 'rfind', 'count')}({self.literal()})",
            lambda: f"{self.wrapped(i())}|abs", lambda: f"list|{self.pick('sum', 'max', 'min', 'first', 'last')}",
            lambda: f"-{i()}" if depth == 1 else f"-({i()})", lambda: f"list[{i()}]", lambda: "loop.index",
        )()

    def truth(self, depth):
        if depth <= 0:
            return self.pick("yes", "true", "false", "nil", "missing", "list", "s")
        b = lambda: self.truth(depth - 1)
        x = lambda: self.anything(depth - 1)
        return self.pick(
            lambda: f"({b()} {self.pick('and', 'or')} {b()})", lambda: f"(not {b()})",
            lambda: f"({self.number(depth - 1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.number(depth - 1)})",
            lambda: f"({self.text(depth - 1)} {self.pick('<', '==', '!=')} {self.text(depth - 1)})",
            lambda: f"({self.literal()} {self.pick('in', 'not in')} {self.text(depth - 1)})",
            lambda: f"({x()} {self.pick('in', 'not in')} {self.sequence(depth - 1)})", lambda: f"({x()} == {x()})",
            lambda: f"({self.wrapped(x())} is {self.pick('', 'not ')}" + self.pick(
                "defined", "none", "string", "mapping", "iterable", "sequence", "number", "true", "false", "undefined",
                "integer", "float", "boolean", "callable", "sameas none", "equalto(1)", "in [1, 's']") + ")",
            lambda: f"({self.wrapped(self.number(depth - 1))} is {self.pick('odd', 'even', 'divisibleby 3', 'gt 1', 'le(2)')})",
            lambda: f"{self.wrapped(self.text(depth - 1))}.{self.pick('startswith', 'endswith')}({self.literal()})",
            lambda: f"{self.wrapped(self.text(depth - 1))}.{self.pick('isalpha', 'isdigit', 'isspace', 'isupper', 'islower')}()",
        )()

    def sequence_of_text(self, depth):
        return self.pick(
            lambda: "words", lambda: f"{self.wrapped(self.text(depth))}.split()", lambda: f"[{self.text(depth)}, {self.text(depth)}]",
            lambda: "words|map('upper')|list", lambda: "people|map(attribute='name')|list", lambda: "d.keys()",
            lambda: f"{self.wrapped(self.text(depth))}.splitlines()")()

    def sequence(self, depth):
        if depth <= 0:
            return self.pick("list", "words", "people", "[]", "d", "[1, 2]", "range(3)", "'ab'")
        q = lambda: self.wrapped(self.sequence(depth - 1))
        return self.pick(
            lambda: f"[{self.anything(depth - 1)}, {self.anything(depth - 1)}]",
            lambda: f"({self.anything(depth - 1)}, {self.anything(depth - 1)})",
            lambda: f"{self.pick('list', 'words', '(1, 2)')}[{self.pick('', '1')}:{self.pick('', '-1', '2')}{self.pick('', '::'[1:], ':-1')}]",
            lambda: f"{q()}|list", lambda: f"{q()}|reverse|list", lambda: f"{q()}|unique|list", lambda: "list|sort",
            lambda: f"words|sort(reverse={self.truth(0)})", lambda: f"{q()}|select('{self.pick('string', 'defined', 'none')}')|list",
            lambda: f"{q()}|reject|list", lambda: "people|selectattr('age', 'defined')|list",
            lambda: f"people|map(attribute='{self.pick('name', 'age', 'zip')}')|list", lambda: "list|map('string')|list",
            lambda: f"range({self.pick('', '0, ', '1, ')}{self.number(0)})|list", lambda: "d.items()|list", lambda: "d|dictsort",
            lambda: "list|batch(2)|list", lambda: f"(list + {q()})", lambda: f"{q()}|map('{self.pick('string', 'length', 'first')}')|list",
            lambda: self.sequence_of_text(depth - 1))()

    def mapping(self, depth):
        return self.pick(lambda: "d", lambda: f"{{{self.literal()}: {self.anything(depth - 1)}, 'k': {self.anything(depth - 1)}}}",
                         lambda: f"dict(a={self.anything(depth - 1)})", lambda: "people[0]")()

    def anything(self, depth):
        if self.chance(0.03):
            return self.pick(*NAMES)  # of any type
        return self.pick(self.text, self.text, self.number, self.truth, self.sequence, self.mapping,
                         lambda _: self.pick("f", "nil", "missing", "d.a", "d['b']", "d.get('a', 1)", "3.5", "x", "y", "ns.a"))(depth)

    def wrapped(self, expression):
        return expression if expression.replace("_", "a").isalnum() and not expression.isdigit() else f"({expression})"

    # ---- statements

    def tag(self, inside, opener="{%", closer="%}"):
        left = self.pick("", "", "", "-", "+" if opener == "{%" else "-")
        right = self.pick("", "", "", "-", "+" if opener == "{%" else "")
        return f"{opener}{left} {inside} {right}{closer}"

    def gap(self):
        return self.pick("", "", "\n", " ", "\n  ", "  \n", "x", " text\n", "\t", "\n\n")

    def output(self, depth):
        return self.tag(self.anything(self.random.randint(0, depth)), "{{", "}}")

    def statement(self, depth, in_loop):
        if depth <= 0:
            return self.pick(lambda: self.output(2), lambda: self.pick(*TEXTS), lambda: "{# c #}", lambda: "{#- c -#}\n")()
        body = lambda loop=in_loop: self.block(depth - 1, loop)
        end = lambda name: self.tag(name)
        choices = [
            lambda: self.output(3), lambda: self.output(3),
            lambda: self.tag(f"if {self.truth(2)}") + body() + end("endif"),
            lambda: self.tag(f"if {self.truth(2)}") + body() + self.tag(f"elif {self.truth(1)}") + body() + end("else") + body() + end("endif"),
            lambda: self.tag(f"for x in {self.sequence(2)}") + body(True) + end("endfor"),
            lambda: self.tag(f"for x in {self.sequence(1)} if {self.truth(1)}") + body(True) + end("else") + body() + end("endfor"),
            lambda: self.tag("for x, y in d.items()") + body(True) + end("endfor"),
            lambda: self.tag(f"set {self.pick('x', 'y', 'z')} = {self.anything(2)}"),
            lambda: self.tag(f"set ns.a = {self.anything(2)}"),
            lambda: self.tag(f"set {self.pick('x', 'y')}{self.pick('', ' | upper', ' | trim')}") + body(False) + end("endset"),
            lambda: self.tag(f"macro m{depth}(x, y={self.number(0)})") + body(False) + end("endmacro") +
            self.tag(f"m{depth}({self.anything(1)}{self.pick('', ', y=' + self.text(0))})", "{{", "}}"),
            lambda: self.tag(f"with x = {self.anything(1)}") + body(False) + end("endwith"),
            lambda: self.tag("raw") + "{{ x }} {% if %}" + end("endraw"),
            lambda: self.tag(f"filter {self.pick('upper', 'trim', 'title')}") + body(False) + end("endfilter"),
        ]
        if in_loop:
            choices.append(lambda: self.tag(f"if {self.truth(1)}") + self.tag(self.pick("break", "continue")) + end("endif"))
            choices.append(lambda: self.tag("loop." + self.pick("index", "first", "last", "length", "revindex", "previtem",
                                                                "nextitem", "cycle('a', 'b')", "changed(x)"), "{{", "}}"))
        return self.random.choice(choices)()

    def block(self, depth, in_loop):
        return "".join(self.gap() + self.statement(depth, in_loop) for _ in range(self.random.randint(1, 2))) + self.gap()

    def template(self):
        start = self.pick("", "{% set ns = namespace(a=1) %}", "{%- set ns = namespace(a=s) -%}\n")
        return start + self.block(self.random.randint(1, 3), False) + self.pick("", "\n", "\n\n")
