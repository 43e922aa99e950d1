#include "engine/run_pieces.h"

#include <algorithm>
#include <numeric>

namespace looseleaf {
namespace {

// The order of sort_rows(), as indices.
std::vector<size_t> by_depth(std::span<const PassRow> rows) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows[a].depth > rows[b].depth; });
  return order;
}

// Rows of a piece that are, in the mean over layers, as many as the device takes at most: a
// repair's rows end at different depths. Limited, for the sake of memory.
size_t rows_of_piece(const EngineCore& core, std::span<const PassRow> rows) {
  const auto most = static_cast<size_t>(core.device->facts().pass_rows);
  const int layers = core.model->config.layers;
  size_t active = 0;  // rows of all layers
  for (const PassRow& row : rows) active += static_cast<size_t>(std::min(row.depth + 1, layers));
  if (active == 0) return most;
  return std::min(4 * most, most * rows.size() * static_cast<size_t>(layers) / active);
}

Status run_so_many(EngineCore& core, const Pass& all, std::span<float> logits, const PassIo& io,
                   size_t piece_rows) {
  const auto hidden = static_cast<size_t>(core.model->config.hidden);
  const auto vocab = static_cast<size_t>(core.model->config.vocab);
  Pass pass = all;
  int32_t* largest = io.largest;
  DeviceMemory hidden_in;  // [rows of a piece, hidden]
  if (io.hidden_in != nullptr) {
    const size_t rows = std::min(piece_rows, all.rows.size());
    LL_ASSIGN(hidden_in, core.device->allocate(rows * hidden * sizeof(float)));
  }
  for (size_t first = 0; first < all.rows.size(); first += piece_rows) {
    const auto rows =
        std::span(all.rows).subspan(first, std::min(piece_rows, all.rows.size() - first));
    pass.rows.clear();
    PassIo piece = io;
    piece.largest = largest;
    for (const size_t r : by_depth(rows)) {
      if (io.hidden_in != nullptr)
        core.device->copy(hidden_in.get() + pass.rows.size() * hidden * sizeof(float),
                          reinterpret_cast<const std::byte*>(io.hidden_in + (first + r) * hidden),
                          hidden * sizeof(float));
      pass.rows.push_back(rows[r]);
    }
    piece.hidden_in = reinterpret_cast<const float*>(hidden_in.get());
    if (io.hidden_out != nullptr) piece.hidden_out = io.hidden_out + first * hidden;
    pass.outputs = 0;
    if (all.outputs > 0)
      pass.outputs = static_cast<int>(std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
        return row.depth >= core.model->config.layers;
      }));
    const size_t out = logits.empty() ? 0 : static_cast<size_t>(pass.outputs) * vocab;
    LL_RETURN_IF_ERROR(core.forward.run(pass, logits.first(out), piece));
    logits = logits.subspan(out);
    if (largest != nullptr) largest += pass.outputs;
  }
  return {};
}

}  // namespace

Status run_in_pieces(EngineCore& core, const Pass& all, std::span<float> logits, const PassIo& io,
                     size_t piece_rows) {
  if (piece_rows > 0) return run_so_many(core, all, logits, io, piece_rows);
  const auto most = static_cast<size_t>(core.device->facts().pass_rows);
  const size_t wanted = rows_of_piece(core, all.rows);
  if (wanted > most && all.rows.size() > most) {
    Status run = run_so_many(core, all, logits, io, wanted);
    // Memory may be there for less; a pass that finds none has done nothing.
    if (run || run.error().code != ErrorCode::kUnavailable) return run;
  }
  return run_so_many(core, all, logits, io, most);
}

}  // namespace looseleaf
