#include "cli/bench_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "base/json_text.h"
#include "base/stopwatch.h"
#include "cli/attention_check.h"
#include "cli/attention_scene.h"
#include "cli/bench_result.h"
#include "cli/flag.h"
#include "cli/output.h"
#include "compute/open_device.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// How a device is measured. A pass has keys and values of so many bytes, several times what caches
// hold, in layers between these numbers: an engine's passes have dozens, which hide what a launch
// and a wait cost.
struct Measuring {
  double pass_bytes;
  int least_layers, most_layers;
  int warm_up;  // passes of each way that are not counted
  int repetitions;
};
constexpr Measuring kOnGpu = {2e9, 8, 32, 5, 50}, kOnCpu = {3e8, 2, 4, 1, 5};

std::string way_names() {
  std::string names;
  for (const BenchWay& way : kBenchWays)
    names += (names.empty() ? "" : ", ") + std::string(way.name);
  return names;
}

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

// Microseconds of a pass, by the host's clock.
struct Measured {
  const BenchWay* way;
  std::vector<double> us;
};

class Run {
 public:
  Run(Device& device, const AttentionBench& bench, KvType kv_type, int64_t page_limit,
      const Measuring& measuring, bool as_json)
      : device_(device),
        bench_(bench),
        kv_type_(kv_type),
        page_limit_(page_limit),
        measuring_(measuring),
        json_(as_json) {}

  Status check() {
    bool good = true;
    LL_RETURN_IF_ERROR(check_attention(
        device_, kv_type_, bench_.seed, page_limit_, [&](const AttentionChecked& c) -> Status {
          const bool within = c.error <= c.bound;
          good = good && within;
          if (json_)
            list_.push_back({{"kernel", c.way},
                             {"shape", shape(c.row, c.heads)},
                             {"error", c.error},
                             {"bound", c.bound}});
          return text(fmt::format("{:<16} {:>2} heads on {} of {:>3}  {:<14} {:.1e} {}",
                                  attention_row_name(c.row), c.heads.heads, c.heads.kv_heads,
                                  c.heads.head_dim, c.way, c.error, within ? "ok" : "WRONG"));
        }));
    LL_RETURN_IF_ERROR(finish());
    if (good) return {};
    return error(ErrorCode::kInternal, "attention on {} differs from its definition",
                 device_.name());
  }

  Status measure(const Ceilings& ceilings, const std::vector<AttentionRow>& rows) {
    ceilings_ = ceilings;
    const std::string_view hardware = device_.facts().hardware;
    LL_RETURN_IF_ERROR(text(fmt::format(
        "{}, {} heads on {} of {}, {}; reads {:.0f} GB/s, multiplies {:.0f} GFLOP/s\n"
        "microseconds a layer; share: of the row's floor, by bytes or operations\n\n"
        "{:<22} {:<14} {:>10} {:>10} {:>10} {:>10} {:>6}",
        hardware.empty() ? device_.name() : hardware, bench_.heads.heads, bench_.heads.kv_heads,
        bench_.heads.head_dim, kv_type_name(kv_type_), ceilings.read_gbps, ceilings.matrix_gflops,
        "row", "way", "median", "least", "most", "floor", "share")));
    for (const AttentionRow& row : rows) LL_RETURN_IF_ERROR(measure(row));
    return finish();
  }

 private:
  Status measure(const AttentionRow& row) {
    SceneOptions options{
        .heads = bench_.heads, .kv_type = kv_type_, .seed = bench_.seed, .page_limit = page_limit_};
    options.layers = std::clamp(
        static_cast<int>(measuring_.pass_bytes / AttentionScene::layer_bytes(row, options)),
        measuring_.least_layers, measuring_.most_layers);
    auto scene = AttentionScene::create(device_, row, options);
    if (!scene) {
      print_warning(
          fmt::format("{} is left out: {}", attention_row_name(row), scene.error().message));
      return {};
    }
    LL_ASSIGN(std::vector<Measured> ways, prepared(row, **scene));
    LL_RETURN_IF_ERROR(time_ways(**scene, ways));
    for (const Measured& way : ways) {
      double plan_us = 0;
      // The CPU plans in each call, which its times include.
      const bool plans = way.way->name == "reuse" && device_.name() != "cpu";
      if (plans) {
        LL_ASSIGN(plan_us, planning(**scene, way));
      }
      LL_RETURN_IF_ERROR(add(row, **scene, way, plans ? &plan_us : nullptr));
    }
    return {};
  }

  // The ways that are measured on the row and find memory.
  Expected<std::vector<Measured>> prepared(const AttentionRow& row, AttentionScene& scene) {
    std::vector<Measured> ways;
    for (const BenchWay& way : kBenchWays) {
      if (!(std::holds_alternative<DecodeRow>(row) ? way.decode : way.prefill)) continue;
      if (!bench_.ways.empty() && std::ranges::find(bench_.ways, way.name) == bench_.ways.end())
        continue;
      const Status ready = scene.prepare(way);
      if (!ready && ready.error().code != ErrorCode::kUnavailable)
        return tl::unexpected(ready.error());
      if (ready) {
        ways.push_back({&way, {}});
      } else {
        print_warning(fmt::format("{} of {} is left out: {}", way.name, attention_row_name(row),
                                  ready.error().message));
      }
    }
    return ways;
  }

