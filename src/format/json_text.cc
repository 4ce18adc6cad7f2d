#include "format/json_text.h"

#include "core/text.h"
#include "report/format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka {

namespace {

using std::string_view_literals::operator""sv;

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxValues = 50'000'000;

// Short lists get room for kReservedItems at once. From kMinLongList items on, the capacity grows
// by an eighth instead of doubling, because a list of millions would waste half of its memory.
constexpr std::size_t kReservedItems = 10;
constexpr std::size_t kMinLongList = 4096;

// The memory that a document takes is estimated while it is read, and limited to kMaxBytes.
constexpr std::size_t kMaxBytes = std::size_t{2} << 30U;
constexpr std::size_t kBytesPerItem = 18;  // 16, and an eighth of 16, by which long lists grow
constexpr std::size_t kBytesPerMember = 112;
constexpr std::size_t kBytesPerText = 48;
constexpr std::size_t kBytesPerTakenList = 256;  // whose items are taken
constexpr std::size_t kBytesPerTakenItem = 96;

/// Returns what stands in the document for a list whose items were taken: its number, as a binary
/// value, which no value of a text file can be.
ParsedJson make_taken_list_mark(std::size_t number) {
  std::vector<std::uint8_t> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return ParsedJson::binary(std::move(bytes));
}

/// Passes on the bytes of a source one by one, as the parser needs them.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  /// Makes the end of all sources.
  ByteIterator() = default;
  explicit ByteIterator(const TextSource& source) : source_(&source) { refill(); }

  char operator*() const { return *at_; }
  ByteIterator& operator++() {
    if (++at_ == end_) refill();
    return *this;
  }
  bool operator==(const ByteIterator& other) const { return at_ == other.at_; }

 private:
  // Kept out of line, so that the compiler inlines operator++, which the parser calls for each
  // byte.
  [[gnu::noinline]] void refill() {
    const std::string_view bytes = (*source_)();
    at_ = bytes.empty() ? nullptr : bytes.data();
    end_ = bytes.empty() ? nullptr : bytes.data() + bytes.size();
  }

  const TextSource* source_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

/// Builds a document from the parser's events. Skips unwanted members, and gives the items of the
/// lists that `taker` wants to it instead of storing them.
class DocumentBuilder final : public nlohmann::json_sax<ParsedJson> {
 public:
  DocumentBuilder(ParsedJson& document, const KeyFilter& wanted, ListTaker* taker)
      : document_(document), is_wanted_(wanted), taker_(taker) {}

