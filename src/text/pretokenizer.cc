#include "text/pretokenizer.h"

#include <algorithm>

#include "text/pattern.h"

namespace looseleaf {
namespace {

// A match or what lies between two, possibly empty.
struct Span {
  size_t begin, end;
  bool match;
};

// Neighbouring spans become one where `joins` says so; `spans` keep their order.
template <typename Joins>
void join(std::vector<Span>& spans, Joins joins) {
  std::vector<Span> joined;
  bool previous_match = false;
  for (const Span& span : spans) {
    if (!joined.empty() && joins(span.match, previous_match)) {
      joined.back().begin = std::min(joined.back().begin, span.begin);
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
    previous_match = span.match;
  }
  spans.swap(joined);
}

void apply(SplitBehavior behavior, std::vector<Span>& spans) {
  const auto joins_other = [](bool match, bool previous_match) { return match && !previous_match; };
  switch (behavior) {
    case SplitBehavior::kIsolated:
      return;
    case SplitBehavior::kRemoved:
      std::erase_if(spans, [](const Span& span) { return span.match; });
      return;
    case SplitBehavior::kMergedWithPrevious:
      return join(spans, joins_other);
    case SplitBehavior::kMergedWithNext:
      std::reverse(spans.begin(), spans.end());
      join(spans, joins_other);
      std::reverse(spans.begin(), spans.end());
      return;
    case SplitBehavior::kContiguous:
      return join(spans, [](bool match, bool previous_match) { return match == previous_match; });
  }
}

}  // namespace

struct Pretokenizer::Rule {
  Pattern pattern;
  SplitBehavior behavior;
  bool invert;

  Status split(std::string_view text, Pattern::Scratch& scratch, std::vector<Span>& spans,
               std::vector<std::string_view>& pieces) const {
    spans.clear();
    size_t cut = 0;  // spans cover text up to here
    LL_RETURN_IF_ERROR(pattern.for_each_match(text, scratch, [&](size_t begin, size_t end) {
      if (begin > cut) spans.push_back({cut, begin, invert});
      spans.push_back({begin, end, !invert});
      cut = end;
    }));
    if (cut < text.size()) spans.push_back({cut, text.size(), invert});
    apply(behavior, spans);
    for (const Span& span : spans) {
      if (span.end > span.begin) pieces.push_back(text.substr(span.begin, span.end - span.begin));
    }
    return {};
  }
};

Expected<Pretokenizer> Pretokenizer::create(const std::vector<SplitRule>& rules) {
  Pretokenizer result;
  for (const SplitRule& rule : rules) {
    LL_ASSIGN(Pattern pattern, Pattern::create(rule.pattern));
    result.rules_.push_back(
        std::make_shared<const Rule>(Rule{std::move(pattern), rule.behavior, rule.invert}));
  }
  return result;
}

Status Pretokenizer::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  if (text.empty()) return {};
  std::vector<std::string_view> from = {text};
  std::vector<std::string_view> to;
  std::vector<Span> spans;
  Pattern::Scratch scratch(text.size());
  for (const auto& rule : rules_) {
    to.clear();
    for (const std::string_view piece : from)
      LL_RETURN_IF_ERROR(rule->split(piece, scratch, spans, to));
    from.swap(to);
  }
  pieces.insert(pieces.end(), from.begin(), from.end());
  return {};
}

}  // namespace looseleaf
