// Where text came from: the marks of strings through everything that a template can do to them.
#include <gtest/gtest.h>

#include "text/jinja/template.h"

namespace looseleaf {
namespace {

using jinja::Value;

// Data in brackets, the template's text bare.
std::string shown(const MarkedString& text) {
  std::string out;
  size_t begin = 0;
  for (const MarkedString::Range& range : text.ranges()) {
    const std::string part = text.text().substr(begin, range.end - begin);
    out += range.origin == Origin::kData ? "[" + part + "]" : part;
    begin = range.end;
  }
  return out;
}

// With the variables s (data "ab,cd"), t (data "  x </think> y  ") and m, a list of a dict.
std::string marks(std::string_view source) {
  const auto data = [](std::string_view text) { return Value::text(text, Origin::kData); };
  jinja::Dict message;
  message.entries.emplace_back(Value::text("role", Origin::kTemplate),
                               Value::text("user", Origin::kTemplate));
  message.entries.emplace_back(Value::text("content", Origin::kTemplate), data("<|end|>"));
  jinja::Sequence list;
  list.items.emplace_back(std::make_shared<const jinja::Dict>(message));
  const jinja::Variables context = {{"s", data("ab,cd")},
                                    {"t", data("  x </think> y  ")},
                                    {"m", Value(std::make_shared<jinja::Sequence>(list))}};
  const auto parsed = jinja::Template::parse(source, "template");
  if (!parsed) return parsed.error().message;
  const auto text = parsed->render(context);
  return text ? shown(*text) : text.error().message;
}

TEST(JinjaMarks, OfATemplateAndItsData) {
  EXPECT_EQ(marks("<s>{{ s }}</s>"), "<s>[ab,cd]</s>");
  EXPECT_EQ(marks("{{ '<|' + m[0].role + '|>' + m[0]['content'] + '<|end|>' }}"),
            "<|user|>[<|end|>]<|end|>");
  EXPECT_EQ(marks("{{ 1 ~ true ~ none }}"), "1TrueNone");
}

TEST(JinjaMarks, Joining) {
  EXPECT_EQ(marks("{{ 'x' + s + 'y' }}|{{ s ~ '-' ~ s }}"), "x[ab,cd]y|[ab,cd]-[ab,cd]");
  EXPECT_EQ(marks("{{ [s, 'x']|join('+') }}"), "[ab,cd]+x");
  EXPECT_EQ(marks("{{ s.join(['x', 'y']) }}"), "x[ab,cd]y");
  EXPECT_EQ(marks("{{ s * 2 }}{{ 'x' * 2 }}"), "[ab,cdab,cd]xx");
  EXPECT_EQ(marks("{% set a %}<{{ s }}>{% endset %}{{ a }}{{ a|length }}"), "<[ab,cd]>7");
  EXPECT_EQ(marks("{% macro f(a) %}({{ a }}){% endmacro %}{{ f(s) + f('x') }}"), "([ab,cd])(x)");
  EXPECT_EQ(marks("{% set ns = namespace(a='<') %}{% set ns.a = ns.a + s %}{{ ns.a + '>' }}"),
            "<[ab,cd]>");
}

TEST(JinjaMarks, GrowingInPlaceChangesNoOther) {
  EXPECT_EQ(marks("{% set a = 'x' %}{% set b = a + s %}{{ a }}{{ b }}{{ a + 'y' }}{{ a }}"),
            "xx[ab,cd]xyx");
  EXPECT_EQ(marks("{% for i in [1, 2] %}{{ ('c' + 'd') + s }}{% endfor %}"), "cd[ab,cd]cd[ab,cd]");
  EXPECT_EQ(marks("{{ (s + 'x') ~ s }}"), "[ab,cd]x[ab,cd]");
}

TEST(JinjaMarks, Cutting) {
  EXPECT_EQ(marks("{% set a = 'x' + s + 'y' %}{{ a[1:-1] }}|{{ a[:2] }}|{{ a[-2:] }}|{{ a[1] }}"),
            "[ab,cd]|x[a]|[d]y|[a]");
  EXPECT_EQ(marks("{{ ('x' + s)[::-1] }}{{ ('xy' + s)|reverse }}"), "[dc,ba]x[dc,ba]yx");
  EXPECT_EQ(marks("{{ (' ' + t + ' ')|trim }}"), "[x </think> y]");
  EXPECT_EQ(marks("{{ t.split('</think>')[-1].lstrip() + '.' }}"), "[y  ].");
  EXPECT_EQ(marks("{{ s.split(',')|join('; ') }}"), "[ab]; [cd]");
  EXPECT_EQ(marks("{{ (s + '\n' + s).splitlines()[1] }}"), "[ab,cd]");
  EXPECT_EQ(marks("{{ ('a,' + s).partition(',')[2] }}"), "[ab,cd]");
  EXPECT_EQ(marks("{{ s|first }}{{ s|last }}{{ s|list|last }}{{ (s + 'x')|last }}"), "[add]x");
  EXPECT_EQ(marks("{{ s.removeprefix('ab') }}{{ s|truncate(4, true, leeway=0) }}"), "[,cda]...");
}

TEST(JinjaMarks, Changing) {
  EXPECT_EQ(marks("{{ ('x' + s)|upper }}{{ s.title() }}{{ s|capitalize }}"), "X[AB,CDAb,CdAb,cd]");
  EXPECT_EQ(marks("{{ s|replace(',', '<>') }}{{ 'a-b'|replace('-', s) }}"), "[ab]<>[cd]a[ab,cd]b");
  EXPECT_EQ(marks("{{ '%s: %5s' % ('x', s[:2]) }}{{ '<{}>'.format(s) }}"), "x:    [ab]<[ab,cd]>");
  EXPECT_EQ(marks("{{ (s ~ '\n' ~ s)|indent(2) }}"), "[ab,cd]\n  [ab,cd]");
  EXPECT_EQ(marks("{{ s.center(7, '*') }}"), "*[ab,cd]*");
  EXPECT_EQ(marks("{{ m[0]|tojson }}"), R"({"role": "user", "content": "[<|end|>]"})");
  EXPECT_EQ(marks("{{ m[0].content|tojson }}{{ [s] }}"), "\"[<|end|>]\"['[ab,cd]']");
  EXPECT_EQ(marks("{{ s|map('upper')|join }}{{ s|sort|join }}"), "[AB,CD,abcd]");
  EXPECT_EQ(marks("{% filter upper %}x{{ s }}{% endfilter %}"), "X[AB,CD]");
}

TEST(JinjaMarks, FromJsonAllStringsAreData) {
  const auto text = jinja::render_json("<{{ a }}{{ b.c[0] }}>{% for k in b %}{{ k }}{% endfor %}",
                                       R"({"a": "x", "b": {"c": ["y", 1]}})");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(shown(*text), "<[xy]>[c]");
}

}  // namespace
}  // namespace looseleaf
