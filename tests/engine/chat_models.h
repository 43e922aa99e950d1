// Tokenizers of the small golden model in other models' clothes: three of its tokens are renamed to
// the control tokens of a family, whose chat template it gets.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "asking.h"
#include "golden_file.h"
#include "text/tokenizer.h"

namespace looseleaf {

struct ChatFamily {
  std::string file;                    // of tests/text/templates
  std::array<std::string, 3> control;  // texts of tokens 0 to 2
  int bos = -1;
  bool adds_bos = false;

  TokenizerSpec spec() const {
    TokenizerSpec spec = *value_of(load_model(golden_dir() / "llama_f32.gguf"))->tokenizer;
    for (size_t i = 0; i < control.size(); ++i) spec.tokens[i] = control[i];
    spec.bos = bos;
    spec.eos = 2;
    spec.add_bos = adds_bos;
    spec.chat_template =
        read_text(std::filesystem::path(LOOSELEAF_TEXT_DIR) / "templates" / (file + ".jinja"));
    return spec;
  }
};

// 2026-07-04, a Saturday.
inline std::tm test_time() {
  std::tm now{};
  now.tm_year = 126;
  now.tm_mon = 6;
  now.tm_mday = 4;
  now.tm_wday = 6;
  now.tm_yday = 184;
  return now;
}

inline const ChatFamily kLlama3{"llama-3-style",
                                {"<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"}};
inline const ChatFamily kMistralChat{"mistral-nemo", {"<s>", "[INST]", "[/INST]"}, 0, true};
inline const ChatFamily kGemma{
    "gemma-style", {"<bos>", "<start_of_turn>", "<end_of_turn>"}, 0, true};
inline const ChatFamily kQwen3Chat{"qwen3", {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}};
inline const ChatFamily kPhi{"phi-3.5", {"<|end|>", "<|user|>", "<|assistant|>"}};
inline const ChatFamily kLlama2{"llama-2-style", {"<s>", "[INST]", "[/INST]"}, 0, true};

}  // namespace looseleaf
