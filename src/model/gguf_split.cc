#include "model/gguf_split.h"

#include "text/quote.h"

namespace looseleaf {
namespace {

struct Split {
  uint32_t number = 0;  // from 0
  uint32_t count = 1;
  std::optional<int64_t> tensors;  // of all parts
};

Expected<Split> split_of(const GgufFile& file) {
  Split split;
  LL_ASSIGN(const auto count, file.find<uint16_t>("split.count"));
  split.count = count.value_or(1);
  if (split.count <= 1) return Split{};
  LL_ASSIGN(split.number, file.get<uint16_t>("split.no"));
  LL_ASSIGN(split.tensors, file.find<int64_t>("split.tensors.count"));
  if (split.number >= split.count)
    return error(ErrorCode::kCorrupt,
                 "{}: split.no is {} of {} parts, counted from 0: get it again", file.path(),
                 split.number, split.count);
  return split;
}

std::string ending(uint32_t number, uint32_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

// The path of part `number`, from that of part `known`.
Expected<std::filesystem::path> part_path(const std::filesystem::path& path, uint32_t known,
                                          uint32_t number, uint32_t count) {
  std::string name = path.filename().string();
  const std::string own = ending(known, count);
  if (!name.ends_with(own))
    return error(ErrorCode::kUsage,
                 "{}: part {} of {}, whose name does not end in {}: the other parts are found by "
                 "that name, so give the file its own name back",
                 path.string(), known + 1, count, own);
  name.resize(name.size() - own.size());
  return path.parent_path() / (name + ending(number, count));
}

Expected<GgufFile> read_part(const GgufFile& first, const Split& split, uint32_t number) {
  LL_ASSIGN(const auto path, part_path(first.files().front()->path(), 0, number, split.count));
  auto file = MappedFile::open(path);
  if (!file)
    return error(file.error().code, "{} (part {} of {} of {})", file.error().message, number + 1,
                 split.count, first.path());
  LL_ASSIGN(GgufFile part, GgufFile::read(std::move(*file)));
  LL_ASSIGN(const Split own, split_of(part));
  if (own.count != split.count || own.number != number)
    return error(ErrorCode::kCorrupt, "{}: says that it is part {} of {}, not part {} of {} of {}",
                 part.path(), own.number + 1, own.count, number + 1, split.count, first.path());
  constexpr std::string_view kArchitecture = "general.architecture";
  LL_ASSIGN(const auto wanted, first.find<std::string_view>(kArchitecture));
  LL_ASSIGN(const auto given, part.find<std::string_view>(kArchitecture));
  if (wanted && given && *wanted != *given)
    return error(ErrorCode::kCorrupt, "{}: is of a {} model, and {} is of a {} model", part.path(),
                 quote(*given), first.path(), quote(*wanted));
  return part;
}

}  // namespace

Expected<GgufFile> read_gguf_parts(std::shared_ptr<const MappedFile> first) {
  LL_ASSIGN(GgufFile model, GgufFile::read(std::move(first)));
  LL_ASSIGN(const Split split, split_of(model));
  if (split.count <= 1) return model;
  if (split.number != 0) {
    LL_ASSIGN(const auto path,
              part_path(model.files().front()->path(), split.number, 0, split.count));
    return error(ErrorCode::kUsage, "{}: part {} of {}: give the first one, {}", model.path(),
                 split.number + 1, split.count, path.string());
  }
  for (uint32_t number = 1; number < split.count; ++number) {
    LL_ASSIGN(GgufFile part, read_part(model, split, number));
    LL_RETURN_IF_ERROR(model.add_part(std::move(part)));
  }
  const auto tensors = static_cast<int64_t>(model.tensors().tensors().size());
  if (split.tensors && *split.tensors != tensors)
    return error(ErrorCode::kCorrupt,
                 "{}: split.tensors.count is {} and the {} parts hold {}: one is of another model",
                 model.path(), *split.tensors, split.count, tensors);
  return model;
}

}  // namespace looseleaf
