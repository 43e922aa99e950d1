// Every method against its literal reading in float64 (tests/golden/repair_reading.py): the same
// targets in every layer, log-probabilities within 2e-3.
#include "golden_file.h"
#include "repairing.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr double kTolerance = 2e-3;

Prompt prompt_of(const json::value& entry) {
  Prompt prompt;
  prompt.encoding_prefix = json::value_to<std::vector<int32_t>>(entry.at("encoding_prefix"));
  int documents = 0;
  for (const json::value& piece : entry.at("pieces").as_array()) {
    const auto& [kind, ids] = *piece.as_object().begin();
    prompt.pieces.push_back(
        {json::value_to<std::vector<int32_t>>(ids), kind == "document" ? documents++ : -1, ""});
  }
  return prompt;
}

double check_top(const std::vector<float>& logits, const json::value& top) {
  double worst = 0;
  for (const json::value& pair : top.as_array()) {
    const double expected = pair.at(1).to_number<double>();
    const auto token = pair.at(0).to_number<int32_t>();
    const double got = log_probability(logits, token, 0).logprob;
    EXPECT_NEAR(got, expected, kTolerance) << "token " << token;
    worst = std::max(worst, std::abs(got - expected));
  }
  return worst;
}

class RepairGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(RepairGoldenTest, EveryMethod) {
  const std::filesystem::path folder = golden_dir() / GetParam();
  const auto core = make_core(folder, {.threads = 2, .cache_bytes = 256 << 20, .exact = true});
  const json::value file = json::parse(read_text(folder.string() + ".golden.json"));
  double worst = 0;
  int count = 0;
  for (const json::value& entry : file.at("cases").as_array()) {
    SCOPED_TRACE(entry.at("name").as_string().c_str());
    const Prompt prompt = prompt_of(entry);
    for (const char* name : {"full", "reuse"}) {
      SCOPED_TRACE(name);
      worst = std::max(worst, check_top(repaired(*core, prompt, name).logits, entry.at(name)));
    }
    for (const json::value& method : entry.at("methods").as_array()) {
      const auto name = json::value_to<std::string>(method.at("method"));
      SCOPED_TRACE(name);
      // The first run finds a header to compute, later ones have it.
      const Repaired r = repaired(*core, prompt, name);
      auto expected = json::value_to<std::vector<std::vector<int32_t>>>(method.at("targets"));
      auto got = targets_of(r.result);
      // Layer 0 has the context too, of which the reading knows the targets' part alone.
      expected[0].clear();
      got[0].clear();
      EXPECT_EQ(got, expected);
      worst = std::max(worst, check_top(r.logits, method.at("top")));
      ++count;
    }
  }
  std::printf("%s: largest log-probability difference %.1e over %d repairs\n", GetParam(), worst,
              count);
  EXPECT_EQ(core->pool.used_bytes(), core->chunks.bytes() + core->prefixes.bytes());
}

INSTANTIATE_TEST_SUITE_P(Models, RepairGoldenTest, testing::Values("repair_hf", "repair_window_hf"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace looseleaf
