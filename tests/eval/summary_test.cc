#include "eval/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/report.h"

namespace looseleaf {
namespace {

// Four samples; the methods' values are set by each test.
class SummaryTest : public testing::Test {
 protected:
  SummaryTest() {
    task_.name = "task";
    for (const char* id : {"a", "b", "c", "d"}) task_.samples.emplace_back().id = id;
  }

  // nll of sample i in order k: values[i] + k.
  void add(const std::string& method, const std::string& curve, std::vector<double> values,
           double flops, double ttft_ms) {
    methods_.push_back({method, curve});
    for (const int order : orders_of(options_))
      for (size_t i = 0; i < values.size(); ++i) {
        SampleRecord record;
        record.task = task_.name;
        record.sample = task_.samples[i].id;
        record.method = method;
        record.order = order;
        record.metrics = {{"nll", values[i] + order}};
        record.flops = flops;
        record.ttft_ms = ttft_ms + static_cast<double>(i);
        record.context_tokens = 100;
        record.commit = "c1";
        ASSERT_TRUE(samples_.add(record));
      }
  }
  TaskResults results() const { return TaskResults(task_, methods_, options_, samples_); }

  EvalTask task_;
  RunOptions options_;
  std::vector<SweptMethod> methods_;
  SampleFile samples_;
};

TEST_F(SummaryTest, RowsHoldMeansMediansAndMaxima) {
  add("full", "", {1, 2, 3, 6}, 1, 10);
  const auto rows = results().rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].n, 4);
  EXPECT_EQ(rows[0].orders, 1);
  EXPECT_EQ(rows[0].metrics.at("nll").mean.value, 3);
  EXPECT_EQ(rows[0].metrics.at("nll").max, 6);
  EXPECT_LT(rows[0].metrics.at("nll").mean.lo, 3);
  EXPECT_GT(rows[0].metrics.at("nll").mean.hi, 3);
  EXPECT_EQ(rows[0].flops, 1);
  EXPECT_EQ(rows[0].ttft_ms.value, 11.5);
  EXPECT_NEAR(rows[0].context_tokens, 100, 1e-9);
  EXPECT_EQ(rows[0].commits, "c1");
}

TEST_F(SummaryTest, OrdersOfASampleAreAveragedFirst) {
  options_.shuffles = 3;  // orders 1, 2, 3
  add("full", "", {1, 2, 3, 6}, 1, 10);
  const auto row = results().rows()[0];
  EXPECT_EQ(row.orders, 3);
  EXPECT_EQ(row.n, 4);
  EXPECT_NEAR(row.metrics.at("nll").mean.value, 5, 1e-12);
  EXPECT_NEAR(row.metrics.at("nll").max, 8, 1e-12);
}

TEST_F(SummaryTest, PairsAreComparedSampleBySample) {
  add("full", "", {1, 20, 300, 4000}, 1, 10);
  add("reuse", "", {1.5, 20.5, 300.5, 4000.5}, 0.1, 1);
  add("block", "", {2, 21, 301, 4001}, 0.1, 2);
  const auto rows = results().paired_rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].a, "full");
  EXPECT_EQ(rows[0].b, "reuse");
  EXPECT_EQ(rows[0].metric, "nll");
  EXPECT_EQ(rows[0].diff.value, -0.5);
  EXPECT_EQ(rows[0].diff.lo, -0.5);  // every sample differs by the same, however wide they are
  EXPECT_EQ(rows[0].diff.hi, -0.5);
  EXPECT_EQ(rows[1].b, "block");
  EXPECT_EQ(rows[2].a, "reuse");
  EXPECT_EQ(rows[2].n, 4);
}

TEST_F(SummaryTest, MatchedRowsInterpolateBetweenThePointsOfASweep) {
  add("m:1", "m", {4, 4, 4, 4}, 0.1, 10);
  add("m:3", "m", {0, 0, 0, 0}, 0.3, 30);
  add("m:2", "m", {2, 2, 2, 2}, 0.2, 20);
  add("single", "", {1, 2, 3, 4}, 0.15, 15);
  const auto rows = results().matched_rows("flops");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].a, "m");
  EXPECT_EQ(rows[0].b, "single");
  EXPECT_EQ(rows[0].match, "flops");
  EXPECT_NEAR(rows[0].at, 0.15, 1e-12);
  EXPECT_NEAR(rows[0].diff.value, 3 - 2.5, 1e-12);
  const auto by_time = results().matched_rows("ttft");  // medians are 1.5 ms later
  ASSERT_EQ(by_time.size(), 1u);
  EXPECT_NEAR(by_time[0].at, 16.5, 1e-12);
  EXPECT_NEAR(by_time[0].diff.value, 3 - 2.5, 1e-12);
}

TEST_F(SummaryTest, SweepsMeetAtThePointsThatBothReachAndOnTheMean) {
  add("m:1", "m", {4, 4, 4, 4}, 0.1, 10);
  add("m:2", "m", {0, 0, 0, 0}, 0.3, 30);
  add("k:1", "k", {5, 5, 5, 5}, 0.2, 20);
  add("k:2", "k", {1, 1, 1, 1}, 0.4, 40);
  const auto rows = results().matched_rows("flops");
  ASSERT_EQ(rows.size(), 3u);  // at 0.2, at 0.3, mean
  EXPECT_NEAR(rows[0].at, 0.2, 1e-12);
  EXPECT_NEAR(rows[0].diff.value, 2 - 5, 1e-12);
  EXPECT_NEAR(rows[1].at, 0.3, 1e-12);
  EXPECT_NEAR(rows[1].diff.value, 0 - 3, 1e-12);
  EXPECT_EQ(rows[2].at, -1);
  EXPECT_NEAR(rows[2].diff.value, -3, 1e-12);
  EXPECT_EQ(paired_json(rows[2]).at("at"), "mean");
}

TEST_F(SummaryTest, WhatNeverMeetsIsNotCompared) {
  add("m:1", "m", {4, 4, 4, 4}, 0.1, 10);
  add("m:2", "m", {0, 0, 0, 0}, 0.3, 30);
  add("cheap", "", {1, 1, 1, 1}, 0.05, 5);
  EXPECT_TRUE(results().matched_rows("flops").empty());
}

TEST_F(SummaryTest, TablesShowSharesInPercentAndClearDifferences) {
  add("full", "", {1, 2, 3, 6}, 1, 10);
  add("reuse", "", {2, 3, 4, 7}, 0.123, 1);
  const std::string table = rows_table(results().rows());
  EXPECT_NE(table.find("3.0000 ["), std::string::npos) << table;
  EXPECT_NE(table.find("12.3"), std::string::npos) << table;
  const std::string paired = paired_table(results().paired_rows());
  EXPECT_NE(paired.find("-1.0000 [-1.0000, -1.0000] *"), std::string::npos) << paired;
}

}  // namespace
}  // namespace looseleaf
