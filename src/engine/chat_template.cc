#include "engine/chat_template.h"

#include <ctime>

namespace looseleaf {
namespace {

using jinja::Value;

constexpr std::string_view kChatMl =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
constexpr std::string_view kInstead = "use a completion: prefix, documents, prompt";

Value message_value(const ChatMessage& message) {
  const auto name = [](std::string_view text) { return Value::text(text, Origin::kTemplate); };
  jinja::Dict dict;
  dict.entries.emplace_back(name("role"), name(message.role));
  dict.entries.emplace_back(name("content"), Value::text(message.content));
  return Value(std::shared_ptr<const jinja::Dict>(std::make_shared<jinja::Dict>(std::move(dict))));
}

}  // namespace

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

ChatTemplate::ChatTemplate(Expected<jinja::Template> parsed, std::string description)
    : template_(std::move(parsed)), description_(std::move(description)) {}

ChatTemplate ChatTemplate::of(const Tokenizer* tokenizer, jinja::Clock clock) {
  const auto none = [](std::string problem) {
    return ChatTemplate(error(ErrorCode::kUnsupported, "{}; {}", problem, kInstead), problem);
  };
  if (tokenizer == nullptr) return none("no chat template without a tokenizer");
  const TokenizerSpec& spec = tokenizer->spec();
  if (!spec.chat_template_problem.empty()) return none(spec.chat_template_problem);
  const bool own = !spec.chat_template.empty();
  if (!own && (!tokenizer->special("<|im_start|>") || !tokenizer->special("<|im_end|>")))
    return none("this model has no chat template, and its tokenizer not the marks of ChatML");
  auto parsed = own ? jinja::Template::parse(spec.chat_template, "the model's chat template")
                    : jinja::Template::parse(kChatMl, "the ChatML template");
  if (!parsed) return none(fmt::format("not followed: {}", parsed.error().message));
  ChatTemplate made(std::move(parsed),
                    own ? fmt::format("the model's own, {} bytes", spec.chat_template.size())
                        : "ChatML, since the model has its marks and no template");
  for (const auto& [name, id] :
       {std::pair{"bos_token", spec.bos}, {"eos_token", spec.eos}, {"unk_token", spec.unk}})
    if (id >= 0)
      made.special_tokens_.emplace_back(name, Value::text(tokenizer->bytes(id), Origin::kTemplate));
  made.clock_ = std::move(clock);
  return made;
}

Expected<MarkedString> ChatTemplate::render(const std::vector<ChatMessage>& messages) const {
  if (!template_) return tl::unexpected(template_.error());
  jinja::Sequence list;
  list.depth = 2;
  size_t bytes = 0;
  for (const ChatMessage& message : messages) {
    list.items.push_back(message_value(message));
    bytes += message.content.text().size();
  }
  jinja::Variables context = special_tokens_;
  context.emplace_back("messages", Value(std::make_shared<jinja::Sequence>(std::move(list))));
  context.emplace_back("add_generation_prompt", Value(true));
  context.emplace_back("tools", Value(jinja::None{}));
  context.emplace_back("documents", Value(jinja::None{}));
  auto text = template_->render(context, {jinja::limits_for(bytes), clock_});
  if (!text) return field_error("messages", "{}", text.error().message);
  return text;
}

}  // namespace looseleaf
