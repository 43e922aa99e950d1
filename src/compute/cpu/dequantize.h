// Weights to floats, with vector instructions where a type has them.
#pragma once

#include "model/weight_type.h"

namespace looseleaf {

// Writes rows [first, first + count) as floats: the same bits as WeightMatrix::dequantize_row.
// out: [count, w.cols]
void cpu_dequantize(const WeightMatrix& w, int64_t first, int64_t count, float* out);

// The same, rounded to the nearest bfloat16 (ties to even). out: [count, w.cols]
void cpu_dequantize(const WeightMatrix& w, int64_t first, int64_t count, uint16_t* out);

// Rounds to the nearest bfloat16 (ties to even; a NaN stays one).
void cpu_to_bfloat16(const float* from, int64_t count, uint16_t* to);

}  // namespace looseleaf
