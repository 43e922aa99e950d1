// Engines over the golden models, and prompts of token ids, for tests of the engine's inside.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "compute/open_device.h"
#include "engine/core.h"
#include "engine/load_weights.h"
#include "engine/options.h"
#include "engine/prompt.h"

namespace looseleaf {

// Fails the test and stops it when `expected` holds an error; else gives the value.
template <typename T>
T value_of(Expected<T> expected) {
  if (!expected) {
    ADD_FAILURE() << expected.error().message;
    throw std::runtime_error(expected.error().message);
  }
  return std::move(*expected);
}

inline std::filesystem::path golden_dir() { return LOOSELEAF_GOLDEN_DIR; }

inline std::unique_ptr<EngineCore> make_core(const std::shared_ptr<const Model>& model,
                                             EngineOptions options) {
  // LOOSELEAF_TEST_DEVICE=cuda runs the same tests there.
  const char* device = std::getenv("LOOSELEAF_TEST_DEVICE");
  if (options.device == "auto") options.device = device == nullptr ? "cpu" : device;
  auto opened = value_of(
      open_device(options.device, {options.threads, options.exact, options.deterministic}));
  auto resolved = value_of(resolve_options(options, model->config, opened.device->facts()));
  EXPECT_TRUE(load_weights(*model, *opened.device));
  resolved.cache_bytes = value_of(opened.device->reserve_pages(resolved.cache_bytes));
  std::unique_ptr<const Tokenizer> tokenizer;
  if (model->tokenizer) tokenizer = value_of(Tokenizer::create(*model->tokenizer));
  return std::make_unique<EngineCore>(model, std::move(tokenizer), "", resolved,
                                      std::move(opened.device));
}

inline std::unique_ptr<EngineCore> make_core(const std::filesystem::path& path,
                                             EngineOptions options) {
  return make_core(value_of(load_model(path)), std::move(options));
}

inline PromptPiece text_piece(std::vector<int32_t> tokens) { return {std::move(tokens), -1, ""}; }

// header | documents | tail; empty texts are left out.
inline Prompt make_prompt(std::vector<int32_t> header, std::vector<std::vector<int32_t>> documents,
                          std::vector<int32_t> tail, std::vector<int32_t> encoding_prefix) {
  Prompt prompt;
  prompt.encoding_prefix = std::move(encoding_prefix);
  if (!header.empty()) prompt.pieces.push_back(text_piece(std::move(header)));
  int index = 0;
  for (auto& document : documents) prompt.pieces.push_back({std::move(document), index++, ""});
  if (!tail.empty()) {
    if (!prompt.pieces.empty() && !prompt.pieces.back().is_chunk()) {
      auto& last = prompt.pieces.back().tokens;
      last.insert(last.end(), tail.begin(), tail.end());
    } else {
      prompt.pieces.push_back(text_piece(std::move(tail)));
    }
  }
  return prompt;
}

}  // namespace looseleaf
