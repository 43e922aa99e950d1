// The shape of a decoder-only transformer, whatever file it came from.
#pragma once

#include <string>
#include <vector>

#include "model/rope.h"

namespace looseleaf {

struct ModelConfig {
  std::string architecture;  // "llama"
  std::string name;          // for people; may be empty
  int vocab = 0;
  int hidden = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;  // divides heads
  int head_dim = 0;
  int ffn = 0;
  float norm_eps = 1e-5f;
  int context_length = 0;  // tokens that the model was trained for
  int sliding_window = 0;  // a row sees keys with row position - key position < window; 0: all
  RopeConfig rope;
  // [heads] ALiBi (2108.12409): a bias of slope * (key position - row position). Empty: none.
  std::vector<float> alibi_slopes;
};

}  // namespace looseleaf