  bool is_too_deep() const { return depth_ > kMaxDepth; }
  bool is_too_large() const { return bytes_ > kMaxBytes; }
  bool has_too_many_values() const { return values_ > kMaxValues; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override {
    if (unwanted_depth_ == 0) bytes_ += kBytesPerText + value.size();
    return add(value);
  }
  bool binary(ParsedJson::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override {
    return begin_structure(ParsedJson::value_t::object);
  }
  bool start_array(std::size_t /*size*/) override {
    return begin_structure(ParsedJson::value_t::array);
  }
  bool end_object() override { return end_structure(); }
  bool end_array() override { return end_structure(); }

  bool key(std::string& key) override {
    if (unwanted_depth_ > 0) return true;
    if (depth_ == 1) top_level_key_ = key;
    if (is_wanted_ && !is_wanted_(top_level_key_, depth_, key)) {
      unwanted_depth_ = depth_;
      return true;
    }
    const auto member =
        open_values_.back().value->get_ref<ParsedJson::object_t&>().try_emplace(key).first;
    member_key_ = &member->first;
    member_value_ = &member->second;
    bytes_ += kBytesPerMember + key.size();
    return true;
  }

  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  /// An object or a list whose end has not been read.
  struct OpenValue {
    ParsedJson* value = nullptr;
    const std::string* key = nullptr;    // of a member of an object
    std::optional<std::size_t> taken{};  // number of a list whose items are taken
    std::size_t bytes = 0;               // of all values before this one
  };

  template <typename Value>
  bool add(const Value& value) {
    if (++values_ > kMaxValues) return false;
    if (unwanted_depth_ > 0) {
      end_skipping_if_over();
    } else {
      *make_place() = value;
      if (is_in_taken_list()) taker_->take(*open_values_.back().taken, taken_item_);
    }
    return !is_too_large();
  }

  bool begin_structure(ParsedJson::value_t type) {
    ++depth_;
    if (++values_ > kMaxValues || depth_ > kMaxDepth) return false;
    if (unwanted_depth_ > 0) return true;

    OpenValue opened{.bytes = bytes_};
    if (!open_values_.empty() && open_values_.back().value->is_object()) opened.key = member_key_;
    opened.value = make_place();
    if (type == ParsedJson::value_t::array && taker_ != nullptr)
      opened.taken = taker_->begin_list(list_keys_to(opened));
    *opened.value = opened.taken ? make_taken_list_mark(*opened.taken) : ParsedJson(type);

    bytes_ += opened.taken ? kBytesPerTakenList : kBytesPerText;
    open_values_.push_back(opened);
    return !is_too_large();
  }

  bool end_structure() {
    --depth_;
    if (unwanted_depth_ > 0) {
      end_skipping_if_over();
      return true;
    }

    const OpenValue ended = open_values_.back();
    open_values_.pop_back();
    // An item that the taker does not keep as JSON is freed with all that is in it.
    if (is_in_taken_list() && !taker_->take(*open_values_.back().taken, taken_item_))
      bytes_ = ended.bytes + kBytesPerTakenItem;
    return true;
  }

  bool is_in_taken_list() const { return !open_values_.empty() && open_values_.back().taken; }

  /// Returns the keys from the outermost value to `list`, as ListTaker::begin_list wants them;
  /// empty keys for items of lists.
  std::vector<std::string_view> list_keys_to(const OpenValue& list) const {
    std::vector<std::string_view> path;
    const auto add = [&](const OpenValue& value) {
      path.push_back(value.key != nullptr ? std::string_view(*value.key) : std::string_view());
    };
    for (std::size_t i = 1; i < open_values_.size(); ++i) add(open_values_[i]);
    add(list);
    return path;
  }

  void end_skipping_if_over() {
    if (unwanted_depth_ == depth_) unwanted_depth_ = 0;
  }

  /// Returns where the next value goes: the document, a member of an object, an item of a list, or
  /// the item that the taker gets.
  ParsedJson* make_place() {
    if (open_values_.empty()) return &document_;
    if (open_values_.back().value->is_object()) return member_value_;
    if (open_values_.back().taken) {
      bytes_ += kBytesPerItem;
      return &(taken_item_ = nullptr);
    }
    auto& list = open_values_.back().value->get_ref<ParsedJson::array_t&>();
    if (list.empty()) list.reserve(kReservedItems);
    if (list.size() == list.capacity() && list.size() > kMinLongList)
      list.reserve(list.size() + list.size() / 8);
    bytes_ += kBytesPerItem;
    return &list.emplace_back();
  }

  ParsedJson& document_;
  const KeyFilter& is_wanted_;
  ListTaker* taker_;
  std::vector<OpenValue> open_values_{};
  const std::string* member_key_ = nullptr;  // of the member whose value follows
  ParsedJson* member_value_ = nullptr;
  ParsedJson taken_item_{};  // of the list whose items are taken
  std::string top_level_key_{};
  int depth_ = 0;
  int unwanted_depth_ =
      0;  // depth of the object with the key whose value is skipped; 0: nothing is skipped
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

/// Returns `json` as text. Escapes all characters beyond ASCII if the text has one that would
/// control a terminal.
std::string dump(const Json& json, int indent) {
  constexpr auto replace = Json::error_handler_t::replace;
  std::string text = json.dump(indent, ' ', false, replace);
  if (!json.is_string() && !json.is_structured()) return text;
  // one_line() makes each line break a byte longer. The line breaks are between values only.
  const auto breaks = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  const bool has_control_characters = one_line(text).size() != text.size() + breaks;
  return has_control_characters ? json.dump(indent, ' ', true, replace) : text;
}

/// True for a whole number that a double can tell from its neighbours.
bool is_whole_number(double value) {
  constexpr double largest_exact = 9007199254740992.0;  // 2^53
  return value == std::floor(value) && std::fabs(value) <= largest_exact;
}

bool is_counted_in(Unit unit) {
  return unit == Unit::Bytes || unit == Unit::Count;
}

/// True for a list or object without inner ones, unless it is an object of many keys.
bool is_on_one_line(const Json& json) {
  constexpr std::size_t max_keys_on_a_line = 8;
  const bool has_inner_structure =
      std::any_of(json.begin(), json.end(), [](const Json& item) { return item.is_structured(); });
  const bool has_many_keys = json.is_object() && json.size() > max_keys_on_a_line;
  return !has_inner_structure && !has_many_keys;
}

/// Appends `json` to `text`, in a layout for people: small lists and objects are on one line.
/// `depth`: number of the lists and objects around it.
void print(const Json& json, std::size_t depth, std::string& text) {
  if (!json.is_structured()) {
    text += json_text(json);
    return;
  }

  // What precedes the closing bracket, the first item and each further item.
  const bool is_short = is_on_one_line(json);
  const std::string before_end = is_short ? "" : "\n" + std::string(2 * depth, ' ');
  const std::string before_first = is_short ? "" : before_end + "  ";
  const std::string before_next = is_short ? ", " : "," + before_first;

  text += json.is_object() ? "{" : "[";
  bool is_first = true;
  for (const auto& [key, value] : json.items()) {
    text += is_first ? before_first : before_next;
    is_first = false;
    if (json.is_object()) text += json_string(key) + ": ";
    print(value, depth + 1, text);
  }
  text += before_end + (json.is_object() ? "}" : "]");
}

Result<ParsedJson> parse(const TextSource& source, const KeyFilter& wanted, ListTaker* taker) {
  ParsedJson document;
  DocumentBuilder builder(document, wanted, taker);
  if (ParsedJson::sax_parse(ByteIterator(source), ByteIterator(), &builder))
    return {std::move(document)};
  if (builder.is_too_deep())
    return Error{fmt::format("is nested more than {} levels deep", kMaxDepth), "export it again"};
  if (builder.has_too_many_values())
    return Error{fmt::format("holds more than {} values", kMaxValues), "export fewer runs"};
  if (builder.is_too_large())
    return Error{fmt::format("needs more than {} GB of memory", kMaxBytes >> 30U),
                 "export fewer runs or shorter texts"};
  return Error{"is not JSON, or it is incomplete", "export it again"};
}

}  // namespace

TextSource source_of(std::string_view text) {
  return [text]() mutable { return std::exchange(text, {}); };
}

Result<ParsedJson> parse_json(const TextSource& source, ListTaker& taker) {
  return parse(source, {}, &taker);
}

Result<ParsedJson> parse_json(std::string_view text, const KeyFilter& wanted) {
  return parse(source_of(text), wanted, nullptr);
}

bool read_json(std::string_view text, const std::function<bool(const ParsedJson&)>& read) {
  const auto json = parse_json(text);
  return json && read(*json);
}

std::optional<std::size_t> number_of_taken_list(const ParsedJson& value) {
  if (!value.is_binary()) return std::nullopt;
  std::size_t number = 0;
  std::memcpy(&number, value.get_binary().data(), sizeof number);
  return number;
}

void free_json(ParsedJson& value) {
  if (value.is_structured())
    for (ParsedJson& inner : value)
      if (inner.is_structured()) free_json(inner);
  if (value.is_array()) value.get_ref<ParsedJson::array_t&>().clear();
  value = nullptr;
}

const ParsedJson* member(const ParsedJson& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const ParsedJson& part_in(const ParsedJson& object, std::string_view key) {
  static const ParsedJson kNothing;
  const ParsedJson* value = member(object, key);
  return value != nullptr ? *value : kNothing;
}

const ParsedJson* list_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  return value != nullptr && value->is_array() ? value : nullptr;
}

const ParsedJson& items_in(const ParsedJson& object, std::string_view key) {
  static const ParsedJson kNoItems = ParsedJson::array();
  const ParsedJson* list = list_in(object, key);
  return list != nullptr ? *list : kNoItems;
}

const ParsedJson* object_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  return value != nullptr && value->is_object() ? value : nullptr;
}

std::string text_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

bool flag_in(const ParsedJson& object, std::string_view key, bool otherwise) {
  const ParsedJson* value = member(object, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::optional<double> number_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> unsigned_in(const ParsedJson& object, std::string_view key) {
  const ParsedJson* value = member(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

std::vector<std::string> texts_in(const ParsedJson& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const ParsedJson& item : items_in(object, key))
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

const ParsedJson* item_at(const ParsedJson& list, std::size_t index) {
  return list.is_array() && index < list.size() ? &list[index] : nullptr;
}

bool is_null(const ParsedJson& value) {
  return value.is_null();
}

bool is_object(const ParsedJson& value) {
  return value.is_object();
}

bool decode_value(const ParsedJson& there, bool& value) {
  if (!there.is_boolean()) return false;
  value = there.get<bool>();
  return true;
}

bool decode_value(const ParsedJson& there, double& value) {
  if (!there.is_number() || !std::isfinite(there.get<double>())) return false;
  value = there.get<double>();
  return true;
}

bool decode_value(const ParsedJson& there, std::uint64_t& value) {
  if (!there.is_number_unsigned()) return false;
  value = there.get<std::uint64_t>();
  return true;
}

bool decode_value(const ParsedJson& there, std::int64_t& value) {
  if (!there.is_number_integer()) return false;
  value = there.get<std::int64_t>();
  return true;
}

bool decode_value(const ParsedJson& there, std::string& value) {
  if (!there.is_string()) return false;
  value = there.get<std::string>();
  return true;
}

bool for_each_item(const ParsedJson& list, const std::function<void(const ParsedJson&)>& take) {
  if (!list.is_array()) return false;
  for (const ParsedJson& item : list) take(item);
  return true;
}

bool for_each_member(const ParsedJson& object,
                     const std::function<void(const std::string&, const ParsedJson&)>& take) {
  if (!object.is_object()) return false;
  for (const auto& [key, value] : object.items()) take(key, value);
  return true;
}

void encode_value(bool value, Json& to) {
  to = value;
}

void encode_value(double value, Json& to) {
  to = json_number(value);
}

void encode_value(std::uint64_t value, Json& to) {
  to = value;
}

void encode_value(std::int64_t value, Json& to) {
  to = value;
}

void encode_value(std::string_view value, Json& to) {
  to = value;
}

void encode_word(std::string_view word, Json& to) {
  to = json_text_or_null(word);
}

void make_object(Json& to) {
  to = Json::object();
}

void make_list(Json& to) {
  to = Json::array();
}

Json& add_member(Json& object, std::string_view key) {
  return object[std::string(key)];
}

Json& add_item(Json& list) {
  return list.emplace_back();
}

void add_string(std::string_view text, std::string& to) {
  const bool is_clean = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (is_clean)
    (to += '"').append(text) += '"';
  else
    to += dump(text, -1);
}

std::string json_string(std::string_view text) {
  std::string quoted;
  add_string(text, quoted);
  return quoted;
}

std::string json_real(double value) {
  // From 1e15 on, the library writes an exponent; fmt does so only for larger numbers.
  constexpr double large = 1e15;
  if (!(std::fabs(value) < large)) return dump(value, -1);
  std::string text = report::exact_decimal(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_text(const Json& json, int indent) {
  // dump() would allocate half a KB of blanks for each value.
  if (json.is_string()) return json_string(json.get_ref<const std::string&>());
  if (json.is_number_float()) return json_real(json.get<double>());
  if (json.is_number_unsigned()) return fmt::to_string(json.get<std::uint64_t>());
  if (json.is_number_integer()) return fmt::to_string(json.get<std::int64_t>());
  if (json.is_boolean()) return json.get<bool>() ? "true" : "false";
  if (json.is_null()) return "null";
  return dump(json, indent);
}

std::string filled_json_text(const std::function<void(Json&)>& fill, int indent) {
  Json json;
  fill(json);
  return json_text(json, indent);
}

void add_sample(std::optional<double> value, Unit unit, std::string& to) {
  if (!value || !std::isfinite(*value)) {
    to += "null"sv;
    return;
  }
  const bool is_whole = is_whole_number(*value);
  if (is_whole && !std::signbit(*value)) {
    const fmt::format_int digits(static_cast<std::uint64_t>(*value));
    to.append(digits.data(), digits.size());
  } else {
    to += report::exact_decimal(*value);
  }
  if (is_whole && !is_counted_in(unit)) to += ".0"sv;
}

Json json_sample(double value, Unit unit) {
  if (is_counted_in(unit) && is_whole_number(value)) return static_cast<std::int64_t>(value);
  return json_number(value);
}

Json json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json json_text_or_null(std::string_view word) {
  return word.empty() ? Json(nullptr) : Json(word);
}

void JsonWriter::begin_member(std::string_view key) {
  if (closing_brackets_.empty()) return;
  text_ += is_first_ ? "\n"sv : ",\n"sv;
  is_first_ = false;
  text_.append(2 * closing_brackets_.size(), ' ');
  if (closing_brackets_.back() != '}') return;
  add_string(key, text_);
  text_ += ": "sv;
}

void JsonWriter::flush_if_large() {
  constexpr std::size_t min_bytes_of_write = 4096;
  if (!closing_brackets_.empty() && text_.size() < min_bytes_of_write) return;
  sink_(text_);
  text_.clear();
}

void JsonWriter::open(std::string_view key, char bracket) {
  begin_member(key);
  text_ += bracket;
  closing_brackets_.push_back(bracket == '{' ? '}' : ']');
  is_first_ = true;
}

void JsonWriter::close() {
  const char bracket = closing_brackets_.back();
  closing_brackets_.pop_back();
  if (!is_first_) text_.append("\n").append(2 * closing_brackets_.size(), ' ');
  text_ += bracket;
  if (closing_brackets_.empty()) text_ += '\n';
  is_first_ = false;
  flush_if_large();
}

void JsonWriter::put_filled(std::string_view key, const std::function<void(Json&)>& fill) {
  Json value;
  fill(value);
  put(key, value);
}

void JsonWriter::put(std::string_view key, const Json& value) {
  begin_member(key);
  print(value, closing_brackets_.size(), text_);
  flush_if_large();
}

}  // namespace lauka
