// What hostile templates ask for, and the errors that they get: at once, with a line.
#include <gtest/gtest.h>

#include <chrono>

#include "text/jinja/template.h"

namespace looseleaf {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string refused(const std::string& source, const std::string& context = "{}",
                    const jinja::RenderOptions& options = {}) {
  const auto start = std::chrono::steady_clock::now();
  const auto text = jinja::render_json(source, context, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 30) << source.substr(0, 80);
  if (text) return "rendered " + std::to_string(text->text().size()) + " bytes";
  EXPECT_EQ(text.error().message.find('\n'), std::string::npos);
  return text.error().message;
}

#define EXPECT_SAYS(source, words) \
  EXPECT_NE(refused(source).find(words), std::string::npos) << refused(source)

TEST(JinjaLimits, Memory) {
  EXPECT_SAYS(
      "{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a + ns.a %}"
      "{% endfor %}",
      "builds more than");
  EXPECT_SAYS(
      "{% set ns = namespace(a=['x']) %}{% for i in range(99) %}{% set ns.a = ns.a + ns.a %}"
      "{% endfor %}",
      "builds more than");
  EXPECT_SAYS("{{ 'x' * 10**12 }}", "builds more than");
  EXPECT_SAYS("{{ 'xyz' * (2**62) }}", "builds more than");
  EXPECT_SAYS("{{ [1] * 10**12 }}", "too long");
  EXPECT_SAYS("{{ 'x'.center(10**15) }}", "builds more than");
  EXPECT_SAYS("{{ 'x'|center(10**15) }}", "builds more than");
  EXPECT_SAYS("{{ 'x'.zfill(10**15) }}", "builds more than");
  EXPECT_SAYS("{{ 'x\ny'|indent(10**15) }}", "builds more than");
  EXPECT_SAYS("{{ '%1000000000s' % 'x' }}", "too large");
  EXPECT_SAYS("{{ '%*d' % (10**15, 1) }}", "builds more than");
  EXPECT_SAYS("{{ '%.999999999f' % 1 }}", "too large");
  EXPECT_SAYS("{{ '%.2000f' % 1 }}", "precision");
  EXPECT_SAYS("{{ [[]]|tojson(indent=10**15) }}", "builds more than");
  EXPECT_SAYS("{% set a = 'x' * 10**6 %}{{ a|replace('x', a) }}", "builds more than");
  EXPECT_SAYS("{{ ('x' * 10**7)|list|length }}", "builds more than");
  EXPECT_SAYS("{{ [1]|batch(10**9, 0)|list }}", "too large");
  EXPECT_SAYS("{{ []|slice(10**9)|list }}", "too large");
  // A value that holds itself twice, and that twice, has few values and endless text. A lower limit
  // than the default, so that sanitizers are through in time too.
  jinja::RenderOptions options;
  options.limits.built_bytes = 1 << 20;
  const std::string doubled = refused(
      "{% set ns = namespace(a=[]) %}{% for i in range(50) %}{% set ns.a = [ns.a, ns.a] %}"
      "{% endfor %}{{ ns.a }}",
      "{}", options);
  EXPECT_NE(doubled.find("builds more than 1048576 bytes"), std::string::npos) << doubled;
}

// Fewer steps than the default, so that sanitizers are through in time too.
std::string out_of_steps(const std::string& source) {
  jinja::RenderOptions options;
  options.limits.steps = 300'000;
  return refused(source, "{}", options);
}

TEST(JinjaLimits, Time) {
  EXPECT_SAYS("{{ range(10**9) }}", "range: more than 100000 numbers");
  EXPECT_SAYS("{{ range(-9223372036854775807, 9223372036854775807) }}", "range: more than");
  EXPECT_SAYS("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
              "more than");
  EXPECT_SAYS("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "deep");
  EXPECT_SAYS("{% macro f() %}{% for i in range(9) %}{{ f() }}{% endfor %}{% endmacro %}{{ f() }}",
              "deep");
  const std::string shared =
      "{% set ns = namespace(a=[], b=[]) %}{% for i in range(50) %}"
      "{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}";
  for (const std::string& source :
       {std::string(
            "{% for a in range(99999) %}{% for b in [1, 2] %}{{ a }}{% endfor %}{% endfor %}"),
        shared + "{{ ns.a == ns.b }}", shared + "{{ ns.a < ns.b }}",
        shared + "{{ ns.a|tojson|length }}", std::string("{{ range(99999)|unique|list }}"),
        std::string("{% set a = 'x' * 10**6 %}{% for i in range(99999) %}{% set b = a[i] %}"
                    "{% endfor %}"),
        std::string("{% set a = 'x' * 10**6 %}{% for i in range(99999) %}{{ 'yy' in a }}"
                    "{% endfor %}")})
    EXPECT_NE(out_of_steps(source).find("more than 300000 steps"), std::string::npos)
        << source << out_of_steps(source);
}

TEST(JinjaLimits, Nesting) {
  EXPECT_SAYS("{{ " + repeated("(", 100000) + "1" + repeated(")", 100000) + " }}", "nest");
  EXPECT_SAYS("{{ " + repeated("[", 100000) + repeated("]", 100000) + " }}", "nest");
  EXPECT_SAYS("{{ " + repeated("{'a':", 50000) + "1" + repeated("}", 50000) + " }}", "nest");
  EXPECT_SAYS("{{ " + repeated("- ", 100000) + "1 }}", "nest");
  EXPECT_SAYS("{{ " + repeated("not ", 100000) + "1 }}", "nest");
  EXPECT_SAYS("{{ 1" + repeated(" + 1", 100000) + " }}", "levels");
  EXPECT_SAYS("{{ 1" + repeated(" if 1 else 1", 50000) + " }}", "nest");
  EXPECT_SAYS("{{ a" + repeated(".a", 100000) + " }}", "levels");
  EXPECT_SAYS("{{ a" + repeated("|upper", 100000) + " }}", "levels");
  EXPECT_SAYS("{{ a" + repeated("()", 100000) + " }}", "levels");
  EXPECT_SAYS("{{ a" + repeated(" is odd(a", 50000) + repeated(")", 50000) + " }}", "nest");
  EXPECT_SAYS(repeated("{% if a %}", 50000), "nest");
  EXPECT_SAYS(repeated("{% for a in b %}", 50000), "nest");
  EXPECT_SAYS("{% set " + repeated("(", 100000) + "a" + repeated(")", 100000) + " = 1 %}", "nest");
  EXPECT_SAYS(
      "{% set ns = namespace(a=[]) %}{% for i in range(99999) %}{% set ns.a = [ns.a] %}"
      "{% endfor %}",
      "values nest");
  EXPECT_SAYS(
      "{% set ns = namespace(f=''.join) %}{% for i in range(99999) %}"
      "{% set ns.f = [ns.f].index %}{% endfor %}",
      "values nest");
  // A long chain of branches is no nesting.
  EXPECT_EQ(refused("{% if a %}" + repeated("{% elif a %}", 5000) + "{% else %}x{% endif %}"),
            "rendered 1 bytes");
}

TEST(JinjaLimits, NothingHoldsItself) {
  EXPECT_SAYS("{% set ns = namespace() %}{% set ns.a = ns %}", "not supported");
  EXPECT_SAYS("{% set ns = namespace() %}{% set ns.a = [ns] %}", "not supported");
  EXPECT_SAYS("{% set ns = namespace() %}{% set b = {'a': ns} %}", "not supported");
  EXPECT_SAYS("{% set ns = namespace() %}{% for i in [1] %}{% set ns.a = loop %}{% endfor %}",
              "not supported");
  EXPECT_SAYS(
      "{% set ns = namespace() %}{% for i in [1] %}{% macro f() %}{% endmacro %}"
      "{% set ns.f = f %}{% endfor %}{{ ns.f() }}",
      "outside of where it stands");
}

TEST(JinjaLimits, Output) {
  jinja::RenderOptions small;
  small.limits.output_bytes = 100;
  const auto text = jinja::render_json("{% for i in range(99) %}{{ i }},{% endfor %}", "{}", small);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "template, line 1: it writes more than 100 bytes");
}

TEST(JinjaLimits, LargeChatsFit) {
  jinja::RenderOptions options;
  const std::string megabyte(1 << 20, 'x');
  std::string context = R"({"messages": [)";
  for (int i = 0; i < 20; ++i) context += (i > 0 ? ", \"" : "\"") + megabyte + "\"";
  context += "]}";
  options.limits = jinja::limits_for(context.size());
  const auto text = jinja::render_json(
      "{% for m in messages %}{{ '<|im_start|>' + m|trim + '<|im_end|>' + '\n' }}"
      "{{ m.split('</think>')[-1].lstrip() }}{% endfor %}",
      context, options);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_GT(text->text().size(), 40u << 20);
}

TEST(JinjaLimits, NoTemplateAtAll) {
  EXPECT_SAYS(std::string(2 << 20, 'x'), "more than a template may have");
  EXPECT_SAYS("a\xFF", "not UTF-8 at byte 1");
  EXPECT_NE(refused("x", "[]").find("context"), std::string::npos);
  EXPECT_NE(refused("x", "{\"a\": 18446744073709551615}").find("context"), std::string::npos);
  EXPECT_EQ(refused(""), "rendered 0 bytes");
}

}  // namespace
}  // namespace looseleaf
