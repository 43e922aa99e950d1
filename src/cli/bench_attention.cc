#include "cli/bench_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "base/json_text.h"
#include "cli/attention_check.h"
#include "cli/attention_measure.h"
#include "cli/flag.h"
#include "cli/output.h"
#include "compute/open_device.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

std::string way_names() {
  std::string names;
  for (const BenchWay& way : kBenchWays)
    names += (names.empty() ? "" : ", ") + std::string(way.name);
  return names;
}

// "reuse,floor".
Status parse_ways(const std::string& text, std::vector<std::string>& ways) {
  size_t first = 0;
  while (first <= text.size()) {
    const size_t end = std::min(text.find(',', first), text.size());
    ways.push_back(text.substr(first, end - first));
    if (std::ranges::find(kBenchWays, ways.back(), &BenchWay::name) == kBenchWays.end())
      return error(ErrorCode::kUsage, "there is no way {}; there are: {}", in_quotes(ways.back()),
                   way_names());
    first = end + 1;
  }
  return {};
}

// Lines of a table as they come, or a JSON list at the end.
class Report {
 public:
  Report(const Device& device, KvType kv_type, bool as_json)
      : device_(device), kv_type_(kv_type), json_(as_json) {}

  Status head(const AttentionHeads& heads, const Ceilings& ceilings) {
    ceilings_ = ceilings;
    const std::string& hardware = device_.facts().hardware;
    return text(fmt::format(
        "{}, {} heads on {} of {}, {}; reads {:.0f} GB/s, multiplies {:.0f} GFLOP/s\n"
        "microseconds a layer; share: of the row's floor, by bytes or operations\n\n"
        "{:<22} {:<14} {:>10} {:>10} {:>10} {:>10} {:>6}",
        hardware.empty() ? device_.name() : hardware, heads.heads, heads.kv_heads, heads.head_dim,
        kv_type_name(kv_type_), ceilings.read_gbps, ceilings.matrix_gflops, "row", "way", "median",
        "least", "most", "floor", "share"));
  }

  Status add(const AttentionRow& row, const AttentionHeads& heads, const AttentionMeasured& m) {
    const double share = m.floor_us / m.us.median;
    if (json_) {
      json::object facts = shape(row, heads);
      facts["layers"] = m.layers;
      facts["unique_chunks"] = m.used_chunks;
      json::object entry{{"kernel", m.way->name},
                         {"shape", std::move(facts)},
                         {"us", spread_json(m.us)},
                         {"floor_us", m.floor_us},
                         {"share", share},
                         {"bytes", m.bytes},
                         {"flops", m.flops},
                         {"device", device_.name()},
                         {"read_gbps", ceilings_.read_gbps},
                         {"matrix_gflops", ceilings_.matrix_gflops}};
      if (m.plan_us) entry["plan_us"] = *m.plan_us;
      list_.push_back(std::move(entry));
      return {};
    }
    std::string line = fmt::format(
        "{:<22} {:<14} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>4.0f} %", attention_row_name(row),
        m.way->name, m.us.median, m.us.least, m.us.most, m.floor_us, 100 * share);
    if (m.plan_us) line += fmt::format("  planning {:.0f} us a step", *m.plan_us);
    return text(line);
  }

  Status add(const AttentionChecked& c) {
    if (json_)
      list_.push_back({{"kernel", c.way},
                       {"shape", shape(c.row, c.heads)},
                       {"error", c.error},
                       {"bound", c.bound}});
    return text(fmt::format("{:<16} {:>2} heads on {} of {:>3}  {:<14} {:.1e} {}",
                            attention_row_name(c.row), c.heads.heads, c.heads.kv_heads,
                            c.heads.head_dim, c.way, c.error, c.within() ? "ok" : "WRONG"));
  }

  Status finish() { return json_ ? write_output(write_json(list_) + '\n') : Status{}; }

 private:
  json::object shape(const AttentionRow& row, const AttentionHeads& heads) const {
    json::object facts = attention_row_json(row);
    facts["row"] = attention_row_name(row);
    facts["heads"] = heads.heads;
    facts["kv_heads"] = heads.kv_heads;
    facts["head_dim"] = heads.head_dim;
    facts["kv_type"] = kv_type_name(kv_type_);
    return facts;
  }
  Status text(const std::string& line) { return json_ ? Status{} : write_output(line + '\n'); }

  const Device& device_;
  KvType kv_type_;
  bool json_;
  Ceilings ceilings_;
  json::array list_;
};

