#include "model/weights.h"

#include <cmath>
#include <cstring>
#include <unordered_set>

namespace looseleaf {
namespace {

class Assigner {
 public:
  Assigner(const TensorTable& tensors, const TensorNames& names, const DeclaredWeights& declared,
           std::string_view path, Model& model)
      : tensors_(tensors), names_(names), declared_(declared), path_(path), model_(model) {}

  Status run() {
    ModelConfig& config = model_.config;
    if (config.vocab == 0) LL_RETURN_IF_ERROR(vocab_from_embedding());
    LL_ASSIGN(model_.embedding, matrix(names_.embedding, 0, config.vocab, config.hidden));
    LL_ASSIGN(model_.output_norm, vector(names_.output_norm, 0, ".weight", config.hidden));
    LL_RETURN_IF_ERROR(output());
    for (int layer = 0; layer < config.layers; ++layer) LL_RETURN_IF_ERROR(add_layer(layer));
    LL_RETURN_IF_ERROR(rope_divisors());
    LL_RETURN_IF_ERROR(check_all_used());
    for (const StoredTensor* tensor : used_)
      model_.weight_bytes += static_cast<int64_t>(tensor->data.size());
    return {};
  }

 private:
  static std::string full_name(std::string_view pattern, int layer, std::string_view ending) {
    return fmt::format(fmt::runtime(pattern), layer) + std::string(ending);
  }

  const StoredTensor* find(std::string_view pattern, int layer, std::string_view ending) {
    const StoredTensor* tensor = tensors_.find(full_name(pattern, layer, ending));
    if (tensor != nullptr) used_.insert(tensor);
    return tensor;
  }

  Expected<const StoredTensor*> get(std::string_view pattern, int layer, std::string_view ending) {
    const StoredTensor* tensor = find(pattern, layer, ending);
    if (tensor == nullptr)
      return error(ErrorCode::kCorrupt, "{}: tensor '{}' is missing: get the model again", path_,
                   full_name(pattern, layer, ending));
    return tensor;
  }

  Status vocab_from_embedding() {
    LL_ASSIGN(const StoredTensor* tensor, get(names_.embedding, 0, ".weight"));
    if (tensor->rank != 2 || tensor->shape[0] > INT32_MAX)
      return error(ErrorCode::kCorrupt, "{}: shape {}: expected [vocabulary below 2^31, {}]",
                   tensor->where(), tensor->shape_text(), model_.config.hidden);
    model_.config.vocab = static_cast<int>(tensor->shape[0]);
    return {};
  }

  Expected<WeightMatrix> matrix(std::string_view pattern, int layer, int64_t rows, int64_t cols) {
    LL_ASSIGN(const StoredTensor* tensor, get(pattern, layer, ".weight"));
    if (tensor->rank != 2 || tensor->shape[0] != rows || tensor->shape[1] != cols)
      return error(ErrorCode::kCorrupt, "{}: shape {}: the configuration says [{}, {}]",
                   tensor->where(), tensor->shape_text(), rows, cols);
    return WeightMatrix{tensor->type, tensor->data.data(), rows, cols};
  }

  Expected<std::vector<float>> floats(const StoredTensor& tensor, int64_t size) {
    if (tensor.rank != 1 || tensor.shape[0] != size)
      return error(ErrorCode::kCorrupt, "{}: shape {}: the configuration says [{}]", tensor.where(),
                   tensor.shape_text(), size);
    std::vector<float> values(static_cast<size_t>(size));
    tensor.type->dequantize(tensor.data.data(), values.data(), size / tensor.type->block);
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        return error(ErrorCode::kCorrupt, "{}: element {} is {}", tensor.where(), i, values[i]);
    return values;
  }

  Expected<std::vector<float>> vector(std::string_view pattern, int layer, std::string_view ending,
                                      int64_t size) {
    LL_ASSIGN(const StoredTensor* tensor, get(pattern, layer, ending));
    return floats(*tensor, size);
  }

  // Empty where the model has none. `declared`: nothing where the tensors decide.
  Expected<std::vector<float>> bias(std::string_view pattern, int layer, int64_t size,
                                    std::optional<bool> declared) {
    if (declared == true) return vector(pattern, layer, ".bias", size);
    if (declared == false) return std::vector<float>();
    const StoredTensor* tensor = find(pattern, layer, ".bias");
    if (tensor == nullptr) return std::vector<float>();
    return floats(*tensor, size);
  }

