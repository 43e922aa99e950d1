#include "compute/device.h"

#include <cmath>

namespace looseleaf {

void rotary_angles(std::span<const double> frequencies, double position, double factor,
                   float* out) {
  const size_t half = frequencies.size();
  for (size_t j = 0; j < half; ++j) {
    out[j] = static_cast<float>(factor * std::cos(position * frequencies[j]));
    out[half + j] = static_cast<float>(factor * std::sin(position * frequencies[j]));
  }
}

void Device::place(const PlaceArgs& args) {
  const auto keys = static_cast<int>(args.slots.size());
  const auto turn = [&](float* x, int rows, int heads) {
    if (rows > 0)
      rotate(x, args.angles, rows, heads, args.head_dim, args.rotary_dims, args.pairs);
  };
  turn(args.query, args.query_rows, args.heads);
  turn(args.key, keys, args.kv_heads);
  if (keys > 0) store(args.layer, args.key, args.value, args.slots);
}

void Device::feed_forward(const FeedForwardArgs& args) {
  const WeightProduct gated[] = {{args.gate, args.gate_bias, args.gate_out},
                                 {args.up, args.up_bias, args.up_out}};
  matmuls(gated, args.x, args.rows);
  silu_multiply(args.gate_out, args.up_out, args.rows * args.gate->rows);
  matmul(*args.down, args.down_bias, args.gate_out, args.rows, true, args.y);
}

}  // namespace looseleaf
