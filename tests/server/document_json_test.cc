// The accepted forms of a document, as a list and as content parts.
#include "server/document_json.h"

#include <gtest/gtest.h>

#include <string>

#include "server/body_testing.h"

namespace looseleaf {
namespace {

Document document(const std::string& json) {
  const ParsedRequest body = parse_ok(chat_body("\"documents\": [" + json + "]"));
  return body.request.documents.empty() ? Document{} : body.request.documents[0];
}

TEST(Documents, AString) { EXPECT_EQ(document(R"("plain")").text, "plain"); }

TEST(Documents, FourNamesOfTheText) {
  for (const char* name : {"text", "content", "page_content", "snippet"}) {
    const Document read =
        document(fmt::format(R"({{"{}": "body", "title": "T", "id": "7"}})", name));
    EXPECT_EQ(read.text, "body") << name;
    EXPECT_EQ(read.title, "T");
    EXPECT_EQ(read.id, "7");
  }
}

TEST(Documents, MetadataBecomesText) {
  const Document read = document(
      R"({"text": "x", "title": null, "metadata": {"source": "a.md", "page": 3, "score": 0.5,
          "draft": false, "tags": ["a", 1], "gone": null}})");
  EXPECT_EQ(read.metadata, (std::map<std::string, std::string>{{"source", "a.md"},
                                                               {"page", "3"},
                                                               {"score", "0.5"},
                                                               {"draft", "false"},
                                                               {"tags", "[\"a\",1]"}}));
}

TEST(Documents, Coheres) {
  const Document object =
      document(R"({"id": "c1", "data": {"title": "T", "snippet": "body", "url": "http://x"}})");
  EXPECT_EQ(object.id, "c1");
  EXPECT_EQ(object.title, "T");
  EXPECT_EQ(object.text, "body");
  EXPECT_EQ(object.metadata.at("url"), "http://x");
  EXPECT_EQ(document(R"({"data": "body"})").text, "body");
}

TEST(Documents, Tokens) {
  const Document read = document(R"({"tokens": [5, 6], "id": "t"})");
  EXPECT_EQ(read.tokens, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(read.id, "t");
}

TEST(Documents, Refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"5", "documents[0]"},
      {"[]", "documents[0]"},
      {"null", "documents[0]"},
      {R"("")", "documents[0]"},
      {"{}", "documents[0].text"},
      {R"({"title": "T"})", "documents[0].text"},
      {R"({"text": ""})", "documents[0].text"},
      {R"({"text": 5})", "documents[0].text"},
      {R"({"text": "a", "content": "a"})", "documents[0].content"},
      {R"({"text": "a", "tokens": [1]})", "documents[0].tokens"},
      {R"({"tokens": []})", "documents[0].tokens"},
      {R"({"tokens": [1, -1]})", "documents[0].tokens[1]"},
      {R"({"tokens": "1 2"})", "documents[0].tokens"},
      {R"({"data": {"title": "T"}})", "documents[0].data.text"},
      {R"({"data": 5})", "documents[0].data"},
      {R"({"data": {"text": "a"}, "text": "b"})", "documents[0].data"},
      {R"({"text": "a", "title": 5})", "documents[0].title"},
      {R"({"text": "a", "id": 5})", "documents[0].id"},
      {R"({"text": "a", "metadata": []})", "documents[0].metadata"},
  };
  for (const auto& [json, param] : cases) {
    const Error error = parse_refused(chat_body(std::string("\"documents\": [") + json + "]"));
    EXPECT_EQ(error.param, param) << json << "\n" << error.message;
  }
}

std::string part_body(const std::string& role, const std::string& part) {
  return R"({"messages": [{"role": ")" + role + R"(", "content": [)" + part +
         R"(, {"type": "text", "text": "Why?"}]}]})";
}

TEST(DocumentParts, OursCoheresAndAnthropics) {
  for (const char* part :
       {R"({"type": "document", "document": {"text": "body", "title": "T"}})",
        R"({"type": "document", "document": {"id": "1", "data": {"text": "body", "title": "T"}}})",
        R"({"type": "document", "title": "T", "citations": {"enabled": false},
            "source": {"type": "text", "media_type": "text/plain", "data": "body"}})"}) {
    for (const char* role : {"user", "tool"}) {
      const ParsedRequest body = parse_ok(part_body(role, part));
      ASSERT_EQ(body.request.messages.size(), 1u);
      const auto& content = body.request.messages[0].content;
      ASSERT_EQ(content.size(), 2u);
      EXPECT_EQ(std::get<Document>(content[0]).text, "body") << part;
      EXPECT_EQ(std::get<Document>(content[0]).title, "T") << part;
      EXPECT_EQ(std::get<std::string>(content[1]), "Why?");
    }
  }
}

TEST(DocumentParts, AnthropicsContextIsMetadata) {
  const ParsedRequest body = parse_ok(part_body(
      "user", R"({"type": "document", "source": {"type": "text", "data": "x"}, "context": "c"})"));
  EXPECT_EQ(std::get<Document>(body.request.messages.at(0).content.at(0)).metadata.at("context"),
            "c");
}

TEST(DocumentParts, Refused) {
  const std::string document = R"({"type": "document", "document": "x"})";
  EXPECT_EQ(parse_refused(part_body("assistant", document)).param, "messages[0].content[0].type");
  EXPECT_EQ(parse_refused(part_body("system", document)).param, "messages[0].content[0].type");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type": "document"})", "messages[0].content[0].document"},
      {R"({"type": "document", "document": {}})", "messages[0].content[0].document.text"},
      {R"({"type": "document", "source": {"type": "base64"}})",
       "messages[0].content[0].source.type"},
      {R"({"type": "document", "source": {"type": "text"}})", "messages[0].content[0].source.data"},
      {R"({"type": "document", "citations": {"enabled": true},
           "source": {"type": "text", "data": "x"}})",
       "messages[0].content[0].citations.enabled"},
      {R"({"type": "text"})", "messages[0].content[0].text"},
      {R"({"text": "x"})", "messages[0].content[0].type"},
  };
  for (const auto& [part, param] : cases) {
    EXPECT_EQ(parse_refused(part_body("user", part)).param, param) << part;
  }
}

// Two places for the documents of one message: nobody could say in which order they stand.
TEST(DocumentParts, BesideAListOfDocuments) {
  const std::string body = R"({"messages": [{"role": "user", "content": [
      {"type": "document", "document": "x"}, {"type": "text", "text": "?"}]}],
      "documents": ["y"]})";
  EXPECT_EQ(parse_refused(body).param, "documents");
}

}  // namespace
}  // namespace looseleaf
