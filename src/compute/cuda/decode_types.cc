#include "compute/cuda/decode_types.h"

#include "compute/cuda/attend_decode_fp8.h"
#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

const std::array<DecodeType, 2> kDecodeTypes = {
    DecodeType{KvType::kBF16, 1,
               [](const DecodeArgs& args, int head_dim, int blocks, bool, cudaStream_t stream) {
                 return attend_decode(args, head_dim, blocks, stream);
               }},
    DecodeType{KvType::kFP8, 2, attend_decode_fp8},
};

std::vector<int> decode_token_rates() {
  std::vector<int> rates;
  for (const DecodeType& type : kDecodeTypes) rates.push_back(type.token_rate);
  return rates;
}

int decode_type(const KvLayout& layout) {
  if (piece_form(layout) == PieceForm::kRows) return -1;
  for (size_t t = 0; t < kDecodeTypes.size(); ++t)
    if (kDecodeTypes[t].type == layout.type) return static_cast<int>(t);
  return -1;
}

}  // namespace looseleaf::cuda
