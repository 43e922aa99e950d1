// What the CPU's attention promises beyond its definition, which device_attend_test.cc compares
// every device with: bits that depend neither on other rows nor on the way taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "attend_cases.h"
#include "base/thread_pool.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

// A row's bits must not depend on which rows share its tile or on the number of threads.
TEST(AttendBits, DoNotDependOnOtherRows) {
  std::mt19937 random(std::random_device{}());
  const KvLayout layout{KvType::kF16, 1, 2, 32};
  SegmentData data(layout, 150, random);
  std::vector<int32_t> positions(50);
  std::iota(positions.begin(), positions.end(), 100);
  const std::vector<float> query = random_floats(50 * 4 * 32, random);
  const std::vector<SegmentUse> uses = {{0}};
  const auto run = [&](std::vector<int32_t> rows, int threads) {
    ThreadPool pool(threads);
    const std::vector<RowGroup> groups = {{rows, uses}};
    std::vector<float> out(query.size());
    AttendArgs args;
    args.heads = 4;
    args.kv_heads = 2;
    args.head_dim = 32;
    args.scale = 0.2f;
    args.segments = {&data.segment, 1};
    args.groups = groups;
    args.positions = positions;
    args.active = 50;
    args.query = query.data();
    args.out = out.data();
    cpu_attend(pool, args);
    return out;
  };
  std::vector<int32_t> everyone(50);
  std::iota(everyone.begin(), everyone.end(), 0);
  const auto together = run(everyone, 4);
  for (const int32_t row : {0, 7, 49}) {
    const auto alone = run({row}, 1);
    for (int i = row * 128; i < (row + 1) * 128; ++i)
      ASSERT_EQ(alone[static_cast<size_t>(i)], together[static_cast<size_t>(i)]) << "row " << row;
  }
}

// Largest difference from the definition; infinity where a value is no number.
double difference(const AttendArgs& args, size_t values) {
  std::vector<double> expected(values), lse(values);
  attend_reference(args, expected.data(), lse.data());
  double worst = 0;
  for (size_t i = 0; i < values; ++i) {
    const double one = std::abs(args.out[i] - expected[i]);
    worst = std::isnan(one) ? std::numeric_limits<double>::infinity() : std::max(worst, one);
  }
  return worst;
}

AttendArgs small_args(std::span<const Segment> segments, std::span<const RowGroup> groups,
                      std::span<const int32_t> positions) {
  AttendArgs args;
  args.heads = 4;
  args.kv_heads = 2;
  args.head_dim = 32;
  args.scale = 0.2f;
  args.rotary_dims = 32;
  args.segments = segments;
  args.groups = groups;
  args.positions = positions;
  args.active = static_cast<int>(positions.size());
  return args;
}

// Many rows walk their segments, few rows are split over the keys: the bits must be the same, over
// stretches of 512 tokens and a rest.
TEST(AttendBits, DoNotDependOnTheWayTaken) {
  std::mt19937 random(std::random_device{}());
  const KvLayout layout{KvType::kBF16, 1, 2, 32};
  const KvLayout text{KvType::kF32, 1, 2, 32};
  SegmentData chunk(layout, 1200, random), own(text, 200, random);
  chunk.make_stale(0.1, random);
  own.segment.position = 1200;
  const std::vector<Segment> segments = {chunk.segment, own.segment};
  std::vector<int32_t> positions(200), rows(200);
  std::iota(positions.begin(), positions.end(), 1200);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<SegmentUse> uses = {{0}, {1}};
  const std::vector<RowGroup> groups = {{rows, uses}};
  const std::vector<float> query = random_floats(200 * 4 * 32, random);
  std::vector<std::vector<float>> outs;
  for (const int threads : {1, 16}) {  // 200 rows are 6 tasks: enough for one thread only
    ThreadPool pool(threads);
    outs.emplace_back(query.size(), std::nanf(""));
    AttendArgs args = small_args(segments, groups, positions);
    args.query = query.data();
    args.out = outs.back().data();
    cpu_attend(pool, args);
    EXPECT_LT(difference(args, query.size()), 1e-4);
  }
  EXPECT_EQ(outs[0], outs[1]);
}

// Requests that hold one chunk at places of their own share its stretches; texts that begin with
// the same page and part later do not.
TEST(AttendShared, RowsOfSeveralRequests) {
  std::mt19937 random(std::random_device{}());
  const KvLayout layout{KvType::kQ8_0, 1, 2, 32};
  const KvLayout text{KvType::kF32, 1, 2, 32};
  std::vector<double> frequencies(16);
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.4, double(j));
  constexpr int kRequests = 9, kTokens = 600;
  SegmentData chunk(layout, kTokens, random), first_page(text, 64, random);
  std::vector<std::unique_ptr<SegmentData>> tails;
  std::vector<std::vector<std::byte*>> pages;
  std::vector<std::vector<float>> turns;
  std::vector<Segment> segments;
  std::vector<std::vector<SegmentUse>> uses;
  std::vector<std::vector<int32_t>> rows;
  std::vector<int32_t> positions;
  for (int i = 0; i < kRequests; ++i) {
    const int place = 40 + 1000 * i;
    Segment bound = chunk.segment;
    bound.position = place;
    turns.emplace_back(32);
    rotary_angles(frequencies, place, 1.0, turns.back().data());
    tails.push_back(std::make_unique<SegmentData>(text, 40, random));
    pages.push_back({first_page.segment.pages[0], tails.back()->segment.pages[0]});
    Segment own = tails.back()->segment;
    own.count = 40 + i;
    own.position = place + kTokens;
    segments.push_back(bound);
    segments.push_back(own);
    uses.push_back({{2 * i}, {2 * i + 1}});
    rows.emplace_back();
    for (int r = 0; r <= i % 3; ++r) {
      rows.back().push_back(static_cast<int32_t>(positions.size()));
      positions.push_back(own.position + own.count - 1 - r);
    }
  }
  std::vector<RowGroup> groups;
  for (int i = 0; i < kRequests; ++i) {
    const auto n = static_cast<size_t>(i);
    segments[2 * n].turn = turns[n];
    segments[2 * n + 1].pages = pages[n];
    groups.push_back({rows[n], uses[n]});
  }
  const std::vector<float> query = random_floats(positions.size() * 4 * 32, random);
  std::vector<float> out(query.size(), std::nanf(""));
  AttendArgs args = small_args(segments, groups, positions);
  args.query = query.data();
  args.out = out.data();
  ThreadPool pool(2);
  cpu_attend(pool, args);
  EXPECT_LT(difference(args, query.size()), 1e-4);

  // Alone a request reads what it read among others.
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<float> alone(query.size());
    args.groups = {&groups[i], 1};
    args.out = alone.data();
    cpu_attend(pool, args);
    for (const int32_t row : groups[i].rows)
      for (size_t d = 0; d < 128; ++d) {
        const size_t at = static_cast<size_t>(row) * 128 + d;
        ASSERT_EQ(alone[at], out[at]) << "request " << i;
      }
  }
}

}  // namespace
}  // namespace looseleaf