  Status output() {
    const ModelConfig& config = model_.config;
    const StoredTensor* own = find(names_.output, 0, ".weight");
    model_.tied = declared_.tied.value_or(own == nullptr);
    if (model_.tied) model_.output = model_.embedding;
    if (model_.tied && own == nullptr) return {};
    LL_ASSIGN(const WeightMatrix output, matrix(names_.output, 0, config.vocab, config.hidden));
    if (!model_.tied) {
      model_.output = output;
      return {};
    }
    // A file that repeats the embedding is fine; one that contradicts its own configuration is not.
    if (output.type != model_.embedding.type ||
        std::memcmp(output.data, model_.embedding.data, static_cast<size_t>(output.bytes())) != 0)
      return error(ErrorCode::kCorrupt,
                   "{}: differs from the embedding, which the configuration ties it to",
                   own->where());
    used_.erase(own);
    repeated_output_ = own;
    return {};
  }

  Status add_layer(int l) {
    const ModelConfig& c = model_.config;
    const int64_t q = int64_t{c.heads} * c.head_dim;
    const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
    const auto attention_bias = declared_.attention_bias;
    const auto mlp_bias = declared_.mlp_bias;
    // One layer at a time: a configuration that claims too many meets a missing tensor first.
    LayerWeights& layer = model_.layers.emplace_back();
    LL_ASSIGN(layer.attention_norm, vector(names_.attention_norm, l, ".weight", c.hidden));
    LL_ASSIGN(layer.query, matrix(names_.query, l, q, c.hidden));
    LL_ASSIGN(layer.key, matrix(names_.key, l, kv, c.hidden));
    LL_ASSIGN(layer.value, matrix(names_.value, l, kv, c.hidden));
    LL_ASSIGN(layer.attention_output, matrix(names_.attention_output, l, c.hidden, q));
    LL_ASSIGN(layer.query_bias, bias(names_.query, l, q, attention_bias));
    LL_ASSIGN(layer.key_bias, bias(names_.key, l, kv, attention_bias));
    LL_ASSIGN(layer.value_bias, bias(names_.value, l, kv, attention_bias));
    LL_ASSIGN(layer.attention_output_bias,
              bias(names_.attention_output, l, c.hidden, attention_bias));
    LL_ASSIGN(layer.ffn_norm, vector(names_.ffn_norm, l, ".weight", c.hidden));
    LL_ASSIGN(layer.gate, matrix(names_.gate, l, c.ffn, c.hidden));
    LL_ASSIGN(layer.up, matrix(names_.up, l, c.ffn, c.hidden));
    LL_ASSIGN(layer.down, matrix(names_.down, l, c.hidden, c.ffn));
    LL_ASSIGN(layer.gate_bias, bias(names_.gate, l, c.ffn, mlp_bias));
    LL_ASSIGN(layer.up_bias, bias(names_.up, l, c.ffn, mlp_bias));
    LL_ASSIGN(layer.down_bias, bias(names_.down, l, c.hidden, mlp_bias));
    return {};
  }

  Status rope_divisors() {
    if (names_.rope_divisors.empty()) return {};
    const StoredTensor* tensor = find(names_.rope_divisors, 0, ".weight");
    if (tensor == nullptr) return {};
    RopeConfig& rope = model_.config.rope;
    LL_ASSIGN(rope.divisors, floats(*tensor, rope.dims / 2));
    for (const float divisor : rope.divisors)
      if (divisor <= 0)
        return error(ErrorCode::kCorrupt, "{}: divisor {}: divisors are positive", tensor->where(),
                     divisor);
    return {};
  }

  Status check_all_used() const {
    for (const StoredTensor& tensor : tensors_.tensors()) {
      if (used_.contains(&tensor) || &tensor == repeated_output_) continue;
      if (!names_.ignored_end.empty() && tensor.name.ends_with(names_.ignored_end)) continue;
      return error(ErrorCode::kUnsupported, "{}: has no role in a {} model of {} layers",
                   tensor.where(), model_.config.architecture, model_.config.layers);
    }
    return {};
  }

  const TensorTable& tensors_;
  const TensorNames& names_;
  const DeclaredWeights& declared_;
  std::string_view path_;
  Model& model_;
  std::unordered_set<const StoredTensor*> used_;
  const StoredTensor* repeated_output_ = nullptr;  // the embedding once more
};

}  // namespace

Status assign_weights(const TensorTable& tensors, const TensorNames& names,
                      const DeclaredWeights& declared, std::string_view path, Model& model) {
  return Assigner(tensors, names, declared, path, model).run();
}

}  // namespace looseleaf