  // The one place that says what a pass is.
  Expected<double> pass_us(AttentionScene& scene, const BenchWay& way, uint64_t number,
                           bool repeats) {
    const Stopwatch watch;
    device_.begin_pass(repeats);
    scene.launch(way, number);
    LL_RETURN_IF_ERROR(device_.wait());
    return watch.ms() * 1000;
  }

  // Ways alternate, so that all see the same machine.
  Status time_ways(AttentionScene& scene, std::vector<Measured>& ways) {
    const uint64_t first = next_pass_;
    next_pass_ += ways.size();
    for (int r = -measuring_.warm_up; r < measuring_.repetitions; ++r)
      for (size_t w = 0; w < ways.size(); ++w) {
        LL_ASSIGN(const double us, pass_us(scene, *ways[w].way, first + w, true));
        if (r >= 0) ways[w].us.push_back(us / scene.layers());
      }
    return {};
  }

  // How much longer a pass takes that was not planned before: what the device waits in a step.
  Expected<double> planning(AttentionScene& scene, const Measured& repeated) {
    std::vector<double> us;
    for (int r = 0; r < measuring_.repetitions; ++r) {
      LL_ASSIGN(const double once, pass_us(scene, *repeated.way, next_pass_++, false));
      us.push_back(once);
    }
    return spread(us).median - spread(repeated.us).median * scene.layers();
  }

  json::object shape(const AttentionRow& row, const AttentionHeads& heads) const {
    json::object facts = attention_row_json(row);
    facts["row"] = attention_row_name(row);
    facts["heads"] = heads.heads;
    facts["kv_heads"] = heads.kv_heads;
    facts["head_dim"] = heads.head_dim;
    facts["kv_type"] = kv_type_name(kv_type_);
    return facts;
  }

  Status add(const AttentionRow& row, const AttentionScene& scene, const Measured& measured,
             const double* plan_us) {
    const Spread us = spread(measured.us);
    // The same for all ways of a row, so that their shares compare.
    const double floor_us = std::max(scene.floor_bytes() / ceilings_.read_gbps,
                                     scene.flops() / ceilings_.matrix_gflops) /
                            1e3;
    if (json_) {
      json::object facts = shape(row, bench_.heads);
      facts["layers"] = scene.layers();
      facts["unique_chunks"] = scene.used_chunks();
      json::object entry{{"kernel", measured.way->name},
                         {"shape", std::move(facts)},
                         {"us", spread_json(us)},
                         {"floor_us", floor_us},
                         {"share", floor_us / us.median},
                         {"bytes", scene.floor_bytes()},
                         {"flops", scene.flops()},
                         {"device", device_.name()},
                         {"read_gbps", ceilings_.read_gbps},
                         {"matrix_gflops", ceilings_.matrix_gflops}};
      if (plan_us != nullptr) entry["plan_us"] = *plan_us;
      list_.push_back(std::move(entry));
      return {};
    }
    std::string line = fmt::format(
        "{:<22} {:<14} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>4.0f} %", attention_row_name(row),
        measured.way->name, us.median, us.least, us.most, floor_us, 100 * floor_us / us.median);
    if (plan_us != nullptr) line += fmt::format("  planning {:.0f} us a step", *plan_us);
    return text(line);
  }

  Status text(const std::string& line) { return json_ ? Status{} : write_output(line + '\n'); }
  Status finish() { return json_ ? write_output(write_json(list_) + '\n') : Status{}; }

  Device& device_;
  const AttentionBench& bench_;
  KvType kv_type_;
  int64_t page_limit_;
  Measuring measuring_;
  bool json_;
  Ceilings ceilings_;
  uint64_t next_pass_ = 1;
  json::array list_;
};

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
               "Compare every way with attention by its definition in float64, on odd sizes");
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
  KvType kv_type = device.facts().kv_type;
  if (options.kv_type != "auto") {
    const auto named = parse_kv_type(options.kv_type);
    if (!named)
      return error(ErrorCode::kUsage, "--kv-type: {} is no type of keys and values",
                   in_quotes(options.kv_type));
    kv_type = *named;
  }
  const bool cpu = device.name() == "cpu";
  Ceilings ceilings;
  if (!bench.check) {
    LL_ASSIGN(ceilings, device.measure_ceilings());
  }
  LL_ASSIGN(const int64_t page_limit, device.reserve_pages(options.cache_bytes));
  Measuring measuring = cpu ? kOnCpu : kOnGpu;
  measuring.repetitions = repetitions.value_or(measuring.repetitions);
  Run run(device, bench, kv_type, page_limit, measuring, json);
  if (bench.check) return run.check();
  return run.measure(ceilings, rows.empty() ? default_attention_rows(cpu) : rows);
}

}  // namespace looseleaf
