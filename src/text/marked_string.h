// A string that knows, range by range, whether the template or data wrote it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace looseleaf {

enum class Origin : unsigned char {
  kTemplate,  // special tokens in it are parsed
  kData,      // what a user or a document says; its text stays text
  kInsert,    // stands for something else and is taken out before anything is tokenized
};

class MarkedString {
 public:
  struct Range {
    size_t end;  // one past its last byte; it begins where the one before ends
    Origin origin;
    bool operator==(const Range&) const = default;
  };

  MarkedString() = default;
  MarkedString(std::string_view text, Origin origin) { append(text, origin); }

  void append(std::string_view text, Origin origin);
  void append(const MarkedString& other);

  const std::string& text() const { return text_; }
  // Neighbours differ in origin and none is empty: the last one ends at text().size().
  const std::vector<Range>& ranges() const { return ranges_; }

  // Bytes [from, from + count), cut to what there is.
  MarkedString substr(size_t from, size_t count = std::string::npos) const;

  bool operator==(const MarkedString&) const = default;

 private:
  std::string text_;
  std::vector<Range> ranges_;
};

}  // namespace looseleaf
