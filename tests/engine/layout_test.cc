// Patterns and what is put into them.
#include "engine/layout.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

std::string rendered(const std::string& pattern, const Document& document) {
  const Layout layout{"", pattern, pattern, ""};
  const auto text = render_document(layout, document);
  return text ? *text : "error in " + text.error().param + ": " + text.error().message;
}

Document made(const std::string& text, const std::string& title = "") {
  Document document;
  document.text = text;
  document.title = title;
  return document;
}

TEST(LayoutTest, Named) {
  const Document titled = made("Text.", "Title"), bare = made("Text.");
  for (const char* name : {"qa", "plain", "auto"}) {
    const auto layout = resolve_layout(name, false);
    ASSERT_TRUE(layout);
    EXPECT_EQ(*render_document(*layout, titled), "Title: Title\nText.\n\n");
    EXPECT_EQ(*render_document(*layout, bare), "Text.\n\n");
  }
  EXPECT_EQ(resolve_layout("qa", true)->intro, "Answer from the documents.\n\n");
  EXPECT_EQ(*render_question(*resolve_layout("qa", false), "Who?"), "Question: Who?");
  EXPECT_EQ(*render_question(*resolve_layout("plain", false), "Who?"), "Who?");
}

TEST(LayoutTest, AutoIsPlainBehindASystemMessage) {
  EXPECT_EQ(resolve_layout("auto", false)->intro, "Answer from the documents.\n\n");
  EXPECT_EQ(resolve_layout("auto", true)->intro, "");
  EXPECT_EQ(resolve_layout("auto", true)->question, "{question}");
}

TEST(LayoutTest, UnknownNames) {
  for (const char* name : {"", "QA", "chat"}) {
    const auto layout = resolve_layout(name, false);
    ASSERT_FALSE(layout);
    EXPECT_EQ(layout.error().param, "layout");
    EXPECT_NE(layout.error().message.find("qa, plain"), std::string::npos);
  }
}

// Data is never read as a pattern: neither a document's braces nor what its title brings in.
TEST(LayoutTest, OnePass) {
  EXPECT_EQ(rendered("{title}|{text}", made("a {title} {b} {", "{text}")),
            "{text}|a {title} {b} {");
  const Layout layout{"", "", "", "Q: {question}!"};
  EXPECT_EQ(*render_question(layout, "{question} }{ {title}"), "Q: {question} }{ {title}!");
}

TEST(LayoutTest, Placeholders) {
  Document document = made("t", "T");
  document.id = "7";
  document.metadata = {{"date", "1884"}, {"a.b", "c"}, {"", "empty"}};
  EXPECT_EQ(rendered("{id}/{metadata.date}/{metadata.a.b}/{metadata.}", document),
            "7/1884/c/empty");
  EXPECT_EQ(rendered("{text}{text}", document), "tt");
  EXPECT_EQ(rendered("no placeholder }", document), "no placeholder }");
  EXPECT_EQ(rendered("", document), "");
}

TEST(LayoutTest, Untitled) {
  const Layout layout{"", "titled", "untitled [{title}]", ""};
  EXPECT_EQ(*render_document(layout, made("x", "T")), "titled");
  EXPECT_EQ(*render_document(layout, made("x")), "untitled []");
}

TEST(LayoutTest, PatternsThatCannotBeFilled) {
  EXPECT_EQ(rendered("{text} {", made("x", "T")),
            "error in layout.document: layout.document: the brace at byte 7 is never closed");
  EXPECT_NE(rendered("{text", made("x")).find("error in layout.document_untitled"),
            std::string::npos);
  for (const char* pattern : {"{index}", "{Text}", "{ text}", "{}", "{metadata.date}", "{metadata}",
                              "{question}", "{\"text\": \"{text}\"}"})
    EXPECT_NE(rendered(pattern, made("x")).find("no value for the placeholder"), std::string::npos)
        << pattern;
  const auto question = render_question({"", "", "", "{text}"}, "x");
  ASSERT_FALSE(question);
  EXPECT_EQ(question.error().param, "layout.question");
}

}  // namespace
}  // namespace looseleaf
