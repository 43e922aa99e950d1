// What every repair must satisfy, whatever it chooses.
#include "engine/repair.h"

#include <algorithm>
#include <numeric>

#include "asking.h"
#include "engine/flops.h"
#include "engine/repair_pass.h"
#include "engine/run_pieces.h"
#include "repairing.h"

namespace looseleaf {
namespace {

std::unique_ptr<EngineCore> repair_core(const std::string& model = "repair_hf",
                                        EngineOptions options = {.exact = true}) {
  options.threads = 2;
  options.cache_bytes = 256 << 20;
  return make_core(golden_dir() / model, options);
}

Ids small_ids(int count, uint64_t seed, int vocab) {
  Ids tokens = ids(count, seed);
  for (int32_t& token : tokens) token = 3 + token % (vocab - 3);
  return tokens;
}

Prompt some_prompt(int vocab) {
  return make_prompt(joined({1}, small_ids(4, 1, vocab)),
                     {small_ids(70, 2, vocab), small_ids(41, 3, vocab), small_ids(33, 4, vocab)},
                     small_ids(6, 5, vocab), {1});
}

constexpr const char* kCausal[] = {"prophetkv:1",
                                   "relaxkv:1:context=causal:header=1",
                                   "weave:1:context=causal",
                                   "weave:1:layers=joint:context=causal",
                                   "cacheblend:1",
                                   "random:1"};

class RatioTest : public testing::TestWithParam<const char*> {};

// Families, kinds of RoPE, windows, fused and quantized weights.
TEST_P(RatioTest, OneOverTheWholePrefixIsFull) {
  const auto core = repair_core(GetParam());
  const Prompt prompt = some_prompt(core->model->config.vocab);
  const auto full = repaired(*core, prompt, "full").logits;
  EXPECT_GT(difference(full, repaired(*core, prompt, "reuse").logits), 0.02);
  for (const char* name : kCausal) {
    SCOPED_TRACE(name);
    EXPECT_LT(difference(full, repaired(*core, prompt, name).logits), 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RatioTest,
                         testing::Values("repair_hf", "repair_window_hf", "llama3_hf_bf16",
                                         "llama_q8_0.gguf", "llama_bias_hf", "qwen2_yarn_hf",
                                         "qwen3_hf", "phi3_hf", "phi3_longrope_hf"),
                         [](const auto& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

TEST(Repair, RatioZeroIsReuseToTheBit) {
  Engine engine = load_engine({.deterministic = true});
  const Ids header = joined({1}, ids(3, 1)), tail = ids(5, 4);
  const std::vector<Ids> documents = {ids(40, 2), ids(33, 3)};
  const Answer reuse = ask(engine, completion(header, documents, tail, "reuse"));
  for (const char* name :
       {"relaxkv:0", "prophetkv:0", "cacheblend:0", "cacheblend:0:mask=released", "epic:0",
        "weave:0", "random:0", "weave:0:anchors=4", "prophetkv:0:rows=1", "plan"}) {
    SCOPED_TRACE(name);
    const Answer answer = ask(engine, completion(header, documents, tail, name));
    expect_same_bits(answer, reuse);
    EXPECT_EQ(answer.repaired_tokens, 0);
    EXPECT_EQ(answer.flops.score + answer.flops.repair, 0);
  }
  // A repair that its rule skips has answered the question while it scored.
  const Answer skipped = ask(engine, completion(header, documents, tail, "weave:0.2:skip=0"));
  expect_same_bits(skipped, reuse);
  EXPECT_EQ(skipped.repaired_tokens, 0);
  EXPECT_GT(skipped.flops.score, 0);
  EXPECT_EQ(skipped.flops.repair + skipped.flops.question, 0);
  expect_idle(engine);
}

TEST(Repair, SkipRuleIsAThreshold) {
  Engine engine = load_engine();
  const auto request = [&](const char* method) {
    return completion(joined({1}, ids(3, 1)), {ids(40, 2), ids(33, 3)}, ids(5, 4), method);
  };
  EXPECT_GT(ask(engine, request("weave:0.2:skip=1")).repaired_tokens, 0);
  EXPECT_EQ(ask(engine, request("weave:0.2:skip=0.01")).repaired_tokens, 0);
}

// Every pair of stored types against f32, within the larger type's rounding (see GoldenKvTest).
// Deterministic, so that products are in f32.
TEST(Repair, EveryKvType) {
  const std::map<std::string, double> tolerance = {
      {"f32", 2e-3}, {"f16", 3e-2}, {"bf16", 2.5e-1}, {"q8_0", 5e-1}, {"fp8", 4.0}};
  const auto exact = repair_core();
  const Prompt prompt = some_prompt(exact->model->config.vocab);
  GivenTargets given;
  for (int layer = 0; layer < 6; ++layer) {
    given.targets.emplace_back();
    for (int32_t token = layer; token < 140; token += 3 + layer)
      given.targets.back().push_back(token);
  }
  for (const char* method : {"plan:context=causal", "plan:context=own+union"}) {
    const auto expected = repaired(*exact, prompt, method, given).logits;
    for (const auto& [chunk, chunk_tolerance] : tolerance)
      for (const auto& [own, own_tolerance] : tolerance) {
        SCOPED_TRACE(fmt::format("{}: chunks {}, private {}", method, chunk, own));
        const auto core = repair_core(
            "repair_hf", {.kv_type = chunk, .private_kv_type = own, .deterministic = true});
        // Where weights are held in bf16, that alone is as large.
        const double products = core->device->facts().f32 ? 0 : tolerance.at("bf16");
        EXPECT_LT(difference(expected, repaired(*core, prompt, method, given).logits),
                  std::max({chunk_tolerance, own_tolerance, products}));
      }
  }
}

// What is counted while the passes run against the formula of methods.md, section 9, in closed
// form.
TEST(Repair, OperationsByFormula) {
  const auto core = repair_core();
  const ModelConfig& c = core->model->config;
  const double width = c.heads * c.head_dim, layers = c.layers;
  const double kv = 2 * 2.0 * c.kv_heads * c.head_dim * c.hidden;
  const double query = 2 * width * c.hidden, rest = query + query + 2 * 3.0 * c.ffn * c.hidden;
  const Prompt prompt = some_prompt(c.vocab);
  const double header = 5, documents = 144, question = 6, all = 155;
  const double start = core->forward.operations();
  const Repaired full = repaired(*core, prompt, "full");
  EXPECT_NEAR(core->forward.operations() - start, full_prefill_flops(c, 155), 1);

  const Repaired r = repaired(*core, prompt, "prophetkv:0.1");
  double pairs = 0;  // of the question's rows
  for (double p = all - question; p < all; ++p) pairs += p + 1;
  // Rows score in the last layer too; the second sweep is over the documents' keys.
  EXPECT_NEAR(r.result.score_flops,
              question * (layers * (kv + query) + (layers - 1) * (rest - query)) +
                  4 * width * layers * pairs + 2 * width * layers * question * documents,
              1);
  // Of rows that do not score, the second sweep is left out.
  EXPECT_NEAR(repaired(*core, prompt, "prophetkv:0.1:rows=2").result.score_flops,
              r.result.score_flops - 2 * width * layers * (question - 2) * documents, 1);
  double count = 0, target_pairs = 0;
  for (size_t i = 0; i < r.result.depths.size(); ++i) {
    if (r.result.depths[i] < 0) continue;
    ++count;
    target_pairs += header + static_cast<double>(i) + 1;
  }
  EXPECT_EQ(count, 14);
  // Layer 0's keys and values are there; the last layer computes keys and values alone.
  EXPECT_NEAR(r.result.repair_flops,
              count * (layers - 1) * (kv + rest) + 4 * width * (layers - 1) * target_pairs, 1);
}

// Rows are counted from the end: what one more row adds to the sum is that row's, with shares of
// at most 1, and more rows than there are, are all.
TEST(Repair, LastRowsOfTheQuestion) {
  const auto core = repair_core();
  const Prompt prompt = some_prompt(core->model->config.vocab);
  const auto scores = [&](const std::string& options) {
    return repaired(*core, prompt, "weave:0.1" + options).result.scores;
  };
  const auto all = scores(""), last = scores(":rows=1");
  EXPECT_GT(*std::ranges::max_element(last), 0);
  EXPECT_NE(last, all);
  EXPECT_EQ(scores(":rows=6"), all);
  EXPECT_EQ(scores(":rows=4096"), all);
  auto before = std::vector<float>(all.size());
  for (int rows = 1; rows <= 6; ++rows) {
    auto sum = scores(fmt::format(":rows={}", rows));
    double share = 0;
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] *= static_cast<float>(rows);
      EXPECT_GE(sum[i] - before[i], -1e-6f);
      share += sum[i] - before[i];
    }
    EXPECT_GT(share, 0.1);
    EXPECT_LE(share, core->model->config.layers + 1e-3);
    before = sum;
    const auto shares = scores(fmt::format(":rows={}:softmax=documents", rows));
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), core->model->config.layers,
                1e-3)
        << "all that documents get";
  }
}

TEST(Repair, FormulaOfAPassIsWhatItCounts) {
  const auto core = repair_core("repair_window_hf");
  const Prompt prompt = some_prompt(core->model->config.vocab);
  for (const char* name :
       {"relaxkv:0.1", "weave:0.1:context=own+union", "prophetkv:0.2", "epic:4",
        "relaxkv:0.1:context=causal:sinks=2", "weave:0.1:layers=joint:anchors=3"}) {
    SCOPED_TRACE(name);
    Repaired r = repaired(*core, prompt, name);
    const Method method = value_of(parse_method(name, true));
    const RepairPlan plan =
        method.info->plan(method, {r.result.shape, r.result.scores, {}}, *method.number);
    const RepairPass owner(r.sequence, r.result.shape, plan, 0);
    Pass pass = owner.pass();
    pass.sort_rows();
    EXPECT_NEAR(pass_flops(core->model->config, pass), r.result.repair_flops, 1);
  }
}

TEST(Repair, BudgetIsKeptAndUsed) {
  Engine engine = load_engine({}, "repair_hf");
  for (const char* name :
       {"relaxkv", "weave", "weave:layers=joint-late", "prophetkv", "cacheblend", "random", "epic"})
    for (const double budget : {0.45, 0.7}) {
      SCOPED_TRACE(fmt::format("{} {}", name, budget));
      Request request = completion({1, 5, 6}, {small_ids(60, 2, 64), small_ids(260, 3, 64)},
                                   small_ids(6, 5, 64), fmt::format("{}:budget={}", name, budget));
      ask(engine, request);  // what is there for good costs nothing the second time
      const Answer answer = ask(engine, request);
      EXPECT_LE(answer.flops.share_of_full, budget + 1e-9);
      EXPECT_GT(answer.flops.share_of_full, budget - 0.1);
      EXPECT_GT(answer.repaired_tokens, 0);
    }
  // Too little for anything: nothing is repaired.
  const Answer nothing = ask(engine, completion({1}, {small_ids(150, 2, 64)}, small_ids(6, 5, 64),
                                                "prophetkv:budget=0.001"));
  EXPECT_EQ(nothing.repaired_tokens, 0);
}

// Two requests that repair the same chunk in two ways, in one pass: each gets what it gets alone.
TEST(Repair, TwoRequestsInOnePass) {
  const auto core = repair_core();
  const int vocab = core->model->config.vocab;
  const Ids shared = small_ids(60, 9, vocab);
  const Prompt prompts[] = {
      make_prompt({1, 7}, {small_ids(20, 8, vocab), shared}, small_ids(5, 11, vocab), {1}),
      make_prompt({1, 9, 9}, {shared, small_ids(25, 7, vocab)}, small_ids(4, 12, vocab), {1})};
  const char* methods[] = {"weave:0.2:context=own+union", "relaxkv:0.1:header=1"};
  std::vector<std::vector<float>> alone;
  std::vector<Repaired> again;
  std::vector<std::unique_ptr<RepairPass>> passes;
  std::vector<RepairPlan> plans(2);
  for (size_t i = 0; i < 2; ++i) {
    again.push_back(repaired(*core, prompts[i], methods[i]));
    alone.push_back(again[i].logits);
  }
  Pass both;
  for (size_t i = 0; i < 2; ++i) {
    Sequence& sequence = again[i].sequence;
    const Method method = value_of(parse_method(methods[i], true));
    plans[i] = method.info->plan(method, {again[i].result.shape, again[i].result.scores, {}},
                                 *method.number);
    std::vector<int32_t> lengths;
    for (const size_t part : binding_parts(sequence))
      lengths.push_back(std::get<Binding>(sequence.parts[part]).chunk->tokens());
    sequence.overlay.emplace(core->private_layout, again[i].result.shape, plans[i], lengths);
    ASSERT_TRUE(sequence.overlay->allocate(core->pool));
    passes.push_back(std::make_unique<RepairPass>(sequence, again[i].result.shape, plans[i], 0));
    ASSERT_TRUE(passes[i]->allocate(*core->device));
    const auto segments = static_cast<int32_t>(both.segments.size());
    const auto groups = static_cast<int32_t>(both.groups.size());
    const Pass& pass = passes[i]->pass();
    both.first_kv_layer = pass.first_kv_layer;
    both.segments.insert(both.segments.end(), pass.segments.begin(), pass.segments.end());
    for (PassGroup group : pass.groups) {
      for (SegmentUse& use : group.uses) use.segment += segments;
      both.groups.push_back(std::move(group));
    }
    for (PassGather gather : pass.gathers) {
      gather.target += segments;
      for (PassGather::Source& source : gather.sources) source.segment += segments;
      both.gathers.push_back(std::move(gather));
    }
    for (PassRow row : pass.rows) {
      row.group += groups;
      both.rows.push_back(row);
    }
  }
  both.sort_rows();
  ASSERT_TRUE(core->forward.run(both, {}));
  for (size_t i = 0; i < 2; ++i) {
    again[i].sequence.tail().computed = 0;
    ASSERT_TRUE(compute_text(*core, again[i].sequence, again[i].logits));
    EXPECT_LT(difference(alone[i], again[i].logits), 1e-4);
    EXPECT_GT(difference(repaired(*core, prompts[i], "reuse").logits, again[i].logits), 1e-3);
  }
}

// What a request returns can be asked for again, token by token.
TEST(Repair, ReturnedTargetsMakeAPlan) {
  Engine engine = load_engine({.deterministic = true}, "repair_hf");
  Request request = completion({1, 5}, {small_ids(50, 2, 64), small_ids(60, 3, 64)},
                               small_ids(6, 5, 64), "weave:0.1:context=own+union");
  request.return_scores = request.return_targets = true;
  const Answer answer = ask(engine, request);
  ASSERT_EQ(answer.scores.size(), 6 * 110u);
  ASSERT_EQ(answer.targets.size(), 6u);
  ASSERT_EQ(answer.token_chunks.size(), 110u);
  EXPECT_EQ(answer.token_chunks[49], 0);
  EXPECT_EQ(answer.token_chunks[50], 1);
  for (size_t layer = 1; layer < 6; ++layer)
    EXPECT_TRUE(std::includes(answer.targets[layer - 1].begin(), answer.targets[layer - 1].end(),
                              answer.targets[layer].begin(), answer.targets[layer].end()));
  double sum = 0;
  for (size_t i = 0; i < 110; ++i) {
    EXPECT_GE(answer.scores[i], 0);
    sum += answer.scores[i];
  }
  EXPECT_LT(sum, 1) << "header and question have their shares";

  request.method = "plan:context=own+union";
  request.targets = RepairTargets{answer.targets, {}};
  const Answer planned = ask(engine, request);
  expect_same_bits(planned, answer);
  EXPECT_EQ(planned.repaired_tokens, answer.repaired_tokens);
  EXPECT_EQ(planned.scores, answer.scores);
}

// Methods that choose by something else score where scores are asked for.
TEST(Repair, ScoresOfAnyMethod) {
  Engine engine = load_engine({.deterministic = true}, "repair_hf");
  Request request = completion({1, 5}, {small_ids(50, 2, 64), small_ids(60, 3, 64)},
                               small_ids(6, 5, 64), "weave");
  request.return_scores = true;
  const auto expected = ask(engine, request).scores;
  for (const char* method : {"cacheblend", "epic", "random:0", "plan"}) {
    request.method = method;
    EXPECT_EQ(ask(engine, request).scores, expected) << method;
  }
}

TEST(Repair, RefusesWhatDoesNotFit) {
  Engine engine = load_engine({}, "repair_hf");
  Request request =
      completion({1, 5}, {small_ids(50, 2, 64)}, small_ids(6, 5, 64), "plan:context=list");
  const auto refusal = [&] {
    const auto answer = engine.ask(request);
    EXPECT_FALSE(answer);
    expect_idle(engine);
    return answer ? "" : answer.error().message;
  };
  request.targets = RepairTargets{{{1}, {2}}, {}};
  EXPECT_NE(refusal().find("2 lists, but the model has 6 layers"), std::string::npos);
  request.targets = RepairTargets{{{}, {}, {49, 50}, {}, {}, {}}, {}};
  EXPECT_NE(refusal().find("method.targets[2][1]: 50 is not"), std::string::npos);
  request.targets = RepairTargets{{}, {-1}};
  EXPECT_NE(refusal().find("method.context[0]: -1 is not"), std::string::npos);
  request.method = "plan";
  EXPECT_NE(refusal().find("takes context=list"), std::string::npos);
  request.method = "weave";
  EXPECT_NE(refusal().find("targets"), std::string::npos);
  request.targets.reset();
  request.return_scores = true;
  request.method = "reuse";
  EXPECT_NE(refusal().find("return: method reuse has no"), std::string::npos);
}

// Without documents there is nothing to repair, and text is shared as ever.
TEST(Repair, WithoutDocuments) {
  Engine engine = load_engine({}, "repair_hf");
  const Request request = completion({}, {}, small_ids(40, 5, 64), "weave");
  ask(engine, request);
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.repaired_tokens, 0);
  EXPECT_GT(answer.cached_tokens, 30);
  EXPECT_EQ(answer.flops.score, 0);
}

}  // namespace
}  // namespace looseleaf
