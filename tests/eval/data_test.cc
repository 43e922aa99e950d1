#include "eval/data.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace looseleaf {
namespace {

constexpr const char* kQaLine =
    R"({"id": "q1", "dataset": "nq", "type": null, "question": "who?", "answers": ["Ada", "A. L."], )"
    R"("ctxs": [{"title": "T", "text": "one", "gold": true}, {"title": "", "text": "two"}]})";

Expected<int> count_words(const std::string& text) {
  std::istringstream words(text);
  int count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

EvalTask qa(const std::string& text, DataOptions options = {}) {
  auto task = read_qa({"data/nq.jsonl", text}, options);
  EXPECT_TRUE(task) << task.error().message;
  return *task;
}

std::string qa_error(const std::string& text) {
  const auto task = read_qa({"nq.jsonl", text}, {});
  EXPECT_FALSE(task);
  return task ? "" : task.error().message;
}

TEST(QaData, ReadsSamples) {
  const EvalTask task = qa(std::string(kQaLine) + "\n\n");
  EXPECT_EQ(task.name, "nq");
  ASSERT_EQ(task.samples.size(), 1u);
  const EvalSample& sample = task.samples[0];
  EXPECT_EQ(sample.id, "q1");
  EXPECT_EQ(sample.answers, (std::vector<std::string>{"Ada", "A. L."}));
  EXPECT_EQ(sample.gold, "Ada");
  EXPECT_EQ(sample.request.question, "who?");
  ASSERT_EQ(sample.request.documents.size(), 2u);
  EXPECT_EQ(sample.request.documents[0].title, "T");
  EXPECT_EQ(sample.request.documents[1].text, "two");
  EXPECT_EQ(sample.request.max_tokens, 32);
  EXPECT_EQ(sample.request.sampling.temperature, 0);
}

TEST(QaData, TheHashIsTheFilesAndNotTheLimits) {
  std::string lines;
  for (const char* id : {"a", "b", "c"})
    lines += std::string(R"({"id": ")") + id + std::string(kQaLine).substr(9) + "\n";
  const EvalTask all = qa(lines), two = qa(lines, {.limit = 2});
  EXPECT_EQ(all.samples.size(), 3u);
  EXPECT_EQ(two.samples.size(), 2u);
  EXPECT_EQ(all.data_hash, two.data_hash);
  EXPECT_NE(qa(kQaLine).data_hash, all.data_hash);
}

TEST(QaData, NamesFileLineAndField) {
  const std::string good = std::string(kQaLine) + "\n";
  EXPECT_NE(qa_error("").find("nq.jsonl: holds no samples"), std::string::npos);
  EXPECT_NE(qa_error(good + good).find("nq.jsonl:2: id: 'q1' was there before"), std::string::npos);
  EXPECT_NE(qa_error(good + "\n{").find("nq.jsonl:3: "), std::string::npos);
  EXPECT_NE(qa_error("[]").find("nq.jsonl:1: "), std::string::npos);
  EXPECT_NE(qa_error(R"({"answers": ["x"], "ctxs": [{"text": "t"}]})").find("question: is missing"),
            std::string::npos);
  EXPECT_NE(qa_error(R"({"question": "q", "ctxs": [{"text": "t"}]})").find("answers: is missing"),
            std::string::npos);
  EXPECT_NE(qa_error(R"({"question": "q", "answers": [], "ctxs": [{"text": "t"}]})")
                .find("answers: is empty"),
            std::string::npos);
  EXPECT_NE(qa_error(R"({"question": "q", "answers": ["x"], "ctxs": []})").find("ctxs: is empty"),
            std::string::npos);
  EXPECT_NE(qa_error(R"({"question": "q", "answers": ["x"], "ctxs": [{"text": 3}]})")
                .find("ctxs[0].text: "),
            std::string::npos);
}

TEST(QaData, ReadsTheLargerData) {
  const char* folder = std::getenv("LOOSELEAF_TEST_DATA");
  const auto packed =
      std::filesystem::path(folder != nullptr ? folder : "") / "qa" / "musique_first100.jsonl.zst";
  if (folder == nullptr || !std::filesystem::exists(packed))
    GTEST_SKIP() << "LOOSELEAF_TEST_DATA names no folder with qa/";
  const std::string command = "zstd -qdc '" + packed.string() + "'";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char buffer[4096];
  for (size_t count = 0; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  ASSERT_EQ(pclose(pipe), 0);
  const EvalTask task = qa(text);
  EXPECT_EQ(task.samples.size(), 100u);
  for (const EvalSample& sample : task.samples) EXPECT_EQ(sample.request.documents.size(), 20u);
}

std::string longbench_line(const std::string& dataset, const std::string& context) {
  return R"({"_id": "x", "dataset": ")" + dataset +
         R"(", "input": "why {context}?", "context": ")" + context +
         R"(", "answers": ["because"], "length": 3, "all_classes": null})" + "\n";
}

