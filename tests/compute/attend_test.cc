// The attention operation against its definition in float64: types x head sizes x segments x stale
// bits x windows, fresh random inputs each run (the seed is printed), outputs poisoned before.
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

struct Shape {
  const char* name;
  int heads, kv_heads, head_dim, rotary_dims;
  RopePairs pairs;
};

struct AttendCase {
  KvType type;
  Shape shape;
  int window;
  bool alibi;
};

constexpr Shape kShapes[] = {
    {"Smol", 9, 3, 64, 64, RopePairs::kAdjacent},
    {"Wide", 4, 1, 128, 128, RopePairs::kHalves},
    {"Odd", 3, 3, 20, 12, RopePairs::kHalves},  // not a multiple of any vector; partial rotary
    {"Tiny", 2, 1, 2, 2, RopePairs::kAdjacent},
};

std::vector<AttendCase> all_cases() {
  std::vector<AttendCase> cases;
  for (const KvType type : {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0})
    for (const Shape& shape : kShapes)
      for (const int window : {0, 1, 37})
        for (const bool alibi : {false, true})
          if (!alibi || window == 0) cases.push_back({type, shape, window, alibi});
  return cases;
}

class AttendTest : public testing::TestWithParam<AttendCase> {
 protected:
  AttendTest() : seed_(std::random_device{}()), random_(seed_) {
    RecordProperty("seed", std::to_string(seed_));
  }

  uint32_t seed_;
  std::mt19937 random_;
};

// Header, two bindings of one chunk (one with stale tokens), an overlay with counts by layer, a
// gathered segment with a limit, and the rows' own text; two groups that see different parts.
TEST_P(AttendTest, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto& [type, shape, window, alibi] = GetParam();
  constexpr int kLayers = 2;
  const KvLayout chunk_layout{type, kLayers, shape.kv_heads, shape.head_dim};
  const KvLayout text_layout{KvType::kF32, kLayers, shape.kv_heads, shape.head_dim};
  std::vector<double> frequencies(static_cast<size_t>(shape.rotary_dims / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.3, double(j));

  SegmentData header(text_layout, 5, random_), chunk(chunk_layout, 70, random_);
  SegmentData overlay(text_layout, 40, random_), gathered(text_layout, 33, random_);
  SegmentData own(text_layout, 67, random_);
  chunk.make_stale(0.4, random_);
  chunk.bind(90000, frequencies, 90000);
  Segment far = chunk.segment;  // the same memory bound a second time, far away, nothing stale
  const std::vector<float> far_turn(far.turn.begin(), far.turn.end());
  far.turn = far_turn;
  far.stale = {};
  chunk.bind(5, frequencies, 5);

  std::uniform_int_distribution<int> anywhere(0, 90100);
  const auto scattered = [&](int count) {
    std::vector<int32_t> positions(static_cast<size_t>(count));
    for (int32_t& p : positions) p = anywhere(random_);
    return positions;
  };
  overlay.set_positions(scattered(40));
  overlay.set_counts({40, 21});
  gathered.set_positions(scattered(33));
  own.segment.position = 90070;
  const std::vector<Segment> segments = {header.segment,  chunk.segment,    far,
                                         overlay.segment, gathered.segment, own.segment};

  constexpr int kRows = 70;
  constexpr size_t kMassPlaces = 70 + 70 + 40 + 33;
  std::vector<int32_t> positions(kRows);
  for (int r = 0; r < kRows; ++r) positions[static_cast<size_t>(r)] = 90070 + (r * 37) % 67;
  positions[3] = 12;  // inside the first binding
  positions[4] = -1;  // sees nothing
  std::vector<int32_t> even, odd;
  for (int r = 0; r < kRows; ++r) (r % 3 == 0 ? odd : even).push_back(r);
  const std::vector<SegmentUse> all = {
      {0}, {1, kNoLimit, 0}, {2, kNoLimit, 70}, {3, kNoLimit, 140}, {4, 45000, 180}, {5}};
  const std::vector<SegmentUse> some = {{1, kNoLimit, 0}, {3, 70000, 140}, {5}};
  const std::vector<RowGroup> groups = {{even, all}, {odd, some}};

  AttendArgs args;
  args.heads = shape.heads;
  args.kv_heads = shape.kv_heads;
  args.head_dim = shape.head_dim;
  args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
  args.window = window;
  args.rotary_dims = shape.rotary_dims;
  args.pairs = shape.pairs;
  args.segments = segments;
  args.groups = groups;
  args.positions = positions;
  std::vector<float> slopes(static_cast<size_t>(shape.heads));
  for (size_t h = 0; h < slopes.size(); ++h) slopes[h] = std::pow(0.5f, static_cast<float>(h + 1));
  if (alibi) args.alibi = slopes;
  const size_t row_heads = size_t{kRows} * static_cast<size_t>(shape.heads);
  const auto values = row_heads * static_cast<size_t>(shape.head_dim);
  const std::vector<float> query = random_floats(values, random_);
  args.query = query.data();

  ThreadPool pool(2);
  for (int layer = 0; layer < kLayers; ++layer) {
    args.layer = layer;
    args.active = layer == 0 ? kRows : 41;
    const float poison = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> out(values, poison), lse(row_heads, poison);
    args.out = out.data();
    args.lse = lse.data();
    cpu_attend(pool, args);
    std::vector<double> expected(values), expected_lse(row_heads);
    attend_reference(args, expected.data(), expected_lse.data());
    // Scores are sums of head_dim products of normals, a few units large, in float32; a score's
    // error enters exp() as a relative error. Values are normals.
    const double tolerance = 64 * 6e-8 * std::sqrt(shape.head_dim) + (alibi ? 3e-3 : 2e-5);
    for (int r = 0; r < kRows; ++r)
      for (int h = 0; h < shape.heads; ++h) {
        const auto at = static_cast<size_t>(r * shape.heads + h);
        if (r >= args.active) {
          ASSERT_TRUE(std::isnan(lse[at])) << "an inactive row was written: " << r;
          continue;
        }
        if (std::isinf(expected_lse[at])) {
          ASSERT_EQ(lse[at], expected_lse[at]) << "row " << r;
        } else {
          ASSERT_NEAR(lse[at], expected_lse[at], tolerance) << "row " << r << " head " << h;
        }
        for (int d = 0; d < shape.head_dim; ++d) {
          const size_t i = at * static_cast<size_t>(shape.head_dim) + static_cast<size_t>(d);
          ASSERT_NEAR(out[i], expected[i], tolerance) << "row " << r << " head " << h;
        }
      }

    // Both groups add to what is there. Each of a sum's terms is off by a score's and an lse's
    // error.
    std::vector<float> mass(kMassPlaces, 1.0f);
    args.mass = mass.data();
    cpu_attend_mass(pool, args);
    std::vector<double> expected_mass(kMassPlaces);
    attend_mass_reference(args, expected_lse.data(), expected_mass.data());
    for (size_t i = 0; i < kMassPlaces; ++i)
      ASSERT_NEAR(mass[i] - 1, expected_mass[i], 2 * tolerance * expected_mass[i] + 1e-5)
          << "place " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttendTest, testing::ValuesIn(all_cases()), [](const auto& info) {
  const AttendCase& c = info.param;
  return std::string(kv_type_name(c.type)) + c.shape.name + "Window" + std::to_string(c.window) +
         (c.alibi ? "Alibi" : "");
});

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
