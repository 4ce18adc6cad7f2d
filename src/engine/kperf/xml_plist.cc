#include "engine/kperf/xml_plist.h"

#include "core/words.h"
#include "engine/text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// A database is six elements deep.
constexpr std::size_t kDeepest = 64;

constexpr std::string_view kSpace = " \t\r\n";

bool is_space(std::string_view text) {
  return text.find_first_not_of(kSpace) == std::string_view::npos;
}

/// Decimal or 0x and hexadecimal digits, with or without a sign.
bool is_whole_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string_view digits = "0123456789";
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    digits = "0123456789abcdefABCDEF";
  }
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// Whether '<' and '>' cannot hide in a quotation in `text`.
bool has_whole_quotes(std::string_view text) {
  return text.find_first_of("<'") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '"') % 2 == 0;
}

bool is_name(std::string_view text) {
  constexpr std::size_t longest = 16;
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

/// What stands between '<' and '>'.
struct Tag {
  std::string_view name;
  bool closes = false;    ///< </name>
  bool is_empty = false;  ///< <name/>
};

/// Walks from tag to tag. It takes no more of XML than property lists have, so that it sees no tag
/// where libplist sees none, nor the reverse.
class Walk {
 public:
  explicit Walk(std::string_view text) : rest_(text) {}

  Result<void> to_end() {
    while (!is_closed_) {
      const std::size_t at = rest_.find('<');
      if (at == std::string_view::npos) return Error{"ends without </plist>", ""};
      content_ = rest_.substr(0, at);
      rest_.remove_prefix(at);
      if (auto taken = take_markup(); !taken) return taken;
    }
    if (!is_space(rest_)) return Error{"goes on after </plist>", ""};
    return {};
  }

 private:
  Result<void> take_markup() {
    if (rest_.starts_with("<!--")) return skip_to("-->", "a comment");
    if (rest_.starts_with("<?")) return skip_to("?>", "an instruction");
    if (rest_.starts_with("<![CDATA[")) return skip_to("]]>", "a text");
    const std::size_t end = rest_.find('>');
    if (end == std::string_view::npos) return Error{"ends within a tag", ""};
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (inside.starts_with('!')) {
      // An entity could stand for any number of tags.
      if (inside.find('[') == std::string_view::npos && has_whole_quotes(inside)) return {};
      return Error{"is damaged: its document type declares more than a property list does", ""};
    }
    return take_tag(inside);
  }

  Result<void> skip_to(std::string_view end, const char* what) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos)
      return Error{fmt::format("ends within {} that is not closed", what), ""};
    rest_.remove_prefix(at + end.size());
    has_marked_text_ = true;
    return {};
  }

  Result<void> take_tag(std::string_view inside) {
    Tag tag;
    tag.closes = inside.starts_with('/');
    if (tag.closes) inside.remove_prefix(1);
    tag.is_empty = inside.ends_with('/');
    if (tag.is_empty) inside.remove_suffix(1);
    tag.name = inside.substr(0, inside.find_first_of(kSpace));
    const std::string_view attributes = trimmed(inside.substr(tag.name.size()));
    const bool may_have_attributes = tag.name == "plist" && !tag.closes;
    if (!is_name(tag.name) || !has_whole_quotes(attributes) ||
        (!attributes.empty() && !may_have_attributes))
      return Error{
          fmt::format("is damaged: {} is no tag of a property list", cited(inside.substr(0, 40))),
          ""};
    return tag.closes ? close(tag) : open(tag);
  }

  Result<void> open(const Tag& tag) {
    if (open_.empty() && tag.name != "plist") return Error{"is no property list", ""};
    if (tag.is_empty) {
      if (tag.name == "integer") return Error{"is damaged: an <integer> is empty", ""};
      if (tag.name == "plist") return Error{"is damaged: its <plist> is empty", ""};
      return {};
    }
    if (open_.size() == kDeepest)
      return Error{fmt::format("is damaged: it nests more than {} elements", kDeepest), ""};
    open_.push_back(tag.name);
    has_marked_text_ = false;
    return {};
  }

  Result<void> close(const Tag& tag) {
    if (open_.empty() || open_.back() != tag.name)
      return Error{fmt::format("is damaged: </{}> closes {}", tag.name,
                               open_.empty() ? "nothing" : fmt::format("<{}>", open_.back())),
                   ""};
    open_.pop_back();
    is_closed_ = open_.empty();
    return tag.name == "integer" ? check_integer(trimmed(content_)) : Result<void>{};
  }

  Result<void> check_integer(std::string_view text) const {
    if (has_marked_text_) return Error{"is damaged: an <integer> has more than digits", ""};
    if (text.empty()) return Error{"is damaged: an <integer> is empty", ""};
    if (!is_whole_number(text))
      return Error{fmt::format("is damaged: {} is no <integer>", cited(text.substr(0, 40))), ""};
    return {};
  }

  std::string_view rest_;
  std::string_view content_{};  ///< before the tag that is looked at
  std::vector<std::string_view> open_{};
  bool has_marked_text_ = false;  ///< a comment or CDATA since the last opening tag
  bool is_closed_ = false;
};

}  // namespace

bool is_xml_plist(std::string_view bytes) {
  return !bytes.starts_with("bplist00");
}

Result<void> check_xml_plist(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos || text[first] != '<')
    return Error{"is no property list, or a damaged one", ""};
  return Walk(text).to_end();
}

}  // namespace lauka::engine::kperf