EvalTask longbench(const std::string& text, DataOptions options = {}) {
  auto task = read_longbench({"lb.jsonl", text}, options, count_words);
  EXPECT_TRUE(task) << task.error().message;
  return *task;
}

// All text of the one message, in order.
std::string message_text(const Request& request) {
  std::string text;
  for (const ContentPart& part : request.messages.at(0).content) {
    const auto* piece = std::get_if<std::string>(&part);
    text += piece != nullptr ? *piece : "[" + std::get<Document>(part).text + "]";
  }
  return text;
}

TEST(LongBench, WritesTheBenchmarksPromptAroundItsPassages) {
  const EvalTask task = longbench(
      longbench_line("hotpotqa", "Passage 1:\\nA.\\n\\nPassage 2:\\nB. Passage 9: no.\\n"));
  EXPECT_EQ(task.name, "hotpotqa");
  EXPECT_EQ(task.metrics, (std::vector<TextMetric>{TextMetric::kF1}));
  const Request& request = task.samples.at(0).request;
  EXPECT_EQ(request.max_tokens, 32);
  EXPECT_EQ(message_text(request),
            "Answer the question based on the given passages. Only give me the answer and do not "
            "output any other words.\n\nThe following are given passages.\n"
            "[Passage 1:\nA.\n\n][Passage 2:\nB. Passage 9: no.\n]\n\n"
            "Answer the question based on the given passages. Only give me the answer and do not "
            "output any other words.\n\nQuestion: why {context}?\nAnswer:");
}

TEST(LongBench, FewShotTasksAreCompletions) {
  const EvalTask task = longbench(longbench_line("samsum", "One.\\n\\nTwo."));
  EXPECT_EQ(task.metrics, (std::vector<TextMetric>{TextMetric::kRougeL}));
  EXPECT_TRUE(task.first_line_only);
  const Request& request = task.samples.at(0).request;
  EXPECT_TRUE(request.messages.empty());
  EXPECT_EQ(std::get<std::string>(*request.prompt), "\n\nwhy {context}?");
  EXPECT_EQ(request.documents.size(), 2u);
}

TEST(LongBench, RefusesTasksThatItDoesNotHave) {
  const auto task = read_longbench({"lb.jsonl", longbench_line("lcc", "x")}, {}, count_words);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(task.error().message.find("lb.jsonl:1: dataset: 'lcc'"), std::string::npos);
  const auto mixed =
      read_longbench({"lb.jsonl", longbench_line("qasper", "x") + longbench_line("musique", "x")},
                     {}, count_words);
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message.find("lb.jsonl:2: dataset"), std::string::npos);
  const auto chunk =
      read_longbench({"lb.jsonl", longbench_line("qasper", "x")}, {.chunk = "big"}, count_words);
  ASSERT_FALSE(chunk);
  EXPECT_EQ(chunk.error().code, ErrorCode::kUsage);
}

TEST(CutContext, PiecesAddUpToTheContext) {
  const std::string texts[] = {"Passage 1:\nA b c.\n\nPassage 2:\nD e f g. H i j.\nPassage 3: k",
                               "One two three. Four five six! Seven\neight nine ten\n\n\nEleven",
                               "\n\nstart after blank lines\n\nend\n\n",
                               "wordwithoutend " + std::string(300, 'x') +
                                   " and more words to come. " +
                                   "A sentence with nine words to be cut anywhere."};
  for (const std::string& text : texts)
    for (const int tokens : {0, 1, 3, 5, 100}) {
      SCOPED_TRACE(tokens);
      const auto chunks = cut_context(text, tokens, count_words);
      ASSERT_TRUE(chunks);
      std::string whole;
      for (const std::string& chunk : *chunks) {
        whole += chunk;
        EXPECT_FALSE(chunk.empty());
        EXPECT_LE(tokens > 0 ? *count_words(chunk) : 0, tokens) << chunk;
      }
      EXPECT_EQ(whole, text);
    }
  EXPECT_EQ(cut_context(texts[0], 0, count_words)->size(), 3u);
  EXPECT_EQ(cut_context(texts[1], 0, count_words)->size(), 2u);
  EXPECT_EQ(cut_context(texts[1], 3, count_words)->size(), 5u);
}

}  // namespace
}  // namespace looseleaf
