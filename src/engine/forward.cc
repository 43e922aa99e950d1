#include "engine/forward.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/visible_pairs.h"

namespace looseleaf {
namespace {

// Passes whose launches take about as long as their work: the last token of each sequence, which
// gives its next, and short questions.
bool repeats(const Pass& pass) {
  constexpr size_t kShort = 64;
  const bool decodes = static_cast<size_t>(pass.outputs) == pass.rows.size();
  return pass.outputs > 0 && pass.mass_places == 0 && pass.gathers.empty() &&
         (decodes || pass.rows.size() <= kShort);
}

// No two passes of the process have the same.
uint64_t next_pass_number() {
  static std::atomic<uint64_t> number = 0;
  return ++number;
}

}  // namespace

// Buffers of one pass, and what stays the same through its layers.
struct Forward::Scratch {
  uint64_t number = 0;       // AttendArgs::pass
  uint64_t mass_number = 0;  // the same of calls with `mass_groups`
  float* x;                  // [rows, hidden] the residual stream
  float* normed;             // [rows, hidden]
  float* query;              // [rows, heads * head_dim]
  float* key;                // [rows, kv_heads * head_dim]
  float* value;              // [rows, kv_heads * head_dim]
  float* attention;          // [rows, heads * head_dim]
  float* gate;               // [rows, ffn]
  float* up;                 // [rows, ffn]
  std::span<float> angles;   // [rows][2][rotary dims / 2]
  float* logits;             // [outputs, vocab]
  float* lse;                // [rows, heads] where mass is wanted, else null
  float* unused;             // [rows, heads * head_dim] likewise: an output that nobody reads

