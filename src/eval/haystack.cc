#include "eval/haystack.h"

#include <iterator>

namespace looseleaf {
namespace {

constexpr std::string_view kWho[] = {
    "The miller",      "An old sailor",     "The schoolteacher",  "A young clerk",
    "My neighbour",    "The village baker", "A tired postman",    "The gardener",
    "Her uncle",       "The ferryman",      "A travelling actor", "The librarian",
    "The night guard", "A passing farmer",  "The watchmaker",     "His sister",
    "The new doctor",  "A quiet stranger",  "The innkeeper",      "The carpenter"};
constexpr std::string_view kDid[] = {
    "carried",   "repaired",     "forgot",       "wrapped up", "painted",  "counted",  "put away",
    "looked at", "talked about", "brought back", "cleaned",    "borrowed", "sold",     "searched",
    "measured",  "described",    "admired",      "wrote down", "hid",      "picked up"};
constexpr std::string_view kWhat[] = {
    "a basket of apples", "the wooden ladder",  "an unread letter",  "two pairs of boots",
    "the broken clock",   "a bundle of maps",   "some dry firewood", "the blue curtains",
    "a jar of honey",     "the garden tools",   "three old coins",   "the kitchen table",
    "a length of rope",   "the church bell",    "a bag of flour",    "the small boat",
    "several notebooks",  "the morning papers", "a copper kettle",   "the neighbour's goat"};
constexpr std::string_view kWhere[] = {"behind the mill",        "in the market square",
                                       "near the old bridge",    "beside the river",
                                       "at the railway station", "under the chestnut trees",
                                       "in the upper room",      "on the road to town",
                                       "outside the bakery",     "at the edge of the wood"};
constexpr std::string_view kWhen[] = {"early in the morning",  "before the rain came",
                                      "late on a Sunday",      "while everybody slept",
                                      "after a long winter",   "shortly before noon",
                                      "as the lamps were lit", "on the last day of May",
                                      "when the wind turned",  "without saying a word"};

constexpr std::string_view kAdjectives[] = {
    "amber",   "brisk",  "calm",    "daring", "eager",  "fabled",  "gentle", "hollow",
    "icy",     "jolly",  "keen",    "lively", "mellow", "nimble",  "ornate", "placid",
    "quaint",  "rustic", "sleek",   "tidy",   "upbeat", "vivid",   "wary",   "youthful",
    "zealous", "abrupt", "bashful", "cosmic", "dusty",  "elastic", "frosty", "glossy"};
constexpr std::string_view kNouns[] = {
    "anchor", "beacon", "cactus", "dolphin", "easel",  "falcon", "glacier", "harbor",
    "island", "jacket", "kernel", "lantern", "magnet", "nebula", "orchid",  "pebble",
    "quartz", "rocket", "saddle", "tunnel",  "urchin", "violin", "walrus",  "yogurt",
    "zephyr", "acorn",  "bison",  "comet",   "domino", "ember",  "fiddle",  "goblet"};

template <size_t N>
std::string_view pick(const std::string_view (&words)[N], EvalRandom& random) {
  return words[random.below(N)];
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

Haystack::Haystack(std::string_view text) {
  std::string sentence;
  const auto end_sentence = [&] {
    while (!sentence.empty() && sentence.back() == ' ') sentence.pop_back();
    if (!sentence.empty()) sentences_.push_back(std::move(sentence));
    sentence.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const bool paragraph = text[i] == '\n' && i + 1 < text.size() && text[i + 1] == '\n';
    if (is_blank(text[i])) {
      if (!sentence.empty() && sentence.back() != ' ') sentence += ' ';
      if (paragraph) end_sentence();
      continue;
    }
    sentence += text[i];
    const bool stop = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (stop && i + 1 < text.size() && is_blank(text[i + 1])) end_sentence();
  }
  end_sentence();
}

Haystack::Reader::Reader(const Haystack& haystack, EvalRandom& random)
    : haystack_(haystack), random_(random) {
  if (!haystack_.built_in()) at_ = random_.below(haystack_.sentences_.size());
}

std::string Haystack::Reader::next() {
  if (!haystack_.built_in()) {
    const std::string& sentence = haystack_.sentences_[at_];
    at_ = (at_ + 1) % haystack_.sentences_.size();
    return sentence;
  }
  std::string sentence;
  for (const std::string_view part :
       {pick(kWho, random_), pick(kDid, random_), pick(kWhat, random_), pick(kWhere, random_)}) {
    sentence += part;
    sentence += ' ';
  }
  sentence += pick(kWhen, random_);
  return sentence + '.';
}

std::string random_key(EvalRandom& random) {
  const std::string adjective(pick(kAdjectives, random));
  return adjective + '-' + std::string(pick(kNouns, random));
}

}  // namespace looseleaf
