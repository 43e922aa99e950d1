#include "check.h"

#include <cmath>
#include <cstdio>
#include <random>

#include "decode_reference.h"
#include "decode_run.h"
#include "random_pages.h"

namespace looseleaf::bench {
namespace {

struct Case {
  const char* name;
  int heads, kv_heads, blocks;
  std::vector<int> chunks;                 // tokens of each
  std::vector<std::vector<int>> requests;  // chunks of each, in prompt order
};

std::vector<Case> cases() {
  return {
      {"odd sizes", 8, 2, 5, {1, 31, 33, 64, 100, 257}, {{0, 1, 5}, {5, 2}, {3, 4, 5, 1}}},
      {"three heads a KV head, one chunk twice", 9, 3, 3, {512, 70}, {{0}, {0, 1}, {1, 0, 1}}},
      {"more users than a tile holds",
       4,
       1,
       7,
       {200, 90},
       std::vector<std::vector<int>>(37, {0, 1})},
      {"more partials than a merge batch", 4, 4, 264, {6000}, {{0}, {}, {0, 0}}},
      {"requests without keys", 4, 2, 2, {0, 40}, {{}, {0}, {1}}},
      {"more blocks than items", 64, 1, 40, {5}, {{0}, {0}}},
  };
}

// Offsets up to 100,000; every fifth use is not turned.
Workload workload(const Case& of, int head_dim, std::mt19937& random) {
  Workload load;
  for (const int tokens : of.chunks) load.add_chunk(tokens);
  for (const std::vector<int>& request : of.requests) {
    for (const int chunk : request) {
      load.add_use(chunk, random() % 100'000, head_dim);
      if (random() % 5 == 0) load.uses.back().turn = -1;
    }
    load.end_request();
  }
  return load;
}

bool check(const Case& of, int head_dim, std::mt19937& random) {
  // Turned queries, weights and results are each rounded to bf16 (2^-9 at most, relative); a
  // score's error of 2^-9 times its size of about 1 changes its weight as much again.
  constexpr double kBound = 4.0 / 512;
  const Heads heads = {of.heads, of.kv_heads, head_dim};
  const Workload load = workload(of, head_dim, random);
  const std::vector<std::byte> host_pages = random_pages(heads, load, random);
  std::vector<uint16_t> host_query(static_cast<size_t>(load.requests() * of.heads * head_dim));
  for (uint16_t& q : host_query) q = random_bf16(random);
  const std::vector<double> want = attend_reference(heads, load, host_pages, host_query);

  Pages pages(heads, load.pages());
  require(cudaMemcpy(pages.memory().data(), host_pages.data(), host_pages.size(),
                     cudaMemcpyHostToDevice),
          "copying");
  const GpuArray<uint16_t> query(host_query);
  GpuArray<__nv_bfloat16> out(host_query.size());
  bool good = true;
  for (const bool chunk_major : {true, false}) {
    AttendPlanner planner;
    const AttendPlan& plan = planner.plan({of.heads, of.kv_heads, of.blocks, chunk_major},
                                          load.chunks, load.uses, load.first_use);
    out.poison();
    const DecodeRun run(heads, load, plan, pages,
                        reinterpret_cast<const __nv_bfloat16*>(query.data()), out.data());
    run.launch(nullptr);
    require(cudaDeviceSynchronize(), of.name);
    const double error = relative_error(out.to_host(), want);
    const bool within = error < kBound;
    std::printf("%s, size %d, %s: relative error %.1e %s\n", of.name, head_dim,
                chunk_major ? "chunk-major" : "request-major", error, within ? "ok" : "WRONG");
    good = good && within;
  }
  return good;
}

}  // namespace

bool check_decode() {
  std::mt19937 random(std::random_device{}());
  bool good = true;
  for (const int head_dim : {128, 64})
    for (const Case& of : cases()) good = check(of, head_dim, random) && good;
  return good;
}

}  // namespace looseleaf::bench
