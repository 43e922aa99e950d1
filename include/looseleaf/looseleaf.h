// Looseleaf: answers from documents whose keys and values are computed once and used anywhere.
//
//   auto engine = looseleaf::Engine::load("model.gguf");
//   auto answer = engine->ask({.question = "...", .documents = {{.text = "..."}}});
//
// Text is UTF-8, times are milliseconds, sizes are bytes, token ids are the model's own.
#ifndef LOOSELEAF_LOOSELEAF_H_
#define LOOSELEAF_LOOSELEAF_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "looseleaf/status.h"

#define LOOSELEAF_EXPORT __attribute__((visibility("default")))

namespace looseleaf {

// What an engine is made with. Every default is the command line's.
struct EngineOptions {
  std::string device = "auto";  // cpu | cuda | auto: cuda where it works, else cpu
  int threads = 0;              // 0: what the process may use (affinity and cgroup)
  int context = 0;              // tokens a request may reach; 0: the model's
  // Hard limit of all keys and values; 0: 40 % of RAM or cgroup, on a GPU 90 % of what weights
  // leave
  int64_t cache_bytes = 0;
  // Chunks: f32 | bf16 | f16 | fp8 | q8_0; auto: f16 (cpu), bf16 (cuda), f32 when exact
  std::string kv_type = "auto";
  // Text and generated tokens: the same names; auto: f16 (cpu), bf16 (cuda), f32 when exact
  std::string private_kv_type = "auto";
  bool exact = false;          // compute and keep everything in f32
  bool deterministic = false;  // same bits alone or after others, cold or warm
};

// A text, or token ids where `tokens` is not empty. A document becomes one chunk.
struct Document {
  std::string text{};
  std::string title{};
  std::string id{};                               // the caller's name for it; echoed
  std::map<std::string, std::string> metadata{};  // for the layout's {metadata.KEY}
  std::vector<int32_t> tokens{};                  // used as they are; text and title are ignored
};

using ContentPart = std::variant<std::string, Document>;
struct Message {
  std::string role{};  // system | user | assistant | tool
  std::vector<ContentPart> content{};
};

// Text or token ids.
using TextOrTokens = std::variant<std::string, std::vector<int32_t>>;

// How documents and question are written into the prompt. Placeholders: {title}, {text}, {id},
// {metadata.KEY} in a document, {question} in the question; one pass, so braces in data stay text.
struct Layout {
  std::string intro{};
  std::string document{};
  std::string document_untitled{};
  std::string question{};
};

struct Sampling {
  std::optional<float> temperature{};         // 0: greedy; unset: the model's default, else 1
  std::optional<int> top_k{};                 // 0: all
  std::optional<float> top_p{};               // (0, 1]
  std::optional<float> min_p{};               // [0, 1]
  std::optional<float> repetition_penalty{};  // > 0; 1: none
  float presence_penalty = 0;                 // [-2, 2]
  float frequency_penalty = 0;                // [-2, 2]
  std::map<int32_t, float> logit_bias{};      // added to a token's logit
  uint64_t seed = 0;
};

// What method `plan` recomputes. Tokens are numbered through the documents in prompt order, from 0.
struct RepairTargets {
  std::vector<std::vector<int32_t>> layers{};  // [layers][targets]; empty: none
  std::vector<int32_t> context{};  // with plan:context=list, what targets see besides each other
};

// One of `question`, `messages` and `prompt` says what is asked.
struct Request {
  std::string question{};                // shorthand for one user message
  std::vector<Message> messages{};       // chat
  std::optional<TextOrTokens> prompt{};  // completion: the text after the documents
  std::optional<TextOrTokens> prefix{};  // completion: the text before the documents
  std::vector<Document> documents{};     // before the last user message's text, or before `prompt`
  std::string method = "auto";           // NAME[:NUMBER][:key=value]...; see methods()
  // qa | plain | auto: plain with a system message, else qa
  std::variant<std::string, Layout> layout = "auto";
  std::string encoding_prefix = "bos";  // none | bos | header: what a chunk is computed behind
  std::string cache_salt{};             // chunks and pages are shared within one salt only
  int max_tokens = 512;                 // bounded by the context
  std::vector<std::string> stop{};      // the answer ends before any of these
  bool ignore_eos = false;
  int logprobs = -1;                       // >= 0: the chosen token's and this many of the best
  std::optional<RepairTargets> targets{};  // method `plan` only
  bool return_scores = false, return_targets = false;  // of a method that repairs: see Answer
  Sampling sampling{};
};

struct TokenLogprob {
  int32_t token = 0;
  double logprob = 0;  // natural logarithm, before temperature and penalties
  std::vector<std::pair<int32_t, double>> top;  // best first
};

// One use of a chunk in a prompt.
struct ChunkUse {
  int index = 0;            // among the prompt's documents
  std::string id;           // the chunk's: hex of its key
  std::string document_id;  // the caller's, or ""
  int tokens = 0;
  int offset = 0;           // prompt position of its first token
  std::string source;       // computed | joined | host
  std::string miss_reason;  // new | evicted; "" on a hit
};

struct Timings {
  double queue_ms = 0, load_ms = 0, chunk_prefill_ms = 0, repair_ms = 0, question_prefill_ms = 0,
         decode_ms = 0;
};

struct Flops {
  double score = 0, repair = 0, question = 0;  // operations spent before the first token
  double share_of_full = 0;  // their sum over full prefill's; cached chunks excluded
};

struct KvBytes {
  // Held while the request ran. Overlay: what repaired tokens fill, from layer 1 to each one's
  // deepest; the pages that they lie in end with up to 31 unused places.
  int64_t chunks = 0, private_pages = 0, overlay = 0;
};

struct Answer {
  std::string text;
  std::vector<int32_t> tokens;  // generated, the end token included
  std::string finish_reason;    // stop | length (max_tokens, the context or the byte limit)
  std::vector<int32_t> prompt_tokens;
  std::vector<TokenLogprob> logprobs;  // a generated token each, where asked for
  int cached_tokens = 0;               // prompt tokens whose keys and values were there before
  std::string method;                  // canonical, defaults filled in
  std::string method_reason;           // why `auto` is not what it usually is; or ""
  bool exact = false;
  std::string device;
  double ttft_ms = 0;  // from the call to the first token
  double tpot_ms = 0;  // mean time of each further token
  Timings timings;
  std::vector<ChunkUse> chunks;
  int repaired_tokens = 0;
  // Where asked for: the question's attention to each document token over the unrepaired cache,
  // mean over heads and question tokens; the tokens recomputed in each layer, in layer 0 those of
  // the context too; which of `chunks` each document token belongs to.
  std::vector<float> scores;                  // [layers, tokens]
  std::vector<std::vector<int32_t>> targets;  // [layers]
  std::vector<int32_t> token_chunks;          // [tokens]
  Flops flops;
  KvBytes kv_bytes;
};

// Called with each piece of the answer's text as it is generated (whole code points; the pieces add
// up to Answer::text). Returning false ends the answer with finish_reason "stop". The engine is
// busy meanwhile: calling it from here would wait for itself.
using OnText = std::function<bool(const std::string& piece)>;

// Teacher forcing: what the model makes of a given continuation.
struct Score {
  Answer answer;                 // what ask() gives; no tokens where max_tokens is 0
  std::vector<int32_t> tokens;   // the continuation
  std::vector<double> logprobs;  // [tokens] natural logarithm of each one, given all before it
};

// logits: [vocab], before the softmax, for the continuation's token `index`.
using OnLogits = std::function<void(size_t index, std::span<const float> logits)>;

// A chunk's keys and values of one layer, as f32 whatever they are stored as.
struct ChunkKv {
  int tokens = 0, kv_heads = 0, head_dim = 0;
  // [tokens, kv_heads, head_dim] rotated at the document's own positions, unless block:inplace=1
  // has moved it
  std::vector<float> keys;
  std::vector<float> values;  // [tokens, kv_heads, head_dim]
};

// What an engine holds at the moment.
struct CacheStats {
  int64_t limit_bytes = 0;
  int64_t chunk_bytes = 0;   // chunks in the cache
  int64_t prefix_bytes = 0;  // pages of text in the prefix cache
  int64_t pinned_bytes = 0;  // of both, in use by a request or pinned
  int64_t used_bytes = 0;    // everything allocated
  int64_t chunks = 0;
  int64_t evictions = 0;
};

// A model loaded and ready. Thread-safe: calls from several threads take turns. Movable; two
// engines of one process share nothing but the memory-mapped files.
class LOOSELEAF_EXPORT Engine {
 public:
  // `model`: a .gguf file, a folder in Hugging Face form, hf:ORG/NAME[@REVISION], which is looked
  // up in the local Hugging Face cache, or random:NAME[/LAYERS], a known shape with random weights.
  // Errors: kNotFound, kCorrupt, kUnsupported (also: the device is not there), kUsage (a value of
  // an option or behind random:), kUnavailable (the memory is too small).
  static Expected<Engine> load(const std::string& model, const EngineOptions& options = {});

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Computes a document's chunk ahead of its first use. Idempotent. Returns the chunk's id.
  // `request` gives layout, encoding prefix and salt; its documents and question are ignored.
  Expected<std::string> prefill(const Document& document, const Request& request = {});

