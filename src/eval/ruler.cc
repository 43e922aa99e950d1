#include "eval/ruler.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"

namespace looseleaf {
namespace {

constexpr int kMaxTokens = 64;
constexpr int kTemplateTokens = 64;  // of the chat template, with some for the joints
// Goes up when other samples come out of the same seed.
constexpr uint64_t kGenerator = 2;

// Which document each needle goes to: as evenly as chains allow.
std::vector<std::vector<std::string>> spread(const Puzzle& puzzle, int documents,
                                             EvalRandom& random) {
  std::vector<std::vector<std::string>> needles(static_cast<size_t>(documents));
  std::vector<size_t> places(static_cast<size_t>(documents));
  std::iota(places.begin(), places.end(), size_t{0});
  random.shuffle(places);
  size_t used = 0;
  for (const auto& chain : puzzle.chains) {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < chain.size(); ++i) chosen.push_back(places[used++ % places.size()]);
    if (puzzle.ordered) std::ranges::sort(chosen);
    for (size_t i = 0; i < chain.size(); ++i) needles[chosen[i]].push_back(chain[i]);
  }
  return needles;
}

class Writer {
 public:
  Writer(const RulerOptions& options, const CountTokens& count_tokens)
      : options_(options), count_tokens_(count_tokens) {}

  Expected<std::vector<Document>> documents(const Puzzle& puzzle, EvalRandom& random) {
    LL_ASSIGN(const int question, count_tokens_(puzzle.question));
    LL_ASSIGN(const int gold, count_tokens_(puzzle.gold));
    const int room = (options_.length - kTemplateTokens - question - gold) / options_.documents;
    Haystack::Reader reader(*options_.haystack, random);
    std::vector<Document> documents;
    for (const auto& needles : spread(puzzle, options_.documents, random)) {
      LL_ASSIGN(Document document, write(needles, room, reader, random));
      documents.push_back(std::move(document));
    }
    return documents;
  }

 private:
  // Filler up to `room` tokens with the needles between its sentences, in their order.
  Expected<Document> write(const std::vector<std::string>& needles, int room,
                           Haystack::Reader& reader, EvalRandom& random) {
    int used = 2;  // the layout's line ends
    for (const std::string& needle : needles) {
      LL_ASSIGN(const int count, count_tokens_(' ' + needle));
      used += count;
    }
    std::vector<std::string> sentences;
    for (;;) {
      std::string sentence = reader.next();
      LL_ASSIGN(const int count, count_tokens_(' ' + sentence));
      if (used + count > room) break;
      used += count;
      sentences.push_back(std::move(sentence));
    }
    if (sentences.empty())
      return error(ErrorCode::kUsage,
                   "--length {} with {} documents leaves {} tokens for each, too few for a "
                   "sentence; use fewer documents",
                   options_.length, options_.documents, room);
    std::vector<size_t> places(needles.size());  // before which sentence
    for (size_t& place : places) place = random.below(sentences.size() + 1);
    std::ranges::sort(places);
    Document document;
    const auto append = [&](const std::string& sentence) {
      document.text += (document.text.empty() ? "" : " ") + sentence;
    };
    size_t next = 0;
    for (size_t i = 0; i <= sentences.size(); ++i) {
      for (; next < needles.size() && places[next] == i; ++next) append(needles[next]);
      if (i < sentences.size()) append(sentences[i]);
    }
    return document;
  }

  const RulerOptions& options_;
  const CountTokens& count_tokens_;
};

}  // namespace

Expected<EvalTask> make_ruler(const std::string& kind, const RulerOptions& ruler,
                              const DataOptions& options, const CountTokens& count_tokens) {
  EvalTask task;
  task.name = fmt::format("ruler-{}-{}", kind, ruler.length);
  task.data_hash = to_hex(Sha256()
                              .field(kGenerator)
                              .field(kind)
                              .field(static_cast<uint64_t>(ruler.length))
                              .field(static_cast<uint64_t>(ruler.documents))
                              .field(ruler.seed)
                              .field(ruler.haystack_hash)
                              .finish());
  task.metrics = {TextMetric::kRecallAll, TextMetric::kEmGold};
  Writer writer(ruler, count_tokens);
  for (int i = 0; i < options.limit; ++i) {
    EvalRandom random(ruler.seed, static_cast<uint64_t>(i));
    LL_ASSIGN(const Puzzle puzzle, make_puzzle(kind, random));
    EvalSample sample;
    sample.id = std::to_string(i);
    LL_ASSIGN(sample.request.documents, writer.documents(puzzle, random));
    sample.request.question = puzzle.question;
    sample.request.layout = options.layout;
    sample.request.encoding_prefix = options.encoding_prefix;
    sample.request.max_tokens = options.max_tokens > 0 ? options.max_tokens : kMaxTokens;
    sample.request.sampling.temperature = 0;
    sample.answers = puzzle.answers;
    sample.gold = puzzle.gold;
    task.samples.push_back(std::move(sample));
  }
  return task;
}

}  // namespace looseleaf
