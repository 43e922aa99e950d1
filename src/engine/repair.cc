#include "engine/repair.h"

#include <algorithm>
#include <cmath>

#include "engine/document_tokens.h"
#include "engine/flops.h"
#include "engine/repair_pass.h"
#include "engine/run_pieces.h"
#include "engine/score.h"

namespace looseleaf {
namespace {

// Token numbers and layers of the caller's targets.
Status check_given(const GivenTargets& given, const PromptShape& shape) {
  const auto check = [&](const std::string& field, const std::vector<int32_t>& tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] < 0 || tokens[i] >= shape.tokens())
        return field_error(fmt::format("{}[{}]", field, i),
                           "{} is not the number of a document token: there are {}, from 0",
                           tokens[i], shape.tokens());
    return {};
  };
  if (!given.targets.empty() && std::ssize(given.targets) != shape.layers)
    return field_error("method.targets", "has {} lists, but the model has {} layers",
                       given.targets.size(), shape.layers);
  for (size_t layer = 0; layer < given.targets.size(); ++layer)
    LL_RETURN_IF_ERROR(check(fmt::format("method.targets[{}]", layer), given.targets[layer]));
  return check("method.context", given.context);
}

class Repair {
 public:
  Repair(EngineCore& core, Sequence& sequence, const RepairRequest& request,
         std::span<float> logits)
      : core_(core), sequence_(sequence), request_(request), logits_(logits) {
    result_.shape = shape_of(sequence, core.model->config.layers);
  }

  Expected<RepairResult> run() {
    const Method& method = request_.method;
    if (request_.given != nullptr) LL_RETURN_IF_ERROR(check_given(*request_.given, shape()));
    const bool nothing = method.number == 0.0 || shape().layers < 2 || shape().tokens() == 0;
    result_.depths.assign(static_cast<size_t>(shape().tokens()), RepairPlan::kOutside);
    if (shape().tokens() == 0 || (nothing && !request_.want_scores)) return std::move(result_);
    const double start = core_.forward.operations();
    LL_RETURN_IF_ERROR(compute_text_before(core_, sequence_, text_needed()));
    const double before = core_.forward.operations();
    LL_RETURN_IF_ERROR(gather_evidence(!nothing));
    result_.score_flops = core_.forward.operations() - before;
    spent_ = core_.forward.operations() - start;
    if (nothing) return std::move(result_);

    LL_ASSIGN(const RepairPlan plan, choose());
    result_.depths = plan.depths;
    if (plan.empty()) {
      if (answered_) sequence_.tail().computed = static_cast<int>(sequence_.tail().tokens.size());
      return std::move(result_);
    }
    LL_RETURN_IF_ERROR(recompute(plan));
    result_.repair_flops = core_.forward.operations() - start - spent_;
    return std::move(result_);
  }

 private:
  const PromptShape& shape() const { return result_.shape; }

  bool scores() const {
    return request_.method.info->evidence == Evidence::kScores || request_.want_scores;
  }

  // Parts whose text comes first: all that the question sees, or what stands before the documents.
  size_t text_needed() const {
    return scores() ? sequence_.parts.size() - 1 : binding_parts(sequence_).front();
  }

  Status gather_evidence(bool repairs) {
    if (scores()) {
      // Where a method may find nothing to do, the same pass answers the question.
      answered_ = repairs && request_.method.value("skip").has_value();
      const auto softmax = request_.method.options.find("softmax");
      const bool documents =
          softmax != request_.method.options.end() && softmax->second == "documents";
      const auto last = request_.method.value("rows");
      const size_t rows = last ? static_cast<size_t>(*last) : SIZE_MAX;
      LL_ASSIGN(result_.scores, score_documents(core_, sequence_, documents, rows,
                                                answered_ ? logits_ : std::span<float>()));
    }
    if (request_.method.info->evidence == Evidence::kDeviation && repairs) {
      LL_ASSIGN(FirstLayers first, run_first_layers(core_, sequence_, shape()));
      first_layers_.emplace(std::move(first));
    }
    return {};
  }

  RepairPlan plan_for(double number) const {
    const RepairInput input{
        shape(), result_.scores,
        first_layers_ ? std::span<const float>(first_layers_->deviation) : std::span<const float>(),
        request_.given};
    return request_.method.info->plan(request_.method, input, number);
  }