  // Answers. On an error nothing that was acquired for the request stays held.
  // Errors: kInvalidArgument, kContextLength, kKvBudget, kUnsupported.
  Expected<Answer> ask(const Request& request, const OnText& on_text = {});

  // Answers, then goes back to the prompt's end and says how likely each token of `continuation` is
  // after it. Runs the steps of generation, one token at a time, so the numbers are those that
  // ask() would have had on choosing these tokens. `max_tokens` may be 0: no answer is wanted. Text
  // is tokenized alone, special-token text in it staying text. Errors: as ask(); kInvalidArgument
  // (empty), kContextLength (it ends past the context).
  Expected<Score> score(const Request& request, const TextOrTokens& continuation,
                        const OnLogits& on_logits = {});

  // The token ids of a text as data: special-token text in it stays text, and no BOS is added.
  // Errors: kUnsupported (a model without a tokenizer), kInvalidArgument (not UTF-8).
  Expected<std::vector<int32_t>> tokenize(const std::string& text) const;

  // Keeps a chunk from eviction, or no longer. Errors: kNotFound.
  Status pin(const std::string& chunk_id, bool pinned = true);

  // Errors: kNotFound (no such chunk), kInvalidArgument (no such layer), kUnsupported (not on the
  // CPU), kUnavailable.
  Expected<ChunkKv> chunk_kv(const std::string& chunk_id, int layer) const;

  CacheStats cache_stats() const;

  // Why the device `auto` is the CPU although this build has another, or "".
  std::string warning() const;

  void clear_cache();

  // Facts about model and engine as a JSON object: what `looseleaf inspect --json` prints.
  std::string describe() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The methods table as JSON: a list of {"name", "summary", "options", "citation"}, and
// "number" where NAME:NUMBER takes one.
LOOSELEAF_EXPORT std::string methods();

LOOSELEAF_EXPORT const char* version();

}  // namespace looseleaf

#endif  // LOOSELEAF_LOOSELEAF_H_
