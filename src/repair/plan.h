// What a repair recomputes and in which context: what a method says, and what it says it from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace looseleaf {

// The documents of a prompt. Their tokens are numbered through, in prompt order, from 0; of a
// document that stands there twice both are counted.
struct PromptShape {
  int layers = 0;
  int prompt_tokens = 0;
  std::vector<int32_t> positions;  // [tokens] in the prompt, rising
  std::vector<int32_t> chunks;     // [tokens] which binding, from 0, in prompt order
  std::vector<int32_t> places;     // [tokens] in the chunk

  int32_t tokens() const { return static_cast<int32_t>(positions.size()); }
};

// What targets attend to, always by position: nothing behind them.
enum class RepairContext {
  kCausal,    // everything
  kUnion,     // the tokens of U alone
  kOwnUnion,  // all of their own document, of the others the tokens of U
};

struct RepairPlan {
  static constexpr int32_t kOutside = -1;

  // [tokens] the deepest layer in which the token gets fresh keys and values: it runs attention and
  // MLP in the layers below. Layer 0's keys and values depend on the token alone, so that 0 means
  // nothing is computed, yet the token is in U. kOutside: not in U.
  std::vector<int32_t> depths;
  RepairContext context = RepairContext::kCausal;
  bool text = true;       // targets see the text before them: header, text between documents
  bool released = false;  // the mask of CacheBlend's released code: rows see later tokens

  bool empty() const;  // nothing to recompute
};

// What a method chooses from; each costs a pass.
enum class Evidence {
  kNone,
  kScores,     // RepairInput::scores
  kDeviation,  // RepairInput::deviation
};

// What a caller asks for by number.
struct GivenTargets {
  std::vector<std::vector<int32_t>> targets;  // [layers][targets] tokens
  std::vector<int32_t> context;               // tokens that targets see besides each other
};

struct RepairInput {
  const PromptShape& shape;
  // [layers, tokens] attention that the question's tokens give to a document's token over the
  // unrepaired cache, mean over heads and question tokens.
  std::span<const float> scores;
  // [tokens] squared distance of layer 1's values, recomputed over the whole prompt, from the
  // stored ones.
  std::span<const float> deviation;
  const GivenTargets* given = nullptr;  // of the method `plan`, in range

  std::span<const float> layer_scores(int layer) const {
    const auto n = static_cast<size_t>(shape.tokens());
    return scores.subspan(static_cast<size_t>(layer) * n, n);
  }
};

}  // namespace looseleaf
