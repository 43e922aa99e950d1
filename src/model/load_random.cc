// Weights that are drawn instead of read, for the shape that random:NAME says.
#include <sys/mman.h>

#include <cstdlib>
#include <vector>

#include "base/machine.h"
#include "model/architectures.h"
#include "model/load_formats.h"
#include "model/random_shape.h"
#include "model/random_weights.h"
#include "text/byte_alphabet.h"

namespace looseleaf {
namespace {

constexpr int64_t kAlign = 64;
constexpr size_t kHugePage = size_t{2} << 20;

constexpr int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Gives the matrices their shapes and returns them, each once.
std::vector<WeightMatrix*> shape_matrices(const RandomShape& shape, Model& model) {
  const WeightType* bf16 = find_safetensors_weight_type("BF16");
  std::vector<WeightMatrix*> all;
  const auto add = [&](WeightMatrix& matrix, int64_t rows, int64_t cols) {
    matrix = {bf16, nullptr, rows, cols};
    all.push_back(&matrix);
  };
  const ModelConfig& c = model.config;
  const int64_t q = int64_t{c.heads} * c.head_dim, kv = int64_t{c.kv_heads} * c.head_dim;
  add(model.embedding, c.vocab, c.hidden);
  if (!shape.tied) add(model.output, c.vocab, c.hidden);
  for (LayerWeights& layer : model.layers) {
    add(layer.query, q, c.hidden);
    add(layer.key, kv, c.hidden);
    add(layer.value, kv, c.hidden);
    add(layer.attention_output, c.hidden, q);
    add(layer.gate, c.ffn, c.hidden);
    add(layer.up, c.ffn, c.hidden);
    add(layer.down, c.hidden, c.ffn);
  }
  return all;
}

// Norms of 1, biases of 0.
void fill_vectors(const RandomShape& shape, Model& model) {
  const ModelConfig& c = model.config;
  const auto ones = [](int size) { return std::vector<float>(static_cast<size_t>(size), 1.0f); };
  const auto zeros = [](int size) { return std::vector<float>(static_cast<size_t>(size)); };
  model.output_norm = ones(c.hidden);
  for (LayerWeights& layer : model.layers) {
    layer.attention_norm = layer.ffn_norm = ones(c.hidden);
    if (shape.head_norms) layer.query_norm = layer.key_norm = ones(c.head_dim);
    if (!shape.attention_bias) continue;
    layer.query_bias = zeros(c.heads * c.head_dim);
    layer.key_bias = layer.value_bias = zeros(c.kv_heads * c.head_dim);
  }
}

constexpr const char* kChatTemplate =
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}";

// A token for each byte, and one each to begin and to end with; the rest of the vocabulary has no
// text, so what such a model answers is mostly empty.
TokenizerSpec byte_tokenizer(int vocab) {
  constexpr int kBytes = 256;
  TokenizerSpec spec;
  spec.model = "bpe";
  for (int byte = 0; byte < kBytes; ++byte)
    spec.tokens.emplace_back(spell_byte(static_cast<uint8_t>(byte)));
  spec.tokens.insert(spec.tokens.end(), {"<s>", "</s>"});
  spec.kinds.assign(kBytes, TokenKind::kNormal);
  spec.kinds.resize(kBytes + 2, TokenKind::kControl);
  spec.tokens.resize(static_cast<size_t>(vocab));
  spec.kinds.resize(static_cast<size_t>(vocab), TokenKind::kUnused);
  spec.bos = kBytes;
  spec.eos = kBytes + 1;
  spec.end_of_generation = {spec.eos};
  spec.add_bos = true;
  spec.chat_template = kChatTemplate;
  return spec;
}

// Zeros that take memory once they are written.
Expected<std::shared_ptr<std::byte>> take_memory(std::string_view path, int64_t bytes) {
  const int64_t usable = usable_memory();
  if (bytes > usable)
    return error(ErrorCode::kUnavailable,
                 "{}: {} bytes of weights are more than the {} bytes of memory: take fewer layers, "
                 "as in random:llama-3.1-8b/4",
                 path, bytes, usable);
  const size_t rounded = (static_cast<size_t>(bytes) + kHugePage - 1) / kHugePage * kHugePage;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kHugePage, rounded));
  if (memory == nullptr)
    return error(ErrorCode::kUnavailable, "{}: no memory for {} bytes of weights", path, bytes);
  ::madvise(memory, rounded, MADV_HUGEPAGE);  // where there are none, small ones do
  return std::shared_ptr<std::byte>(memory, [](std::byte* taken) { std::free(taken); });
}

}  // namespace

Status load_random(std::string_view path, Model& model) {
  LL_ASSIGN(const RandomShape shape, parse_random_name(path));
  LL_RETURN_IF_ERROR(check_config(shape.config, path));
  model.config = shape.config;
  model.format = "random weights";
  model.tied = shape.tied;
  model.layers.resize(static_cast<size_t>(model.config.layers));
  fill_vectors(shape, model);

  const std::vector<WeightMatrix*> matrices = shape_matrices(shape, model);
  int64_t end = 0;
  for (const WeightMatrix* matrix : matrices) {
    model.weight_bytes += matrix->bytes();
    end += aligned(matrix->bytes());
  }
  LL_ASSIGN(const std::shared_ptr<std::byte> memory, take_memory(path, end));
  ThreadPool pool(usable_threads());
  std::byte* next = memory.get();
  for (size_t number = 0; number < matrices.size(); ++number) {
    WeightMatrix& matrix = *matrices[number];
    fill_random_bf16(pool, static_cast<int64_t>(number), matrix.rows, matrix.cols, next);
    matrix.data = next;
    next += aligned(matrix.bytes());
  }
  if (shape.tied) model.output = model.embedding;
  model.generated = memory;
  return keep_tokenizer(byte_tokenizer(model.config.vocab), {}, model);
}

}  // namespace looseleaf
