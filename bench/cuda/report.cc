#include <cstdio>
#include <string>

#include "measure.h"

namespace looseleaf::bench {
namespace {

std::string shown(const Timing& t) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.0f (%.0f-%.0f)", t.median, t.least, t.most);
  return text;
}

std::string name(const WorkloadRow& row) {
  char text[96];
  std::snprintf(text, sizeof(text), "%dx%d/%d/%.1f/%d", row.requests, row.each, row.pool, row.zipf,
                row.tokens);
  return text;
}

void print_json(const char* key, const Timing& t) {
  std::printf(", \"%s\": {\"median\": %.2f, \"min\": %.2f, \"max\": %.2f}", key, t.median, t.least,
              t.most);
}

}  // namespace

void print_table(const Heads& heads, double rate, const std::vector<Measured>& rows) {
  std::printf(
      "%s, %d heads, %d KV heads, size %d; read rate %.2f TB/s\n"
      "microseconds a layer, median (min-max); floors: unique KV / with partials; share: of the "
      "latter\n\n",
      std::string(kv_type_name(heads.type)).c_str(), heads.heads, heads.kv_heads, heads.head_dim,
      rate / 1e12);
  std::printf("%-22s %-16s %-8s %-16s %-16s %-16s %-12s %-6s %s\n", "requests x chunks",
              "chunk-major", "(merge)", "not turned", "request-major", "private copies", "floors",
              "share", "plan");
  for (const Measured& m : rows) {
    char floors[32];
    std::snprintf(floors, sizeof(floors), "%.0f / %.0f", m.floor_us, m.floor_with_partials_us);
    std::printf("%-22s %-16s %-8.1f %-16s %-16s %-16s %-12s %3.0f %%  %.0f\n", name(m.row).c_str(),
                shown(m.chunk_major).c_str(), m.chunk_major.median - m.chunk_major_decode.median,
                shown(m.unturned).c_str(), shown(m.request_major).c_str(),
                m.copies ? shown(*m.copies).c_str() : "do not fit", floors,
                100 * m.floor_with_partials_us / m.chunk_major.median, m.plan_us);
  }
}

void print_json(const Heads& heads, double rate, const std::vector<Measured>& rows) {
  std::printf(
      "{\"kv_type\": \"%s\", \"heads\": %d, \"kv_heads\": %d, \"head_dim\": %d, "
      "\"read_bytes_per_second\": %.4g, "
      "\"unit\": \"us\", \"rows\": [",
      std::string(kv_type_name(heads.type)).c_str(), heads.heads, heads.kv_heads, heads.head_dim,
      rate);
  const char* separator = "\n";
  for (const Measured& m : rows) {
    std::printf(
        "%s  {\"requests\": %d, \"chunks\": %d, \"pool\": %d, \"zipf\": %g, \"tokens\": %d, "
        "\"unique_chunks\": %d, \"plan\": %.1f",
        separator, m.row.requests, m.row.each, m.row.pool, m.row.zipf, m.row.tokens,
        m.unique_chunks, m.plan_us);
    print_json("chunk_major", m.chunk_major);
    print_json("chunk_major_without_merge", m.chunk_major_decode);
    print_json("chunk_major_not_turned", m.unturned);
    print_json("request_major", m.request_major);
    if (m.copies) print_json("private_copies", *m.copies);
    std::printf(", \"floor\": %.2f, \"floor_with_partials\": %.2f}", m.floor_us,
                m.floor_with_partials_us);
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

}  // namespace looseleaf::bench
