#include "engine/kperf/plist.h"

#include "core/foreign_text.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <expat.h>

namespace lauka::engine::kperf {
namespace {

constexpr std::array<std::string_view, 10> kElements = {
    "plist", "dict", "array", "key", "string", "integer", "true", "false", "real", "date"};

Error no_plist() {
  return {"is not a property list, or is damaged", ""};
}

/// An element that is open.
struct Open {
  std::string name;
  std::string text{};  ///< of one that holds no elements
  PlistValue value{};
  std::optional<std::string> key{};  ///< of a dictionary: its value has yet to come
  bool is_full = false;              ///< plist: its value was there

  bool holds_elements() const { return name == "plist" || name == "dict" || name == "array"; }
};

/// Makes values of what expat finds. The first fault is kept, and expat is stopped.
class XmlReader {
 public:
  Result<PlistValue> read(std::string_view bytes) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return no_plist();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    XML_SetStartDoctypeDeclHandler(parser_.get(), on_doctype);
    XML_SetSkippedEntityHandler(parser_.get(), on_entity);
    const auto parsed =
        XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), XML_TRUE);
    if (fault_) return *fault_;
    if (parsed != XML_STATUS_OK) return damage();
    return std::move(root_);
  }

 private:
  static XmlReader& of(void* self) { return *static_cast<XmlReader*>(self); }
  static void XMLCALL on_start(void* self, const XML_Char* name, const XML_Char** /*attributes*/) {
    of(self).open(name);
  }
  static void XMLCALL on_end(void* self, const XML_Char* /*name*/) { of(self).close(); }
  static void XMLCALL on_text(void* self, const XML_Char* text, int length) {
    of(self).add({text, static_cast<std::size_t>(length)});
  }
  static void XMLCALL on_doctype(void* self, const XML_Char* /*name*/, const XML_Char* /*system*/,
                                 const XML_Char* /*id*/, int has_declarations) {
    // An entity could stand for any number of elements.
    if (has_declarations != 0)
      of(self).refuse("its document type declares more than a property list does");
  }
  static void XMLCALL on_entity(void* self, const XML_Char* name, int /*is_parameter*/) {
    of(self).refuse(fmt::format("it names an entity {} that it does not declare", cited(name)));
  }

  void refuse(const std::string& what) { fail({"is damaged: " + what, ""}); }

  void fail(Error error) {
    if (!fault_) fault_ = std::move(error);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  Error damage() const {
    const XML_Error code = XML_GetErrorCode(parser_.get());
    if (code == XML_ERROR_JUNK_AFTER_DOC_ELEMENT) return {"continues after </plist>", ""};
    if (open_.empty()) return no_plist();
    const auto at = XML_GetCurrentLineNumber(parser_.get());
    if (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN)
      return {"ends without </plist>", ""};
    return {fmt::format("is damaged: {} in line {}", XML_ErrorString(code), at), ""};
  }

  void open(std::string_view name) {
    if (fault_) return;
    const bool is_known = std::ranges::find(kElements, name) != kElements.end();
    if (open_.empty() ? name != "plist" : (!is_known && name != "data") || name == "plist") {
      if (open_.empty()) return fail(no_plist());
      return refuse(fmt::format("<{}> is no element of a property list", name.substr(0, 40)));
    }
    if (open_.size() == kDeepestPlist) return fail(nests_too_deep());
    if (!open_.empty()) {
      const Open& outer = open_.back();
      const bool fits = outer.name == "array" || (outer.name == "plist" && !outer.is_full) ||
                        (outer.name == "dict" && (name == "key") != outer.key.has_value());
      if (!fits || (name == "key" && outer.name != "dict"))
        return refuse(fmt::format("<{}> is not expected in <{}>", name, outer.name));
    }
    Open& opened = open_.emplace_back();
    opened.name = name;
    if (name == "dict") opened.value.value = PlistDict{};
    if (name == "array") opened.value.value = PlistArray{};
  }

  void add(std::string_view text) {
    if (fault_ || open_.empty()) return;
    if (!open_.back().holds_elements())
      open_.back().text += text;
    else if (!trimmed(text).empty())
      refuse(fmt::format("there is text in <{}>", open_.back().name));
  }

  void close() {
    if (fault_) return;
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.key) return refuse("a <key> has no value");
    if (closed.name == "plist") {
      if (!closed.is_full) refuse("its <plist> is empty");
      root_ = std::move(closed.value);
      return;
    }
    if (closed.name == "key") {
      open_.back().key = std::move(closed.text);
      return;
    }
    if (closed.name == "integer") {
      read_integer(closed);
    } else if (closed.name == "string") {
      closed.value.value = std::move(closed.text);
    } else if (closed.name == "true" || closed.name == "false") {
      closed.value.value = closed.name == "true";
    }
    put(std::move(closed.value), open_.back());
  }

  void read_integer(Open& integer) {
    std::string_view digits = trimmed(integer.text);
    if (digits.empty()) return refuse("an <integer> is empty");
    const bool is_negative = digits.starts_with('-');
    if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
    const auto number = parse_number(digits);
    if (!number)
      return refuse(
          fmt::format("{} is not an <integer>", cited(trimmed(integer.text).substr(0, 40))));
    if (!is_negative) integer.value.value = *number;
  }

  static void put(PlistValue value, Open& outer) {
    if (auto* dict = std::get_if<PlistDict>(&outer.value.value)) {
      dict->emplace(*std::move(outer.key), std::move(value));
      outer.key.reset();
    } else if (auto* array = std::get_if<PlistArray>(&outer.value.value)) {
      array->push_back(std::move(value));
    } else {
      outer.value = std::move(value);
      outer.is_full = true;
    }
  }

  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_{XML_ParserCreate(nullptr)};
  std::vector<Open> open_;
  PlistValue root_;
  std::optional<Error> fault_;
};

}  // namespace

const PlistValue* PlistValue::find(std::string_view key) const {
  const auto* dict = get<PlistDict>();
  if (dict == nullptr) return nullptr;
  const auto found = dict->find(key);
  return found == dict->end() ? nullptr : &found->second;
}

Error nests_too_deep() {
  return {fmt::format("is damaged: it nests more than {} elements", kDeepestPlist), ""};
}

Result<PlistValue> read_plist(std::string_view bytes) {
  return bytes.starts_with(kBinaryPlist) ? read_binary_plist(bytes) : XmlReader().read(bytes);
}

}  // namespace lauka::engine::kperf
