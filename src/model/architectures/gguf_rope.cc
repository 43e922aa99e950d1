#include "model/architectures/gguf_rope.h"

#include <cmath>

#include "text/quote.h"

namespace looseleaf {
namespace {

// Reads what stands under FAMILY.rope.
class RopeReader {
 public:
  RopeReader(const GgufFile& file, const GgufFamily& family, RopeConfig& rope)
      : file_(file), family_(family), rope_(rope) {}

  Status run(int head_dim, int context) {
    LL_ASSIGN(const auto base, find<double>("freq_base"));
    rope_.base = base.value_or(10000);
    LL_ASSIGN(const auto dims, find<int32_t>("dimension_count"));
    rope_.dims = dims.value_or(head_dim);
    rope_.pairs = family_.pairs;
    LL_ASSIGN(const auto attention, find<double>("scaling.attn_factor"));
    rope_.attention_factor = attention.value_or(1);
    LL_ASSIGN(const auto original, find<int32_t>("scaling.original_context_length"));
    LL_RETURN_IF_ERROR(factor());
    LL_ASSIGN(const auto type, find<std::string_view>("scaling.type"));
    if (type == "longrope" || has_long_rope_tensors()) return long_rope(original);
    if (type == "yarn") return yarn(original.value_or(context));
    if (type.value_or("linear") == "linear") {
      if (rope_.factor != 1) rope_.scaling = RopeScaling::kLinear;
      return {};
    }
    if (*type != "none")
      return error(ErrorCode::kUnsupported,
                   "{}: rope scaling {} is not run by this build, only none, linear, yarn and "
                   "longrope",
                   file_.path(), quote(*type));
    rope_.factor = 1;
    return {};
  }

 private:
  std::string key(std::string_view rest) const {
    return fmt::format("{}.rope.{}", family_.name, rest);
  }
  template <typename T>
  Expected<std::optional<T>> find(std::string_view rest) const {
    return file_.find<T>(key(rest));
  }

  // Under its name, or that from before `rope.scaling`. 0 stands for none.
  Status factor() {
    LL_ASSIGN(const auto now, find<double>("scaling.factor"));
    LL_ASSIGN(const auto before, find<double>("scale_linear"));
    rope_.factor = now.value_or(before.value_or(1));
    if (rope_.factor == 0) rope_.factor = 1;
    return {};
  }

  // Errors: kUnsupported where the file has it with another value.
  Status only(std::string_view rest, double neutral) const {
    LL_ASSIGN(const auto value, find<double>(rest));
    if (value.value_or(neutral) == neutral) return {};
    return error(ErrorCode::kUnsupported, "{}: metadata '{}' is {}: only {} is run by this build",
                 file_.path(), key(rest), *value, neutral);
  }

  Status yarn(int original) {
    rope_.scaling = RopeScaling::kYarn;
    rope_.original_context = original;
    LL_ASSIGN(const auto fast, find<double>("scaling.yarn_beta_fast"));
    LL_ASSIGN(const auto slow, find<double>("scaling.yarn_beta_slow"));
    rope_.beta_fast = fast.value_or(32);
    rope_.beta_slow = slow.value_or(1);
    LL_RETURN_IF_ERROR(only("scaling.yarn_log_multiplier", 0));
    LL_RETURN_IF_ERROR(only("scaling.yarn_ext_factor", 1));
    LL_RETURN_IF_ERROR(only("scaling.yarn_attn_factor", 1));
    if (rope_.factor > 1) rope_.attention_factor *= 1 + 0.1 * std::log(rope_.factor);
    return {};
  }

  bool has_long_rope_tensors() const {
    return file_.tensors().find("rope_factors_long.weight") != nullptr ||
           file_.tensors().find("rope_factors_short.weight") != nullptr;
  }

  Status long_rope(std::optional<int32_t> original) {
    if (!family_.long_rope)
      return error(ErrorCode::kUnsupported, "{}: longrope is not run for {}", file_.path(),
                   family_.name);
    if (!original)
      return error(ErrorCode::kCorrupt, "{}: metadata has no '{}', which longrope needs",
                   file_.path(), key("scaling.original_context_length"));
    rope_.scaling = RopeScaling::kLongRope;
    rope_.factor = 1;
    rope_.original_context = *original;
    return {};
  }

  const GgufFile& file_;
  const GgufFamily& family_;
  RopeConfig& rope_;
};

}  // namespace

Expected<RopeConfig> rope_from_gguf(const GgufFile& file, const GgufFamily& family, int head_dim,
                                    int context) {
  RopeConfig rope;
  LL_RETURN_IF_ERROR(RopeReader(file, family, rope).run(head_dim, context));
  if (!family.partial_rotary && rope.dims != head_dim && rope.dims > 0 && rope.dims < head_dim &&
      rope.dims % 2 == 0)
    return error(ErrorCode::kCorrupt,
                 "{}: {}.rope.dimension_count is {}: {} turns all {} dimensions of a head",
                 file.path(), family.name, rope.dims, family.name, head_dim);
  return rope;
}

}  // namespace looseleaf