  Expected<RepairPlan> choose() {
    const auto budget = request_.method.value("budget");
    if (!budget) return plan_for(request_.method.number.value_or(0));
    const ModelConfig& config = core_.model->config;
    const double allowed = *budget * full_prefill_flops(config, sequence_.prompt_tokens) - spent_;
    // The largest number of tokens whose repair and question stay below.
    int32_t fits = 0, too_many = most_tokens() + 1;
    while (too_many - fits > 1) {
      const int32_t middle = fits + (too_many - fits) / 2;
      (cost(plan_for(number_of(middle))) <= allowed ? fits : too_many) = middle;
    }
    return plan_for(number_of(fits));
  }

  bool counts_tokens() const { return request_.method.info->number.integer; }
  int32_t most_tokens() const {
    if (!counts_tokens()) return shape().tokens();
    return 1 + *std::max_element(shape().places.begin(), shape().places.end());
  }
  double number_of(int32_t tokens) const {
    return counts_tokens() ? tokens : static_cast<double>(tokens) / shape().tokens();
  }

  // Of repair and question, by formula.
  double cost(const RepairPlan& plan) {
    const ModelConfig& config = core_.model->config;
    sequence_.overlay.emplace(core_.private_layout, shape(), plan, chunk_tokens(sequence_));
    const RepairPass owner(sequence_, shape(), plan, first_layers_ ? 1 : 0);
    Pass repair = owner.pass();
    repair.sort_rows();
    Pass question = pending_text(sequence_, sequence_.parts.size(), config.layers);
    std::erase_if(question.rows,
                  [&](const PassRow& row) { return row.position < sequence_.tail().position; });
    question.sort_rows();
    const double flops =
        (plan.empty() ? 0 : pass_flops(config, repair)) + pass_flops(config, question);
    sequence_.overlay.reset();
    return flops;
  }

  Status recompute(const RepairPlan& plan) {
    sequence_.overlay.emplace(core_.private_layout, shape(), plan, chunk_tokens(sequence_));
    LL_RETURN_IF_ERROR(sequence_.overlay->allocate(core_.pool));
    RepairPass repair(sequence_, shape(), plan, first_layers_ ? 1 : 0);
    LL_RETURN_IF_ERROR(repair.allocate(*core_.device));
    DeviceMemory hidden;
    if (first_layers_) {
      LL_ASSIGN(hidden, take_first_layers(repair.pass()));
    }
    LL_RETURN_IF_ERROR(run_in_pieces(core_, repair.pass(), {},
                                     {.hidden_in = reinterpret_cast<const float*>(hidden.get())},
                                     repair.piece_rows()));
    for (size_t part = 0; part + 1 < sequence_.parts.size(); ++part)
      if (auto* run = std::get_if<TextRun>(&sequence_.parts[part]))
        run->computed = static_cast<int>(run->tokens.size());
    return {};
  }

  // Layer 1's keys and values go to the overlay; gives the rows' hidden states.
  Expected<DeviceMemory> take_first_layers(const Pass& pass) {
    const Overlay& overlay = *sequence_.overlay;
    std::vector<KvSlot> slots;
    for (int32_t e = 0; e < overlay.count(); ++e) slots.push_back(overlay.slot(e));
    const Segment source = first_layers_->kv.segment(0);
    const RopeConfig& rope = core_.model->config.rope;
    core_.device->gather({1, rope.dims, rope.pairs, &source, overlay.tokens(), slots});
    const auto bytes = static_cast<size_t>(core_.model->config.hidden) * sizeof(float);
    LL_ASSIGN(DeviceMemory hidden, core_.device->allocate((pass.rows.size() + 1) * bytes));
    for (size_t r = 0; r < pass.rows.size(); ++r) {
      const auto from = static_cast<size_t>(pass.rows[r].position - first_layers_->start);
      core_.device->copy(hidden.get() + r * bytes, first_layers_->hidden.get() + from * bytes,
                         bytes);
    }
    return hidden;
  }

  EngineCore& core_;
  Sequence& sequence_;
  const RepairRequest& request_;
  std::span<float> logits_;
  bool answered_ = false;  // scoring left the logits of an unrepaired prompt
  std::optional<FirstLayers> first_layers_;
  double spent_ = 0;  // operations before the choice
  RepairResult result_;
};

}  // namespace

Expected<RepairResult> repair(EngineCore& core, Sequence& sequence, const RepairRequest& request,
                              std::span<float> logits) {
  return Repair(core, sequence, request, logits).run();
}

}  // namespace looseleaf
