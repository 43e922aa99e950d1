#include "cli/attention_measure.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "cli/output.h"

namespace looseleaf {

// The ways that are measured on the row and find memory.
Expected<std::vector<AttentionMeasurer::Timed>> AttentionMeasurer::prepare(const AttentionRow& row,
                                                                           AttentionScene& scene) {
  std::vector<Timed> timed;
  for (const BenchWay& way : kBenchWays) {
    if (!(std::holds_alternative<DecodeRow>(row) ? way.decode : way.prefill)) continue;
    if (!ways_.empty() && std::ranges::find(ways_, way.name) == ways_.end()) continue;
    const Status ready = scene.prepare(way);
    if (!ready && ready.error().code != ErrorCode::kUnavailable)
      return tl::unexpected(ready.error());
    if (ready) {
      timed.push_back({&way, next_pass_++, {}});
    } else {
      print_warning(fmt::format("{} of {} is left out: {}", way.name, attention_row_name(row),
                                ready.error().message));
    }
  }
  return timed;
}

// The one place that says what a pass is.
Expected<double> AttentionMeasurer::pass_us(AttentionScene& scene, const BenchWay& way,
                                            uint64_t number, bool repeats) {
  const Stopwatch watch;
  device_.begin_pass(repeats);
  scene.launch(way, number);
  LL_RETURN_IF_ERROR(device_.wait());
  return watch.ms() * 1000;
}

Status AttentionMeasurer::time(AttentionScene& scene, std::vector<Timed>& ways) {
  for (int r = -measuring_.warm_up; r < measuring_.repetitions; ++r)
    for (Timed& timed : ways) {
      // Another way's plan is in place: the pass before the counted one makes this way's anew.
      if (ways.size() > 1) LL_RETURN_IF_ERROR(pass_us(scene, *timed.way, timed.pass, true));
      LL_ASSIGN(const double us, pass_us(scene, *timed.way, timed.pass, true));
      if (r >= 0) timed.us.push_back(us);
    }
  return {};
}

Expected<double> AttentionMeasurer::planning(AttentionScene& scene, const Timed& repeated) {
  std::vector<double> us;
  for (int r = 0; r < measuring_.repetitions; ++r) {
    LL_ASSIGN(const double once, pass_us(scene, *repeated.way, next_pass_++, true));
    us.push_back(once);
  }
  return spread(us).median - spread(repeated.us).median;
}

Expected<std::vector<AttentionMeasured>> AttentionMeasurer::measure(const AttentionRow& row,
                                                                    SceneOptions options) {
  options.layers = std::clamp(
      static_cast<int>(measuring_.pass_bytes / AttentionScene::layer_bytes(row, options)),
      measuring_.least_layers, measuring_.most_layers);
  auto created = AttentionScene::create(device_, row, options);
  if (!created) {
    print_warning(
        fmt::format("{} is left out: {}", attention_row_name(row), created.error().message));
    return std::vector<AttentionMeasured>();
  }
  AttentionScene& scene = **created;
  LL_ASSIGN(std::vector<Timed> ways, prepare(row, scene));
  LL_RETURN_IF_ERROR(time(scene, ways));

  std::vector<AttentionMeasured> list;
  for (const Timed& timed : ways) {
    AttentionMeasured measured;
    measured.way = timed.way;
    measured.layers = options.layers;
    measured.used_chunks = scene.used_chunks();
    std::vector<double> of_a_layer = timed.us;
    for (double& us : of_a_layer) us /= options.layers;
    measured.us = spread(of_a_layer);
    measured.bytes = scene.floor_bytes();
    measured.flops = scene.flops();
    measured.floor_us =
        std::max(measured.bytes / ceilings_.read_gbps, measured.flops / ceilings_.matrix_gflops) /
        1e3;
    if (timed.way->name == "reuse" && device_.name() != "cpu") {  // which plans in each call
      LL_ASSIGN(measured.plan_us, planning(scene, timed));
    }
    list.push_back(std::move(measured));
  }
  return list;
}

}  // namespace looseleaf
