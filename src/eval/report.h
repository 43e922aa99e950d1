// Rows as JSON, and as tables for people.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "eval/provenance.h"
#include "eval/summary.h"

namespace looseleaf {

// {task, method, curve?, n, metrics: {NAME: {mean, lo, hi, max}}, flops, ttft_ms: {median, lo, hi},
// orders, context_tokens, n_documents, repaired_tokens}; scores and shares 0 to 1.
boost::json::object row_json(const EvalRow& row);
// {task, a, b, metric, diff, lo, hi, n}; of a comparison at equal cost also {match, at}, where `at`
// is "mean" for the mean over all costs.
boost::json::object paired_json(const PairedRow& row);

// Scores and FLOPs in percent, NLL and KL in nats, each with its 95 % interval.
std::string rows_table(const std::vector<EvalRow>& rows);
// Differences a - b in the same units; "*" marks those whose interval does not hold 0.
std::string paired_table(const std::vector<PairedRow>& rows);

// Whether a metric is a share, and shown in percent.
bool is_share(const std::string& metric);

}  // namespace looseleaf
