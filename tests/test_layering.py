"""The layering check must be able to fail: each rule is broken once in a small tree of its own."""

import layering


def tree(tmp_path, files):
    base = {"src/base/status.h": '#include "looseleaf/status.h"\n',
            "include/looseleaf/status.h": "#include <string>\n",
            "include/looseleaf/looseleaf.h": '#include "looseleaf/status.h"\n',
            "src/engine/engine.cc": '#include "looseleaf/looseleaf.h"\n#include "text/split.h"\n',
            "src/text/split.h": '#include "base/status.h"\n'}
    for name, text in {**base, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return layering.violations(tmp_path)


def test_clean(tmp_path):
    assert tree(tmp_path, {}) == []


def test_arrow_back(tmp_path):
    assert tree(tmp_path, {"src/text/bad.cc": '#include "text/split.h"\n#include "engine/engine.h"\n',
                           "src/engine/engine.h": ""}) == [
        "src/text/bad.cc:2: includes engine/engine.h: text must not know engine"]


def test_arrow_back_by_relative_path_from_a_nested_folder(tmp_path):
    assert tree(tmp_path, {"src/model/types/bad.cc": '#include "../../cache/page.h"\n', "src/cache/page.h": ""}) == [
        "src/model/types/bad.cc:1: includes ../../cache/page.h: model must not know cache"]


def test_public_headers_are_not_for_everybody(tmp_path):
    problems = tree(tmp_path, {"src/cache/bad.h": '#include "looseleaf/status.h"\n',
                               "src/base/bad.h": "#include <looseleaf/looseleaf.h>\n"})
    assert [problem.split(":")[0] for problem in problems] == ["src/base/bad.h", "src/cache/bad.h"]


def test_public_header_stays_public(tmp_path):
    assert len(tree(tmp_path, {"include/looseleaf/bad.h": '#include "base/status.h"\n'})) == 1


def test_circle_inside_a_layer(tmp_path):
    assert tree(tmp_path, {"src/text/a.h": '#include "text/b.h"\n', "src/text/b.h": '#include "text/a.h"\n'}) == [
        "circle: src/text/a.h -> src/text/b.h -> src/text/a.h"]


def test_missing_file_and_unknown_layer(tmp_path):
    problems = tree(tmp_path, {"src/text/bad.cc": '#include "base/gone.h"\n', "src/misc/new.cc": ""})
    assert len(problems) == 2 and "not there" in problems[1] and "no layer" in problems[0]


def test_long_file(tmp_path):
    assert tree(tmp_path, {"src/base/long.cc": "\n" * 500}) == []
    assert len(tree(tmp_path, {"src/base/long.cc": "\n" * 501, "tests/long.py": "\n" * 501})) == 2
