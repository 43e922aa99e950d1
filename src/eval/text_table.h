// Tables of text in columns.
#pragma once

#include <string>
#include <vector>

namespace looseleaf {

// Lines of cells; the first line is the head. The first column is flush left, the others right.
// Widths count code points.
std::string text_table(const std::vector<std::vector<std::string>>& lines);

}  // namespace looseleaf
