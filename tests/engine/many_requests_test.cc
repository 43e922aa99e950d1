// One request alone and among 63 others in one pass, over shared documents: with `deterministic`
// the same logits to the bit, step after step.
#include <algorithm>
#include <random>

#include "engine/sequence.h"
#include "test_engine.h"

namespace looseleaf {
namespace {

constexpr int kRequests = 64, kDocuments = 10, kEach = 4, kSteps = 5;

std::vector<int32_t> random_tokens(int count, int vocab, std::mt19937& random) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens)
    token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocab));
  return tokens;
}

// Each has some of the documents, in an order of its own.
std::vector<Prompt> prompts_over(int vocab) {
  std::mt19937 random(3);
  std::vector<std::vector<int32_t>> documents;
  for (int i = 0; i < kDocuments; ++i) documents.push_back(random_tokens(9 + 7 * i, vocab, random));
  std::vector<Prompt> prompts;
  for (int r = 0; r < kRequests; ++r) {
    std::shuffle(documents.begin(), documents.end(), random);
    prompts.push_back(make_prompt(random_tokens(3, vocab, random),
                                  {documents.begin(), documents.begin() + kEach},
                                  random_tokens(2 + r % 9, vocab, random), {}));
  }
  return prompts;
}

// The last token of each sequence.
Pass decode_pass(std::vector<Sequence>& sequences, int layers) {
  Pass pass;
  for (Sequence& sequence : sequences) {
    Pass own = pending_text(sequence, sequence.parts.size(), layers);
    const auto segments = static_cast<int32_t>(pass.segments.size());
    const auto groups = static_cast<int32_t>(pass.groups.size());
    pass.segments.insert(pass.segments.end(), own.segments.begin(), own.segments.end());
    for (PassGroup& group : own.groups) {
      for (SegmentUse& use : group.uses) use.segment += segments;
      pass.groups.push_back(std::move(group));
    }
    for (PassRow row : own.rows) {
      row.group += groups;
      pass.rows.push_back(row);
    }
  }
  pass.outputs = static_cast<int>(pass.rows.size());
  return pass;
}

int32_t largest(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

class ManyRequests : public testing::TestWithParam<const char*> {};

TEST_P(ManyRequests, TheSameBitsAloneAndAmongOthers) {
  const auto core = make_core(
      golden_dir() / GetParam(),
      {.threads = 2, .cache_bytes = 256 << 20, .private_kv_type = "f32", .deterministic = true});
  const auto vocab = static_cast<size_t>(core->model->config.vocab);
  const Method method = value_of(parse_method("reuse", true));
  const std::vector<Prompt> prompts = prompts_over(core->model->config.vocab);
  std::vector<Sequence> together;
  std::vector<std::vector<float>> logits;  // of each request's next token
  for (const Prompt& prompt : prompts) {
    together.push_back(value_of(bind_prompt(*core, prompt, method, "")));
    logits.emplace_back(vocab);
    ASSERT_TRUE(compute_text(*core, together.back(), logits.back()));
  }
  std::vector<std::vector<std::vector<float>>> steps = {logits};  // [steps][requests][vocab]
  for (int step = 0; step < kSteps; ++step) {
    for (size_t r = 0; r < together.size(); ++r)
      ASSERT_TRUE(append_token(*core, together[r], largest(logits[r])));
    const Pass pass = decode_pass(together, core->model->config.layers);
    ASSERT_EQ(pass.rows.size(), size_t{kRequests});
    std::vector<float> all(vocab * kRequests);
    ASSERT_TRUE(core->forward.run(pass, all));
    for (size_t r = 0; r < together.size(); ++r) {
      logits[r].assign(all.begin() + static_cast<std::ptrdiff_t>(r * vocab),
                       all.begin() + static_cast<std::ptrdiff_t>((r + 1) * vocab));
      ++together[r].tail().computed;
    }
    steps.push_back(logits);
  }
  for (const size_t r : {size_t{0}, size_t{17}, size_t{63}}) {
    Sequence alone = value_of(bind_prompt(*core, prompts[r], method, ""));
    std::vector<float> own(vocab);
    ASSERT_TRUE(compute_text(*core, alone, own));
    for (int step = 0; step <= kSteps; ++step) {
      ASSERT_EQ(own, steps[static_cast<size_t>(step)][r]) << "request " << r << ", step " << step;
      if (step == kSteps) break;
      ASSERT_TRUE(append_token(*core, alone, largest(own)));
      ASSERT_TRUE(compute_text(*core, alone, own));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ManyRequests,
                         testing::Values("llama3_hf_bf16", "llama_q4_0.gguf", "qwen3_hf"),
                         [](const auto& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

}  // namespace
}  // namespace looseleaf