// Of keys and values. Errors: kUsage.
Expected<KvType> chosen_type(const EngineOptions& options, const Device& device) {
  if (options.kv_type == "auto") return device.facts().kv_type;
  if (const auto named = parse_kv_type(options.kv_type)) return *named;
  return error(ErrorCode::kUsage, "--kv-type: {} is no type of keys and values",
               in_quotes(options.kv_type));
}

Status check(Device& device, KvType kv_type, uint32_t seed, int64_t page_limit, Report& report) {
  bool good = true;
  LL_RETURN_IF_ERROR(
      check_attention(device, kv_type, seed, page_limit, [&](const AttentionChecked& checked) {
        good = good && checked.within();
        return report.add(checked);
      }));
  LL_RETURN_IF_ERROR(report.finish());
  if (good) return {};
  return error(ErrorCode::kInternal, "attention on {} differs from its definition", device.name());
}

}  // namespace

void add_attention_flags(CLI::App& app, AttentionBench& bench) {
  app.option_defaults()->group("Attention");
  add_repeated(
      app, "--row", "ROW", bench.rows,
      "What is measured, may be repeated: 64x16/1000/1.0/512 decodes 64 requests with 16 chunks "
      "each of 512 tokens, drawn from 1000 by Zipf's law with exponent 1.0; 2048/16384/512 "
      "prefills 2048 rows behind 16384 cached tokens in chunks of 512. Default: the rows of "
      "docs/kernels.md, on the CPU smaller ones");
  add_flag_value(
      app, "--ways", "LIST", [&](const std::string& text) { return parse_ways(text, bench.ways); },
      "Which ways of attending: " + way_names() + ". Default: all that fit the row");
  add_integer(
      app, "--heads", [&](int64_t n) { bench.heads.heads = static_cast<int>(n); }, 1, 256,
      "Query heads. Default: 32");
  add_integer(
      app, "--kv-heads", [&](int64_t n) { bench.heads.kv_heads = static_cast<int>(n); }, 1, 256,
      "Key and value heads. Default: 8");
  add_integer(
      app, "--head-dim", [&](int64_t n) { bench.heads.head_dim = static_cast<int>(n); }, 2, 256,
      "Dimensions of a head. Default: 128");
  add_integer(
      app, "--seed", [&](int64_t n) { bench.seed = static_cast<uint32_t>(n); }, 0, INT32_MAX,
      "Of the requests and the data. Default: 7");
  app.add_flag("--check", bench.check,
               "Instead of measuring, compare every way with attention by its definition in "
               "float64, on odd sizes of its own");
}

Status bench_attention(const AttentionBench& bench, const EngineOptions& options,
                       std::optional<int> repetitions, bool json) {
  if (bench.heads.heads % bench.heads.kv_heads != 0 || bench.heads.head_dim % 2 != 0)
    return error(ErrorCode::kUsage, "--kv-heads must divide --heads, and --head-dim be even");
  std::vector<AttentionRow> rows;
  for (const std::string& text : bench.rows) {
    LL_ASSIGN(AttentionRow row, parse_attention_row(text));
    rows.push_back(row);
  }
  LL_ASSIGN(OpenedDevice opened,
            open_device(options.device, {options.threads, options.exact, options.deterministic}));
  if (!opened.warning.empty()) print_warning(opened.warning);
  Device& device = *opened.device;
  LL_ASSIGN(const KvType kv_type, chosen_type(options, device));
  Report report(device, kv_type, json);
  if (bench.check) {
    LL_ASSIGN(const int64_t page_limit, device.reserve_pages(options.cache_bytes));
    return check(device, kv_type, bench.seed, page_limit, report);
  }
  const bool cpu = device.name() == "cpu";
  LL_ASSIGN(const Ceilings ceilings, device.measure_ceilings());
  LL_ASSIGN(const int64_t page_limit, device.reserve_pages(options.cache_bytes));
  LL_RETURN_IF_ERROR(report.head(bench.heads, ceilings));
  Measuring measuring = cpu ? kOnCpu : kOnGpu;
  measuring.repetitions = repetitions.value_or(measuring.repetitions);
  AttentionMeasurer measurer(device, ceilings, measuring, bench.ways);
  for (const AttentionRow& row : rows.empty() ? default_attention_rows(cpu) : rows) {
    LL_ASSIGN(const auto measured, measurer.measure(row, {.heads = bench.heads,
                                                          .kv_type = kv_type,
                                                          .seed = bench.seed,
                                                          .page_limit = page_limit}));
    for (const AttentionMeasured& way : measured)
      LL_RETURN_IF_ERROR(report.add(row, bench.heads, way));
  }
  return report.finish();
}

}  // namespace looseleaf
