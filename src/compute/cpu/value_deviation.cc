#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"

namespace looseleaf {

void cpu_value_deviation(ThreadPool& pool, const DeviationArgs& args) {
  const auto row = [&](const Segment& s, int32_t token, int head, float* out) {
    const std::byte* page = s.pages[static_cast<size_t>(token / kPageTokens)];
    load_kv(*s.layout, page + s.layout->value_offset(args.layer, head), token % kPageTokens, 1,
            out);
  };
  pool.parallel_for(args.stored->count, [&](int64_t i) {
    const auto dim = static_cast<size_t>(args.stored->layout->head_dim);
    std::vector<float> fresh(dim), stored(dim);
    double sum = 0;
    for (int head = 0; head < args.stored->layout->kv_heads; ++head) {
      row(*args.fresh, args.first + static_cast<int32_t>(i), head, fresh.data());
      row(*args.stored, static_cast<int32_t>(i), head, stored.data());
      for (size_t d = 0; d < dim; ++d) {
        const double difference = double{fresh[d]} - stored[d];
        sum += difference * difference;
      }
    }
    args.out[i] = static_cast<float>(sum);
  });
}

}  // namespace looseleaf
