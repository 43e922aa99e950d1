#include "prefill_measure.h"

#include <chrono>
#include <cstdio>

#include "compute/cuda/page_layout.h"
#include "prefill_run.h"

namespace looseleaf::bench {

PrefillMeasured measure_prefill(const Heads& heads, const PrefillRow& row, double rate,
                                int blocks) {
  const PrefillWork work = make_work(row, heads.head_dim), plain = without_turns(work);
  const int64_t elements = int64_t{row.rows} * heads.heads * heads.head_dim;
  const GpuArray<__nv_bfloat16> query(static_cast<size_t>(elements)), out(query.size());
  fill_random(query.data(), elements, 99);
  Pages pages(heads, work.pages);
  pages.fill_random(5);
  PrefillMeasured m;
  m.row = row;
  m.flops = prefill_flops(heads, row);
  m.read_floor_us =
      (static_cast<double>(row.cached + row.rows) * heads.kv_heads * heads.head_dim * 4 +
       4.0 * static_cast<double>(elements)) /
      rate * 1e6;
  PrefillPlanner planner;
  const auto make = [&](const PrefillWork& of) {
    const std::vector<PrefillGroup> groups = of.plan_groups();
    const auto start = std::chrono::steady_clock::now();
    const PrefillPlan& plan =
        planner.plan({heads.heads, heads.kv_heads, blocks, 0}, groups, of.rows, of.positions);
    m.plan_us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    return PrefillRun(heads, of, plan, pages, query.data(), out.data());
  };
  const PrefillRun turned = make(work), unturned = make(plain);
  const std::vector<Timing> times =
      time_graphs({[&](cudaStream_t stream) { turned.launch(stream); },
                   [&](cudaStream_t stream) { unturned.launch(stream); }});
  m.turned = times[0];
  m.unturned = times[1];
  return m;
}

void print_prefill_table(const Heads& heads, const std::vector<PrefillMeasured>& rows) {
  std::printf(
      "prefill, bf16, %d heads, %d KV heads, size %d; microseconds a layer, median (min-max)\n\n",
      heads.heads, heads.kv_heads, heads.head_dim);
  std::printf("%-20s %-22s %-22s %-7s %-9s %-7s %s\n", "rows/cached/chunk", "turned", "not turned",
              "ratio", "TFLOP/s", "floor", "plan");
  for (const PrefillMeasured& m : rows) {
    char name[64], turned[64], unturned[64];
    std::snprintf(name, sizeof(name), "%d/%d/%d", m.row.rows, m.row.cached, m.row.chunk);
    std::snprintf(turned, sizeof(turned), "%.1f (%.1f-%.1f)", m.turned.median, m.turned.least,
                  m.turned.most);
    std::snprintf(unturned, sizeof(unturned), "%.1f (%.1f-%.1f)", m.unturned.median,
                  m.unturned.least, m.unturned.most);
    std::printf("%-20s %-22s %-22s %-7.3f %-9.0f %-7.1f %.0f\n", name, turned, unturned,
                m.turned.median / m.unturned.median, m.flops / m.turned.median / 1e6,
                m.read_floor_us, m.plan_us);
  }
}

}  // namespace looseleaf::bench
