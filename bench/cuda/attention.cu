// Attention: `--check` against float64, or tables of times by workload.
//
//   bench_attention [--check | --plan-only] [--decode] [--row 64x16/1000/1.0/512]...
//                   [--prefill] [--row 2048/16384/512]... [--heads 32] [--kv-heads 8] [--head-dim
//                   128] [--kv-type bf16|fp8] [--seed 7] [--json]
#include <cstdio>
#include <cstring>
#include <string>

#include "check.h"
#include "compute/cuda/attend_decode.h"
#include "gpu.h"
#include "measure.h"
#include "prefill_check.h"
#include "prefill_measure.h"

namespace looseleaf::bench {
namespace {

struct Options {
  bool check = false, plan_only = false, json = false, decode = false, prefill = false;
  Heads heads;
  unsigned seed = 7;
  std::vector<WorkloadRow> rows;
  std::vector<PrefillRow> prefill_rows;
};

// Null, or what is wrong.
const char* parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--check")
      options->check = true;
    else if (flag == "--plan-only")
      options->plan_only = true;
    else if (flag == "--json")
      options->json = true;
    else if (flag == "--decode")
      options->decode = true;
    else if (flag == "--prefill")
      options->prefill = true;
    else if (i + 1 == argc)
      return "unknown flag, or one without its value";
    else if (const char* value = argv[++i]; flag == "--row") {
      WorkloadRow decode;
      PrefillRow prefill;
      if (parse_row(value, &decode))
        options->rows.push_back(decode);
      else if (parse_prefill_row(value, &prefill))
        options->prefill_rows.push_back(prefill);
      else
        return "--row is REQUESTSxCHUNKS/POOL/ZIPF/TOKENS, such as 64x16/1000/1.0/512, or "
               "ROWS/CACHED/CHUNK, such as "
               "2048/16384/512";
    } else if (flag == "--heads")
      options->heads.heads = std::atoi(value);
    else if (flag == "--kv-heads")
      options->heads.kv_heads = std::atoi(value);
    else if (flag == "--head-dim")
      options->heads.head_dim = std::atoi(value);
    else if (flag == "--kv-type")
      options->heads.type = parse_kv_type(value).value_or(KvType::kF32);
    else if (flag == "--seed")
      options->seed = static_cast<unsigned>(std::atoi(value));
    else
      return "unknown flag";
  }
  const Heads& h = options->heads;
  if (h.kv_heads <= 0 || h.heads <= 0 || h.heads % h.kv_heads != 0 ||
      h.heads / h.kv_heads > kItemVectors)
    return "--kv-heads must divide --heads, at most 64 to one";
  if (h.head_dim != 64 && h.head_dim != 128) return "--head-dim is 64 or 128";
  if (h.type != KvType::kBF16 && h.type != KvType::kFP8) return "--kv-type is bf16 or fp8";
  if (!options->rows.empty()) options->decode = true;
  if (!options->prefill_rows.empty()) options->prefill = true;
  if (h.type == KvType::kFP8 && (options->check || options->prefill))
    return "--kv-type fp8 is for --decode; what it computes is checked by the device's tests";
  if (!options->decode && !options->prefill) {
    options->decode = true;
    options->prefill = h.type == KvType::kBF16;
  }
  if (options->decode && options->rows.empty()) options->rows = default_rows();
  if (options->prefill && options->prefill_rows.empty())
    options->prefill_rows = default_prefill_rows();
  return nullptr;
}

// Multiprocessors of the GPU; 0, with a line that says why, where there is none that the kernels
// run on.
int multiprocessors() {
  cudaDeviceProp device;
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess) {
    std::fprintf(stderr, "bench: no GPU: %s\n", cudaGetErrorString(error));
    return 0;
  }
  if (device.major != 9) {
    std::fprintf(stderr, "bench: %s is no Hopper GPU (compute capability 9.0)\n", device.name);
    return 0;
  }
  return device.multiProcessorCount;
}

int run(const Options& options) {
  std::mt19937 random(options.seed);
  if (options.plan_only) {
    constexpr int kBlocks = 132 * cuda::kDecodeBlocksPerSm;  // of an H200
    for (const WorkloadRow& row : options.rows)
      std::printf("%dx%d/%d/%.1f/%d: plan %.0f us\n", row.requests, row.each, row.pool, row.zipf,
                  row.tokens,
                  plan_time(options.heads, draw(row, options.heads.head_dim, random), kBlocks));
    return 0;
  }
  const int processors = multiprocessors();
  if (processors == 0) return 1;
  if (options.check) {
    const bool decode = !options.decode || check_decode();
    return (!options.prefill || check_prefill()) && decode ? 0 : 1;
  }
  const double rate = read_rate();
  std::vector<Measured> rows;
  for (const WorkloadRow& row : options.rows)
    rows.push_back(
        measure(options.heads, row, rate, processors * cuda::kDecodeBlocksPerSm, random));
  if (!rows.empty()) (options.json ? print_json : print_table)(options.heads, rate, rows);
  std::vector<PrefillMeasured> prefill;
  for (const PrefillRow& row : options.prefill_rows)
    prefill.push_back(measure_prefill(options.heads, row, rate, processors));
  if (!prefill.empty()) print_prefill_table(options.heads, prefill);
  return 0;
}

}  // namespace
}  // namespace looseleaf::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  looseleaf::bench::Options options;
  if (const char* problem = looseleaf::bench::parse(argc, argv, &options)) {
    std::fprintf(stderr, "bench: %s\n", problem);
    return 2;
  }
  return looseleaf::bench::run(options);
}
