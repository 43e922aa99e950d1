#include <algorithm>

#include "eval/ruler.h"

namespace looseleaf {
namespace {

constexpr int kValues = 4, kKeys = 8, kQueries = 4;
constexpr int kVariableChains = 2, kHops = 3;
constexpr int kPeople = 6;

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

// `count` different results of `make`.
template <typename Make>
std::vector<std::string> distinct(int count, const Make& make) {
  std::vector<std::string> items;
  while (static_cast<int>(items.size()) < count) {
    std::string item = make();
    if (std::ranges::find(items, item) == items.end()) items.push_back(std::move(item));
  }
  return items;
}

// RULER's needles are numbers of seven digits, and its variables five capitals.
std::string random_number(EvalRandom& random, int digits) {
  std::string number(1, static_cast<char>('1' + random.below(9)));
  while (static_cast<int>(number.size()) < digits)
    number += static_cast<char>('0' + random.below(10));
  return number;
}

std::string random_variable(EvalRandom& random) {
  std::string name;
  for (int i = 0; i < 5; ++i) name += static_cast<char>('A' + random.below(26));
  return name;
}

std::string needle(const std::string& key, const std::string& value) {
  return fmt::format("One of the special magic numbers for {} is: {}.", key, value);
}

// `keys` keys with `values` numbers each, of which `asked` keys are asked for.
Puzzle numbers(int keys, int values, int asked, EvalRandom& random) {
  const auto names = distinct(keys, [&] { return random_key(random); });
  const auto all = distinct(keys * values, [&] { return random_number(random, 7); });
  Puzzle puzzle;
  puzzle.ordered = true;  // so that the gold answer lists numbers as they come
  for (int k = 0; k < keys; ++k) {
    std::vector<std::string> chain;
    for (int v = 0; v < values; ++v) {
      const std::string& number = all[static_cast<size_t>(k * values + v)];
      chain.push_back(needle(names[static_cast<size_t>(k)], number));
      if (k < asked) puzzle.answers.push_back(number);
    }
    puzzle.chains.push_back(std::move(chain));
  }
  const std::vector<std::string> queried(names.begin(), names.begin() + asked);
  puzzle.question =
      puzzle.answers.size() == 1
          ? fmt::format("What is the special magic number for {} mentioned in the provided text?",
                        queried[0])
          : fmt::format(
                "What are all the special magic numbers for {} mentioned in the provided text?",
                join(queried));
  puzzle.gold = join(puzzle.answers);
  return puzzle;
}

Puzzle variable_tracking(EvalRandom& random) {
  const int per_chain = kHops + 1;
  const auto names = distinct(kVariableChains * per_chain, [&] { return random_variable(random); });
  const auto values = distinct(kVariableChains, [&] { return random_number(random, 5); });
  Puzzle puzzle;
  puzzle.ordered = true;
  for (int c = 0; c < kVariableChains; ++c) {
    const auto first = names.begin() + c * per_chain;
    std::vector<std::string> chain = {
        fmt::format("VAR {} = {}.", *first, values[static_cast<size_t>(c)])};
    for (int hop = 1; hop < per_chain; ++hop)
      chain.push_back(fmt::format("VAR {} = VAR {}.", first[hop], first[hop - 1]));
    puzzle.chains.push_back(std::move(chain));
  }
  puzzle.answers.assign(names.begin(), names.begin() + per_chain);
  puzzle.question = fmt::format(
      "Find all variables that are assigned the value {} in the text above.", values[0]);
  puzzle.gold = join(puzzle.answers);
  return puzzle;
}

// Whose pupil somebody is stands in one document, where that teacher lives in another.
Puzzle two_hop(EvalRandom& random) {
  std::vector<std::string> people = {"Alice Benton", "Carl Dorsey",  "Edith Farrow", "George Hale",
                                     "Irene Jansen", "Karl Lindner", "Maria Norris", "Oscar Pratt"};
  std::vector<std::string> teachers = {"Helen Marsh", "Tom Reed",   "Nora Quinn",  "Victor Stone",
                                       "Paula Webb",  "Simon York", "Ruth Abbott", "Leo Grant"};
  std::vector<std::string> towns = {"Ashford",  "Brookdale", "Carlow",  "Dunkeld",
                                    "Eastmere", "Farnham",   "Glenrow", "Hartwell"};
  for (auto* list : {&people, &teachers, &towns}) random.shuffle(*list);
  Puzzle puzzle;
  for (size_t i = 0; i < kPeople; ++i)
    puzzle.chains.push_back({fmt::format("The teacher of {} is {}.", people[i], teachers[i]),
                             fmt::format("{} lives in {}.", teachers[i], towns[i])});
  puzzle.question = fmt::format("Where does the teacher of {} live?", people[0]);
  puzzle.answers = {towns[0]};
  puzzle.gold = towns[0];
  return puzzle;
}

}  // namespace

Expected<Puzzle> make_puzzle(const std::string& kind, EvalRandom& random) {
  if (kind == "single") return numbers(1, 1, 1, random);
  if (kind == "multi-key") return numbers(kKeys, 1, 1, random);
  if (kind == "multi-value") return numbers(1, kValues, 1, random);
  if (kind == "multi-query") return numbers(kQueries, 1, kQueries, random);
  if (kind == "variable-tracking") return variable_tracking(random);
  if (kind == "two-hop") return two_hop(random);
  return error(ErrorCode::kUsage,
               "ruler:{}: there is no such task; there are: single, multi-key, multi-value, "
               "multi-query, variable-tracking, two-hop",
               kind);
}

}  // namespace looseleaf
