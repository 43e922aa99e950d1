#include "model/random_shape.h"

#include <array>
#include <charconv>
#include <string>

#include "text/quote.h"

namespace looseleaf {
namespace {

constexpr std::string_view kPrefix = "random:";

// As the model's config.json has them.
struct Known {
  std::string_view name, architecture;
  int vocab, hidden, layers, heads, kv_heads, head_dim, ffn;
  double norm_eps;
  int context;
  double rope_base;
  double llama3_factor;  // of rope scaling behind 8192 positions; 0: none
  bool tied, attention_bias, head_norms;
};

// clang-format off
constexpr Known kKnown[] = {
    {"llama-3.1-8b", "llama", 128256, 4096, 32, 32, 8, 128, 14336, 1e-5, 131072, 5e5, 8, false, false, false},
    {"llama-3.2-1b", "llama", 128256, 2048, 16, 32, 8, 64, 8192, 1e-5, 131072, 5e5, 32, true, false, false},
    {"llama-3.2-3b", "llama", 128256, 3072, 28, 24, 8, 128, 8192, 1e-5, 131072, 5e5, 32, true, false, false},
    {"mistral-7b", "mistral", 32768, 4096, 32, 32, 8, 128, 14336, 1e-5, 32768, 1e6, 0, false, false, false},
    {"qwen2.5-7b", "qwen2", 152064, 3584, 28, 28, 4, 128, 18944, 1e-6, 32768, 1e6, 0, false, true, false},
    {"qwen3-8b", "qwen3", 151936, 4096, 36, 32, 8, 128, 12288, 1e-6, 40960, 1e6, 0, false, false, true},
    {"smollm2-135m", "llama", 49152, 576, 30, 9, 3, 64, 1536, 1e-5, 8192, 1e5, 0, true, false, false},
};
// clang-format on

std::string known_names() {
  std::string names;
  for (const Known& known : kKnown) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

RopeConfig rope_of(const Known& known) {
  RopeConfig rope;
  rope.base = known.rope_base;
  rope.dims = known.head_dim;
  if (known.llama3_factor == 0) return rope;
  rope.scaling = RopeScaling::kLlama3;
  rope.factor = known.llama3_factor;
  rope.original_context = 8192;
  return rope;
}

RandomShape shape_of(const Known& known) {
  RandomShape shape;
  shape.config = {.architecture = std::string(known.architecture),
                  .name = std::string(known.name) + ", random weights",
                  .vocab = known.vocab,
                  .hidden = known.hidden,
                  .layers = known.layers,
                  .heads = known.heads,
                  .kv_heads = known.kv_heads,
                  .head_dim = known.head_dim,
                  .ffn = known.ffn,
                  .norm_eps = static_cast<float>(known.norm_eps),
                  .context_length = known.context,
                  .sliding_window = 0,
                  .rope = rope_of(known),
                  .alibi_slopes = {}};
  shape.tied = known.tied;
  shape.attention_bias = known.attention_bias;
  shape.head_norms = known.head_norms;
  return shape;
}

}  // namespace

bool is_random_name(std::string_view path) { return path.starts_with(kPrefix); }

Expected<RandomShape> parse_random_name(std::string_view path) {
  std::string_view name = path.substr(kPrefix.size());
  const size_t slash = name.find('/');
  const bool cut = slash != std::string_view::npos;
  const std::string_view number = cut ? name.substr(slash + 1) : std::string_view();
  name = name.substr(0, slash);
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    RandomShape shape = shape_of(known);
    if (!cut) return shape;
    int& layers = shape.config.layers;
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), layers);
    if (problem == std::errc() && end == number.data() + number.size() && layers >= 1 &&
        layers <= known.layers)
      return shape;
    return error(ErrorCode::kUsage, "{}: behind the / stands a number of layers, 1 to {}",
                 quote(path), known.layers);
  }
  return error(ErrorCode::kUsage, "{}: no shape of this name is known; there are: {}", quote(path),
               known_names());
}

}  // namespace looseleaf
