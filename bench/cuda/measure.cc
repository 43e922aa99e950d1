#include "measure.h"

#include <algorithm>
#include <chrono>

#include "decode_run.h"

namespace looseleaf::bench {
namespace {

const AttendPlan& make_plan(AttendPlanner& planner, const Heads& heads, const Workload& load,
                            int blocks, bool chunk_major) {
  const int token_rate = heads.type == KvType::kFP8 ? 2 : 1;
  return planner.plan({heads.heads, heads.kv_heads, blocks, chunk_major, token_rate}, load.chunks,
                      load.uses, load.first_use);
}

}  // namespace

double plan_time(const Heads& heads, const Workload& load, int blocks) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUp = 5, kRuns = 51;
  AttendPlanner planner;
  std::vector<double> times;
  for (int run = -kWarmUp; run < kRuns; ++run) {
    const Clock::time_point start = Clock::now();
    make_plan(planner, heads, load, blocks, true);
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    if (run >= 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

Measured measure(const Heads& heads, const WorkloadRow& row, double rate, int blocks,
                 std::mt19937& random) {
  const Workload load = draw(row, heads.head_dim, random);
  const auto elements = int64_t{row.requests} * heads.heads * heads.head_dim;
  const GpuArray<__nv_bfloat16> query(static_cast<size_t>(elements)), out(query.size());
  fill_random(query.data(), elements, 99);
  Measured m;
  m.row = row;
  m.unique_chunks = load.unique_chunks();
  m.plan_us = plan_time(heads, load, blocks);

  AttendPlanner planner;
  const auto time = [&](const Workload& of, const Pages& pages, bool chunk_major) {
    const DecodeRun run(heads, of, make_plan(planner, heads, of, blocks, chunk_major), pages,
                        query.data(), out.data());
    return time_graph([&](cudaStream_t stream) { run.launch(stream); });
  };
  {
    Pages pages(heads, load.pages());
    pages.fill_random(5);
    const DecodeRun run(heads, load, make_plan(planner, heads, load, blocks, true), pages,
                        query.data(), out.data());
    m.chunk_major = time_graph([&](cudaStream_t stream) { run.launch(stream); });
    m.chunk_major_decode = time_graph([&](cudaStream_t stream) { run.launch_decode(stream); });
    m.unturned = time(without_turns(load), pages, true);
    m.request_major = time(load, pages, false);
    const double kv = static_cast<double>(m.unique_chunks) * pages_for(row.tokens) *
                      static_cast<double>(heads.page_bytes());
    const double partials =
        2.0 * static_cast<double>(run.partials()) * (heads.head_dim * 4 + sizeof(float2));
    const double rows = 2.0 * static_cast<double>(elements) * sizeof(__nv_bfloat16);
    m.floor_us = kv / rate * 1e6;
    m.floor_with_partials_us = (kv + partials + rows) / rate * 1e6;
  }
  const Workload copies = private_copies(load);
  size_t available = 0, all = 0;
  require(cudaMemGetInfo(&available, &all), "memory");
  if (copies.pages() * heads.page_bytes() < static_cast<int64_t>(available / 10 * 9)) {
    Pages pages(heads, copies.pages());
    pages.fill_random(6);
    m.copies = time(copies, pages, false);
  }
  return m;
}

}  // namespace looseleaf::bench
