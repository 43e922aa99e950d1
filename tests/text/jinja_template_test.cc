// Templates against what Python's jinja2 wrote, and the errors that they give.
#include "text/jinja/template.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

namespace looseleaf {
namespace {

namespace json = boost::json;

jinja::RenderOptions options() {
  jinja::RenderOptions made;
  made.clock = [] {  // a Saturday
    std::tm now{};
    now.tm_year = 126;
    now.tm_mon = 6;
    now.tm_mday = 4;
    now.tm_hour = 9;
    now.tm_min = 8;
    now.tm_sec = 7;
    now.tm_wday = 6;
    now.tm_yday = 184;
    return now;
  };
  return made;
}

std::string rendered(std::string_view source, std::string_view context = "{}") {
  const auto text = jinja::render_json(source, context, options());
  return text ? text->text() : "error: " + text.error().message;
}

TEST(JinjaTemplate, ConstructsAsJinja2WritesThem) {
  std::ifstream file(std::string(LOOSELEAF_TEXT_DIR) + "/constructs.golden.json");
  std::stringstream contents;
  contents << file.rdbuf();
  const json::value golden = json::parse(contents.str());
  const std::string context = json::serialize(golden.at("context"));
  size_t texts = 0, refusals = 0;
  for (const json::value& row : golden.at("templates").as_array()) {
    const std::string source = json::value_to<std::string>(row.at("template"));
    const auto text = jinja::render_json(source, context, options());
    if (row.at("text").is_null()) {
      EXPECT_FALSE(text) << source << "\ngives " << text->text();
      ++refusals;
    } else {
      ASSERT_TRUE(text) << source << "\n" << text.error().message;
      EXPECT_EQ(text->text(), json::value_to<std::string>(row.at("text"))) << source;
      ++texts;
    }
  }
  EXPECT_GT(texts, 100u);
  EXPECT_GT(refusals, 100u);
}

TEST(JinjaTemplate, ErrorsSayWhere) {
  EXPECT_EQ(rendered("a\n{{ x.y }}"), "error: template, line 2: 'x' is undefined");
  EXPECT_EQ(rendered("\n\n{% if x %}"),
            "error: template, line 3: endif is missing for the block that opens here");
  EXPECT_EQ(rendered("{{ raise_exception('Roles\nmust alternate') }}"),
            "error: template, line 1: the template refuses this: Roles must alternate");
  EXPECT_EQ(rendered("{{ a.b.c }}", R"({"a": {}})"),
            "error: template, line 1: 'dict object' has no attribute 'b'");
  EXPECT_EQ(rendered("\n{{ 'a' + 1 }}"), "error: template, line 2: str + int is not supported");
  EXPECT_EQ(rendered("{{ 'a'|nothing }}"), "error: template, line 1: no filter is named 'nothing'");
  EXPECT_EQ(rendered("{# x\ny #}\n{{ 'a\nb' }}{{ ( }}"), "error: template, line 4: unexpected '}'");
}

TEST(JinjaTemplate, WhatJinja2HasAndThisVersionHasNotIsNamed) {
  for (const std::string tag :
       {"include 'x'", "extends 'x'", "import 'x' as y", "block b", "call f()", "do f()"}) {
    const auto parsed = jinja::Template::parse("{% " + tag + " %}", "template");
    ASSERT_FALSE(parsed) << tag;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupported) << tag;
  }
  for (const std::string source :
       {"{{ f(*a) }}", "{{ f(**a) }}", "{{ a[1, 2] }}", "{{ 99999999999999999999 }}",
        "{% for a in b recursive %}{% endfor %}", "{% macro f() %}{{ caller() }}{% endmacro %}"}) {
    const auto parsed = jinja::Template::parse(source, "template");
    ASSERT_FALSE(parsed) << source;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupported) << source;
  }
}

TEST(JinjaTemplate, NumbersBeyond64BitsAreRefusedNotWrapped) {
  for (const std::string source :
       {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4294967296 * 4294967296", "2 ** 63",
        "-(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1",
        "(-9223372036854775807 - 1)|abs", "'9223372036854775808'|int", "1e300|int", "3 ** 99"})
    EXPECT_NE(rendered("{{ " + source + " }}").find("64 bits"), std::string::npos)
        << source << rendered("{{ " + source + " }}");
  EXPECT_EQ(rendered("{{ (-9223372036854775807 - 1) % -1 }}"), "0");
  EXPECT_EQ(rendered("{{ [1, 2][-9223372036854775807:] }}{{ 'abc'[::-9223372036854775807] }}"),
            "[1, 2]c");
}

TEST(JinjaTemplate, NothingOfTheHostIsReachable) {
  for (const std::string source :
       {"''.__class__", "''['__class__']", "[].__len__", "{}.__getitem__", "range.__globals__",
        "namespace().__dict__", "(1).__add__", "none.__class__", "''.join.__self__",
        "raise_exception.__code__", "'x'|map(attribute='__class__')|first"})
    EXPECT_EQ(rendered("{{ " + source + " is defined }}{{ " + source + " }}"), "False") << source;
  EXPECT_EQ(rendered("{{ '{0.__class__}'.format(1) }}"),
            "error: template, line 1: format: only {}, {0} and {name} are supported");
  EXPECT_EQ(rendered("{{ self is defined }}{{ config is defined }}{{ request is defined }}"),
            "FalseFalseFalse");
}

TEST(JinjaTemplate, WithoutAClockThereIsNoTime) {
  EXPECT_EQ(jinja::render_json("{{ strftime_now is defined }}", "{}")->text(), "False");
  EXPECT_EQ(rendered("{{ strftime_now('%d %b %Y') }}"), "04 Jul 2026");
  EXPECT_EQ(rendered("{{ strftime_now('%999999999d') }}"),
            "error: template, line 1: strftime_now: no conversion is called '%9'");
  EXPECT_EQ(rendered("{{ strftime_now('%') }}"),
            "error: template, line 1: strftime_now: no conversion is called '%'");
}

TEST(JinjaTemplate, RendersAgainAndAgain) {
  const auto parsed = jinja::Template::parse(
      "{% set ns = namespace(a=0) %}{% for i in x %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a "
      "}}",
      "template");
  ASSERT_TRUE(parsed);
  jinja::Sequence list;
  list.items = {jinja::Value(int64_t{2}), jinja::Value(int64_t{3})};
  const jinja::Variables context = {{"x", jinja::Value(std::make_shared<jinja::Sequence>(list))}};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(parsed->render(context)->text(), "5");
}

}  // namespace
}  // namespace looseleaf
