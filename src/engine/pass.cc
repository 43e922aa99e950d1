#include "engine/pass.h"

#include <algorithm>

namespace looseleaf {

void Pass::sort_rows() {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PassRow& a, const PassRow& b) { return a.depth > b.depth; });
}

}  // namespace looseleaf
