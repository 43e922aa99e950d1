// Times of the attention operation, row by row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/attention_scene.h"
#include "cli/bench_result.h"

namespace looseleaf {

// How a device is measured. A pass has keys and values of so many bytes, several times what caches
// hold, in layers between these numbers: an engine's passes have dozens, which hide what a launch
// and a wait cost.
struct Measuring {
  double pass_bytes;
  int least_layers, most_layers;
  int warm_up;  // passes of each way that are not counted
  int repetitions;
};
inline constexpr Measuring kOnGpu = {2e9, 8, 32, 5, 50}, kOnCpu = {3e8, 2, 4, 1, 5};

struct AttentionMeasured {
  const BenchWay* way = nullptr;
  int layers = 0;  // of a pass
  int used_chunks = 0;
  Spread us;                      // of a layer: a pass over its layers
  double bytes = 0, flops = 0;    // of a layer, what the floor is made of
  double floor_us = 0;            // the same for all ways of a row, so that their shares compare
  std::optional<double> plan_us;  // how much longer a pass takes that was not planned before; of
                                  // `reuse`, where planning is not part of each call
};

class AttentionMeasurer {
 public:
  // ways: names of those to measure; empty: all. `device` and `ways` outlive it.
  AttentionMeasurer(Device& device, const Ceilings& ceilings, const Measuring& measuring,
                    const std::vector<std::string>& ways)
      : device_(device), ceilings_(ceilings), measuring_(measuring), ways_(ways) {}

  // Ways alternate, so that all see the same machine. What finds no memory is left out with a
  // warning. `options.layers` is chosen here. Errors: those of Device::wait.
  Expected<std::vector<AttentionMeasured>> measure(const AttentionRow& row, SceneOptions options);

 private:
  struct Timed {
    const BenchWay* way;
    uint64_t pass;           // its number
    std::vector<double> us;  // of passes
  };
  Expected<std::vector<Timed>> prepare(const AttentionRow& row, AttentionScene& scene);
  Expected<double> pass_us(AttentionScene& scene, const BenchWay& way, uint64_t number,
                           bool repeats);
  Status time(AttentionScene& scene, std::vector<Timed>& ways);
  Expected<double> planning(AttentionScene& scene, const Timed& repeated);

  Device& device_;
  Ceilings ceilings_;
  Measuring measuring_;
  const std::vector<std::string>& ways_;
  uint64_t next_pass_ = 1;
};

}  // namespace looseleaf