  std::vector<int32_t> positions;                // [rows] last position that each sees
  std::vector<KvSlot> slots;                     // [rows]
  std::vector<std::vector<int32_t>> group_rows;  // [groups] ascending
  std::vector<RowGroup> groups;
  std::vector<std::vector<SegmentUse>> mass_uses;  // [groups] those with a mass
  std::vector<RowGroup> mass_groups;  // rows of groups that have some, over these alone
};

Forward::Forward(const Model& model, Device& device) : model_(model), device_(device) {}

std::vector<float> Forward::turn(const RopeRegime& rope, int shift) {
  std::vector<float> turn(2 * rope.frequencies.size());
  rotary_angles(rope.frequencies, shift, 1.0, turn.data());
  return turn;
}

Expected<Forward::Scratch> Forward::scratch(const Pass& pass) {
  const ModelConfig& c = model_.config;
  const size_t rows = pass.rows.size();
  const auto hidden = static_cast<size_t>(c.hidden), ffn = static_cast<size_t>(c.ffn);
  const auto q = static_cast<size_t>(c.heads * c.head_dim);
  const auto kv = static_cast<size_t>(c.kv_heads * c.head_dim);
  const auto rotary = static_cast<size_t>(c.rope.dims);
  const bool scoring = pass.mass_places > 0;
  // Buffers begin at multiples of 256 bytes, for the fastest products.
  const auto floats = [&](size_t count, size_t cols) { return (count * cols + 63) / 64 * 64; };
  size_t bytes =
      floats(static_cast<size_t>(pass.outputs), static_cast<size_t>(c.vocab)) * sizeof(float);
  for (const size_t cols : {hidden, hidden, q, q, kv, kv, ffn, ffn, rotary,
                            scoring ? static_cast<size_t>(c.heads) : 0, scoring ? q : 0})
    bytes += floats(rows, cols) * sizeof(float);
  if (bytes > memory_bytes_) {
    memory_.reset();  // two of them need not fit
    memory_bytes_ = 0;
    LL_ASSIGN(memory_, device_.allocate(bytes));
    memory_bytes_ = bytes;
  }
  auto* next = reinterpret_cast<float*>(memory_.get());
  const auto take = [&](size_t cols) {
    float* buffer = next;
    next += floats(rows, cols);
    return buffer;
  };
  Scratch s{};
  s.x = take(hidden);
  s.normed = take(hidden);
  s.query = take(q);
  s.attention = take(q);
  s.key = take(kv);
  s.value = take(kv);
  s.gate = take(ffn);
  s.up = take(ffn);
  s.angles = {take(rotary), rows * rotary};
  if (scoring) {
    s.lse = take(static_cast<size_t>(c.heads));
    s.unused = take(q);
  }
  s.logits = next;
  return s;
}

Status Forward::run(const Pass& pass, std::span<float> logits, const PassIo& io) {
  const ModelConfig& c = model_.config;
  const size_t rows = pass.rows.size();
  LL_ASSIGN(Scratch s, scratch(pass));
  s.number = next_pass_number();
  s.mass_number = next_pass_number();
  device_.begin_pass(repeats(pass));
  std::vector<int32_t> tokens(rows);
  std::vector<float> angles(s.angles.size());
  s.group_rows.resize(pass.groups.size());
  for (size_t r = 0; r < rows; ++r) {
    const PassRow& row = pass.rows[r];
    tokens[r] = row.token;
    s.positions.push_back(row.last_seen());
    s.slots.push_back(row.slot);
    s.group_rows[static_cast<size_t>(row.group)].push_back(static_cast<int32_t>(r));
    const RopeRegime& rope = *pass.groups[static_cast<size_t>(row.group)].rope;
    rotary_angles(rope.frequencies, row.position, rope.attention_factor,
                  angles.data() + r * static_cast<size_t>(c.rope.dims));
  }
  device_.upload(s.angles.data(), angles.data(), angles.size() * sizeof(float));
  s.mass_uses.resize(pass.groups.size());
  for (size_t g = 0; g < pass.groups.size(); ++g) {
    s.groups.push_back({s.group_rows[g], pass.groups[g].uses});
    for (const SegmentUse& use : pass.groups[g].uses)
      if (use.mass >= 0) s.mass_uses[g].push_back(use);
    if (!s.mass_uses[g].empty()) s.mass_groups.push_back({s.group_rows[g], s.mass_uses[g]});
  }

  const auto bytes = rows * static_cast<size_t>(c.hidden) * sizeof(float);
  if (pass.first_layer == 0) {
    device_.embed(model_.embedding, tokens, s.x);
  } else {
    device_.copy(reinterpret_cast<std::byte*>(s.x),
                 reinterpret_cast<const std::byte*>(io.hidden_in), bytes);
  }
  for (int l = pass.first_layer; l < std::min(c.layers, pass.end_layer); ++l) layer(l, pass, io, s);
  if (io.hidden_out != nullptr)
    device_.copy(reinterpret_cast<std::byte*>(io.hidden_out),
                 reinterpret_cast<const std::byte*>(s.x), bytes);
  if (pass.outputs > 0) {
    device_.rms_norm(s.x, model_.output_norm, c.norm_eps, pass.outputs, s.normed);
    product(model_.output, {}, s.normed, pass.outputs, false, s.logits);
    if (io.largest != nullptr) device_.largest(s.logits, pass.outputs, c.vocab, io.largest);
    device_.download(logits.data(), s.logits, logits.size_bytes());
  }
  return device_.wait();
}

void Forward::product(const WeightMatrix& w, std::span<const float> bias, const float* x, int rows,
                      bool accumulate, float* y) {
  device_.matmul(w, bias, x, rows, accumulate, y);
  operations_ += 2.0 * rows * static_cast<double>(w.rows) * static_cast<double>(w.cols);
}

void Forward::products(std::span<const WeightProduct> products, const float* x, int rows) {
  device_.matmuls(products, x, rows);
  for (const WeightProduct& p : products)
    operations_ += 2.0 * rows * static_cast<double>(p.w->rows) * static_cast<double>(p.w->cols);
}

void Forward::attend(int index, int active, const Pass& pass, const PassIo& io, Scratch& s) {
  const ModelConfig& c = model_.config;
  for (const PassGather& gather : pass.gathers) {
    const int32_t count = pass.segments[static_cast<size_t>(gather.target)].tokens(index);
    std::vector<GatherArgs> parts;
    for (const PassGather::Source& source : gather.sources) {
      const auto end = std::lower_bound(source.places.begin(), source.places.end(), count);
      const auto n = static_cast<size_t>(end - source.places.begin());
      if (n > 0)
        parts.push_back({index, c.rope.dims, c.rope.pairs,
                         &pass.segments[static_cast<size_t>(source.segment)],
                         std::span(source.tokens).first(n), std::span(source.slots).first(n)});
    }
    if (!parts.empty()) device_.gather(parts);
  }
  AttendArgs attend;
  attend.layer = index;
  attend.pass = s.number;
  attend.heads = c.heads;
  attend.kv_heads = c.kv_heads;
  attend.head_dim = c.head_dim;
  attend.scale = 1 / std::sqrt(static_cast<float>(c.head_dim));
  attend.window = c.sliding_window;
  attend.alibi = c.alibi_slopes;
  attend.rotary_dims = c.rope.dims;
  attend.pairs = c.rope.pairs;
  attend.segments = pass.segments;
  attend.groups = s.groups;
  attend.positions = s.positions;
  attend.active = active;
  attend.query = s.query;
  attend.out = s.attention;
  attend.lse = s.lse;
  device_.attend(attend);
  const double pair = 2.0 * c.heads * c.head_dim;
  const auto pairs = [&] { return static_cast<double>(visible_pairs(attend)); };
  operations_ += 2 * pair * pairs();
  if (pass.mass_places == 0) return;

  attend.pass = s.mass_number;
  attend.groups = s.mass_groups;
  if (pass.mass_of_documents) {
    attend.out = s.unused;
    device_.attend(attend);
    operations_ += 2 * pair * pairs();
  }
  attend.mass = io.mass + int64_t{index} * pass.mass_places;
  device_.attend_mass(attend);
  operations_ += pair * pairs();
}

void Forward::layer(int index, const Pass& pass, const PassIo& io, Scratch& s) {
  const ModelConfig& c = model_.config;
  const LayerWeights& w = model_.layers[static_cast<size_t>(index)];
  // Rows are sorted by depth: the first `writing` need keys and values here, the first `active` of
  // those go on through attention and MLP.
  const auto deeper = [&](int depth) {
    const auto end = std::partition_point(pass.rows.begin(), pass.rows.end(),
                                          [&](const PassRow& r) { return r.depth >= depth; });
    return static_cast<int>(end - pass.rows.begin());
  };
  const int writing = deeper(index), active = deeper(index + 1);
  const bool scores = pass.mass_places > 0, writes = index >= pass.first_kv_layer;
  const int attending = scores ? writing : active;
  if (writing == 0 || (attending == 0 && !writes)) return;

  device_.rms_norm(s.x, w.attention_norm, c.norm_eps, writing, s.normed);
  const WeightProduct query{&w.query, w.query_bias, s.query};
  const bool together = writes && attending == writing;
  if (writes) {
    const WeightProduct all[] = {
        {&w.key, w.key_bias, s.key}, {&w.value, w.value_bias, s.value}, query};
    products(std::span(all).first(together ? 3 : 2), s.normed, writing);
    if (!w.key_norm.empty())
      device_.rms_norm(s.key, w.key_norm, c.norm_eps, writing * c.kv_heads, s.key);
  }
  if (!together && attending > 0) products({&query, 1}, s.normed, attending);
  if (!w.query_norm.empty())
    device_.rms_norm(s.query, w.query_norm, c.norm_eps, attending * c.heads, s.query);
  PlaceArgs place;
  place.layer = index;
  place.heads = c.heads;
  place.kv_heads = c.kv_heads;
  place.head_dim = c.head_dim;
  place.rotary_dims = c.rope.dims;
  place.pairs = c.rope.pairs;
  place.angles = s.angles;
  place.query = s.query;
  place.query_rows = attending;
  place.key = s.key;
  place.value = s.value;
  place.slots = std::span(s.slots).first(writes ? static_cast<size_t>(writing) : 0);
  device_.place(place);
  if (attending == 0) return;

  attend(index, attending, pass, io, s);
  if (active == 0) return;
  product(w.attention_output, w.attention_output_bias, s.attention, active, true, s.x);

  device_.rms_norm(s.x, w.ffn_norm, c.norm_eps, active, s.normed);
  device_.feed_forward({&w.gate, &w.up, &w.down, w.gate_bias, w.up_bias, w.down_bias, s.normed,
                        active, s.gate, s.up, s.x});
  operations_ += 3 * 2.0 * active * static_cast<double>(c.ffn) * static_cast<double>(c.hidden);
}

}  // namespace looseleaf
