// What `inspect` says of a model beyond its sizes.
#include <boost/json.hpp>

#include "engine/describe.h"
#include "test_engine.h"

namespace looseleaf {
namespace {

boost::json::object facts(const char* model) {
  const auto core = make_core(golden_dir() / model, {.threads = 1, .cache_bytes = 64 << 20});
  return boost::json::parse(describe_engine(*core)).as_object();
}

TEST(Describe, RopeKindsAndRegimes) {
  EXPECT_EQ(facts("llama_f32.gguf").at("rope").at("scaling"), "none");
  EXPECT_EQ(facts("llama_f16.gguf").at("rope").at("scaling"), "frequency divisors");
  const auto yarn = facts("qwen2_yarn.gguf").at("rope").as_object();
  EXPECT_EQ(yarn.at("scaling"), "yarn");
  EXPECT_EQ(yarn.at("factor").to_number<double>(), 4);
  EXPECT_EQ(yarn.at("original_context").to_number<double>(), 64);
  EXPECT_GT(yarn.at("attention_factor").to_number<double>(), 1);
  EXPECT_FALSE(yarn.contains("regimes"));
  const auto long_rope = facts("phi3_longrope.gguf").at("rope").as_object();
  EXPECT_EQ(long_rope.at("regimes"), "short up to 64 prompt tokens, long beyond: chunks of each");
  EXPECT_EQ(long_rope.at("dims").to_number<int>(), 12);
  EXPECT_EQ(facts("llama_dynamic_hf").at("rope").at("regimes"),
            "one for each prompt length: methods full and prefix only");
}

TEST(Describe, WhatSetsFamiliesApart) {
  const auto qwen2 = facts("qwen2_hf"), qwen3 = facts("qwen3_hf"), mistral = facts("mistral_hf");
  EXPECT_EQ(qwen2.at("biases"), "query, key, value");
  EXPECT_EQ(qwen2.at("qk_norm"), false);
  EXPECT_EQ(qwen3.at("biases"), "none");
  EXPECT_EQ(qwen3.at("qk_norm"), true);
  EXPECT_EQ(qwen3.at("activation"), "silu");
  EXPECT_EQ(qwen3.at("sliding_window").to_number<int>(), 0);
  EXPECT_EQ(mistral.at("sliding_window").to_number<int>(), 40);
  EXPECT_EQ(mistral.at("architecture"), "mistral");
}

}  // namespace
}  // namespace looseleaf
