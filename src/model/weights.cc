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
    if (pattern.empty()) return nullptr;
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

  // One matrix of those that share their input, and its bias.
  struct Part {
    std::string_view name;
    int64_t rows;
    WeightMatrix* matrix;
    std::vector<float>* bias;
  };

  // Each part under its own name or, where the family has one matrix for all, as a view of its
  // rows.
  Status split_matrix(std::string_view fused, int layer, int64_t cols, std::vector<Part> parts,
                      std::optional<bool> declared_bias) {
    if (fused.empty()) {
      for (const Part& part : parts) {
        LL_ASSIGN(*part.matrix, matrix(part.name, layer, part.rows, cols));
        LL_ASSIGN(*part.bias, bias(part.name, layer, part.rows, declared_bias));
      }
      return {};
    }
    int64_t rows = 0;
    for (const Part& part : parts) rows += part.rows;
    LL_ASSIGN(const WeightMatrix all, matrix(fused, layer, rows, cols));
    LL_ASSIGN(const std::vector<float> all_bias, bias(fused, layer, rows, declared_bias));
    int64_t first = 0;
    for (const Part& part : parts) {
      *part.matrix = {all.type, all.data + first * all.row_bytes(), part.rows, cols};
      if (!all_bias.empty())
        part.bias->assign(all_bias.begin() + first, all_bias.begin() + first + part.rows);
      first += part.rows;
    }
    return {};
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
    // One layer at a time: a configuration that claims too many meets a missing tensor first.
    LayerWeights& layer = model_.layers.emplace_back();
    LL_ASSIGN(layer.attention_norm, vector(names_.attention_norm, l, ".weight", c.hidden));
    LL_RETURN_IF_ERROR(split_matrix(names_.query_key_value, l, c.hidden,
                                    {{names_.query, q, &layer.query, &layer.query_bias},
                                     {names_.key, kv, &layer.key, &layer.key_bias},
                                     {names_.value, kv, &layer.value, &layer.value_bias}},
                                    declared_.attention_bias));
    if (!names_.query_norm.empty()) {
      LL_ASSIGN(layer.query_norm, vector(names_.query_norm, l, ".weight", c.head_dim));
      LL_ASSIGN(layer.key_norm, vector(names_.key_norm, l, ".weight", c.head_dim));
    }
    LL_ASSIGN(layer.attention_output, matrix(names_.attention_output, l, c.hidden, q));
    LL_ASSIGN(layer.attention_output_bias,
              bias(names_.attention_output, l, c.hidden, declared_.attention_output_bias));
    LL_ASSIGN(layer.ffn_norm, vector(names_.ffn_norm, l, ".weight", c.hidden));
    LL_RETURN_IF_ERROR(split_matrix(names_.gate_up, l, c.hidden,
                                    {{names_.gate, c.ffn, &layer.gate, &layer.gate_bias},
                                     {names_.up, c.ffn, &layer.up, &layer.up_bias}},
                                    declared_.mlp_bias));
    LL_ASSIGN(layer.down, matrix(names_.down, l, c.hidden, c.ffn));
    LL_ASSIGN(layer.down_bias, bias(names_.down, l, c.hidden, declared_.mlp_bias));
    return {};
  }

  Status rope_divisors() {
    RopeConfig& rope = model_.config.rope;
    const StoredTensor* plain = find(names_.rope_divisors, 0, ".weight");
    if (rope.scaling != RopeScaling::kLongRope || names_.rope_long_divisors.empty())
      return plain == nullptr ? Status() : read_divisors(*plain, rope.divisors);
    if (plain != nullptr)
      return error(ErrorCode::kUnsupported, "{}: is not run with longrope", plain->where());
    LL_ASSIGN(const StoredTensor* near, get(names_.rope_short_divisors, 0, ".weight"));
    LL_RETURN_IF_ERROR(read_divisors(*near, rope.divisors));
    LL_ASSIGN(const StoredTensor* far, get(names_.rope_long_divisors, 0, ".weight"));
    return read_divisors(*far, rope.long_divisors);
  }

  Status read_divisors(const StoredTensor& tensor, std::vector<float>& out) {
    LL_ASSIGN(out, floats(tensor, model_.config.rope.dims / 2));
    for (const float divisor : out)
      if (divisor <= 0)
        return error(ErrorCode::kCorrupt, "{}: divisor {}: divisors are positive", tensor.where(),
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
