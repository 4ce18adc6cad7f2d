#include "engine/kperf/kpep.h"

#include "core/text.h"
#include "os/files.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/locale/utf.hpp>
#include <fmt/format.h>

#include <expat.h>

namespace lauka::engine::kperf {

namespace {

std::uint64_t line_number(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
  return XML_GetCurrentLineNumber64(parser);
#else
  return XML_GetCurrentLineNumber(parser);
#endif
}

constexpr std::string_view kBinaryPlistMagic = "bplist00";
constexpr std::size_t kMaxPlistDepth = 64;

constexpr std::array<std::string_view, 10> kElements = {
    "dict", "array", "key", "string", "integer", "true", "false", "real", "date", "data"};

Error make_no_plist_error() {
  return {"is not a property list, or is damaged", ""};
}

Error make_depth_error() {
  return {fmt::format("is damaged: it nests more than {} elements", kMaxPlistDepth), ""};
}

/// An element whose end has not come yet.
struct OpenElement {
  std::string name;
  std::string text{};
  PlistValue value{};
  std::optional<std::string> key_without_value{};  ///< of a dictionary, while a value is expected

  /// True also of <plist>, the outermost element, which is an array of one value.
  bool is_array() const { return name == "plist" || name == "array"; }
  bool is_plist_with_value() const {
    return name == "plist" && !std::get<PlistArray>(value.content).empty();
  }
};

class XmlReader {
 public:
  Result<PlistValue> read(std::string_view bytes) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return make_no_plist_error();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    XML_SetStartDoctypeDeclHandler(parser_.get(), on_doctype);
    XML_SetSkippedEntityHandler(parser_.get(), on_entity);
    const auto parsed =
        XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), XML_TRUE);
    if (fault_) return *fault_;
    if (parsed != XML_STATUS_OK) return make_parse_error();
    return std::move(root_);
  }

 private:
  static XmlReader& reader_of(void* self) { return *static_cast<XmlReader*>(self); }
  static void XMLCALL on_start(void* self, const XML_Char* name, const XML_Char** /*attributes*/) {
    reader_of(self).open(name);
  }
  static void XMLCALL on_end(void* self, const XML_Char* /*name*/) { reader_of(self).close(); }
  static void XMLCALL on_text(void* self, const XML_Char* text, int length) {
    reader_of(self).add_text({text, static_cast<std::size_t>(length)});
  }
  static void XMLCALL on_doctype(void* self, const XML_Char* /*name*/, const XML_Char* /*system*/,
                                 const XML_Char* /*id*/, int has_declarations) {
    // A declared entity could expand to any number of elements.
    if (has_declarations != 0)
      reader_of(self).refuse("its document type declares more than a property list does");
  }
  static void XMLCALL on_entity(void* self, const XML_Char* name, int /*is_parameter*/) {
    reader_of(self).refuse(
        fmt::format("it names an entity {} that it does not declare", cited(name)));
  }

  static Error make_damage_error(const std::string& what) { return {"is damaged: " + what, ""}; }

  void refuse(const std::string& what) { fail(make_damage_error(what)); }

  void fail(Error error) {
    if (!fault_) fault_ = std::move(error);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  Error make_parse_error() const {
    const XML_Error code = XML_GetErrorCode(parser_.get());
    if (code == XML_ERROR_JUNK_AFTER_DOC_ELEMENT) return {"continues after </plist>", ""};
    if (open_elements_.empty()) return make_no_plist_error();
    const std::uint64_t at = line_number(parser_.get());
    if (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN)
      return {"ends without </plist>", ""};
    return {fmt::format("is damaged: {} in line {}", XML_ErrorString(code), at), ""};
  }

  /// Begins an element, which becomes the innermost open one. Refuses the file if it may not have
  /// this element here.
  void open(std::string_view name) {
    if (fault_) return;  // after a fault, expat may still report what it has read
    if (auto not_allowed = check_element(name)) return fail(*std::move(not_allowed));

    OpenElement& opened = open_elements_.emplace_back();
    opened.name = name;
    if (name == "dict") opened.value.content = PlistDict{};
    if (opened.is_array()) opened.value.content = PlistArray{};
  }

  /// Returns an error if an element may not begin inside the innermost open one; else nullopt.
  std::optional<Error> check_element(std::string_view name) const {
    const bool is_outermost = open_elements_.empty();
    if (is_outermost && name == "plist") return std::nullopt;
    if (is_outermost) return make_no_plist_error();

    if (std::ranges::find(kElements, name) == kElements.end()) {
      constexpr std::size_t max_quoted_bytes = 40;
      return make_damage_error(fmt::format("<{}> is not an element of a property list",
                                           name.substr(0, max_quoted_bytes)));
    }
    if (open_elements_.size() == kMaxPlistDepth) return make_depth_error();
    const OpenElement& outer = open_elements_.back();
    if (!may_contain(outer, name))
      return make_damage_error(fmt::format("<{}> is not expected in <{}>", name, outer.name));
    return std::nullopt;
  }

  static bool may_contain(const OpenElement& outer, std::string_view name) {
    const bool is_key = name == "key";
    if (outer.name == "dict") {
      // Keys and values alternate.
      const bool needs_value = outer.key_without_value.has_value();
      return is_key != needs_value;
    }
    return outer.is_array() && !outer.is_plist_with_value() && !is_key;
  }

  void add_text(std::string_view text) {
    if (fault_ || open_elements_.empty()) return;
    if (open_elements_.back().value.get<std::monostate>() != nullptr)
      open_elements_.back().text += text;
    else if (!trimmed(text).empty())
      refuse(fmt::format("there is text in <{}>", open_elements_.back().name));
  }

  /// Ends the innermost open element, and puts its value into the element around it.
  void close() {
    if (fault_) return;  // after a fault, expat may still report what it has read

    OpenElement closed = std::move(open_elements_.back());
    open_elements_.pop_back();

    if (closed.key_without_value) return refuse("a <key> has no value");

    // The outermost element, <plist>, is an array of one value, which is the content of the file.
    if (closed.name == "plist") {
      if (!closed.is_plist_with_value()) return refuse("its <plist> is empty");
      root_ = std::move(std::get<PlistArray>(closed.value.content).front());
      return;
    }

    if (closed.name == "key") {
      // The dictionary keeps the key until the value comes.
      OpenElement& dictionary = open_elements_.back();
      dictionary.key_without_value = std::move(closed.text);
      return;
    }

    set_value_from_text(closed);
    put_into(std::move(closed.value), open_elements_.back());
  }

  /// Sets the value of an element that has ended. Dictionaries and arrays already have their
  /// values. Dates, data and real numbers have none, because lauka needs none of them.
  void set_value_from_text(OpenElement& closed) {
    if (closed.name == "integer") {
      read_integer(closed);
    } else if (closed.name == "string") {
      closed.value.content = std::move(closed.text);
    } else if (closed.name == "true" || closed.name == "false") {
      closed.value.content = closed.name == "true";
    }
  }

  void read_integer(OpenElement& integer) {
    std::string_view digits = trimmed(integer.text);
    if (digits.empty()) return refuse("an <integer> is empty");
    const bool is_negative = digits.starts_with('-');
    if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
    const auto number = parse_number(digits);
    if (!number)
      return refuse(
          fmt::format("{} is not an <integer>", cited(trimmed(integer.text).substr(0, 40))));
    if (!is_negative) integer.value.content = *number;
  }

  static void put_into(PlistValue value, OpenElement& outer) {
    if (outer.is_array())
      return std::get<PlistArray>(outer.value.content).push_back(std::move(value));
    std::get<PlistDict>(outer.value.content)
        .emplace(*std::move(outer.key_without_value), std::move(value));
    outer.key_without_value.reset();
  }

  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_{XML_ParserCreate(nullptr)};
  std::vector<OpenElement> open_elements_;
  PlistValue root_;
  std::optional<Error> fault_;
};

// The binary format: a header of 8 bytes, objects, a table of their offsets, a trailer of 32 bytes.
// Arrays and dictionaries contain the numbers of their objects. Source: CoreFoundation,
// CFBinaryPList.c.

constexpr std::size_t kMaxValues = 1'000'000;
constexpr std::size_t kTrailerBytes = 32;

Error make_reference_error() {
  return {"is a damaged property list: it refers to an object that does not exist", ""};
}

Error make_text_error() {
  return {"is damaged: it has a string that is not text", ""};
}

// In UTF-16, a character above 0xffff is a pair of surrogates. Each of them has six bits that mark
// it as the first or the second one, and then ten bits of the character's number.
bool is_first_surrogate(std::uint64_t unit) {
  return unit >> 10U == 0x36;
}

bool is_second_surrogate(std::uint64_t unit) {
  return unit >> 10U == 0x37;
}

class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}

  Result<PlistValue> read() {
    if (bytes_.size() < kBinaryPlistMagic.size() + kTrailerBytes) return make_reference_error();
    // The trailer has 6 unused bytes, the sizes of an offset and of an object's number, the count
    // of objects, the number of the outermost object, and the place of the table of offsets.
    const std::size_t trailer = bytes_.size() - kTrailerBytes;
    offset_size_ = number_at(trailer + 6, 1).value_or(0);
    number_size_ = number_at(trailer + 7, 1).value_or(0);
    object_count_ = number_at(trailer + 8, 8).value_or(0);
    offset_table_at_ = number_at(trailer + 24, 8).value_or(0);
    return read_value(number_at(trailer + 16, 8).value_or(0), 0);
  }

 private:
  /// The upper half of a value's first byte, its marker. The lower half has the length.
  enum Kind : unsigned char {
    NoContent = 0x0,  ///< the marker is the whole value
    Integer = 0x1,
    Ascii = 0x5,
    Utf16 = 0x6,
    Array = 0xa,
    Dict = 0xd,
  };

  /// Reads a big-endian number of `size` bytes; nullopt if there is none.
  std::optional<std::uint64_t> number_at(std::size_t at, std::uint64_t size) const {
    if (size == 0 || size > 8 || at > bytes_.size() || size > bytes_.size() - at)
      return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8U | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  std::optional<std::size_t> read_offset(std::uint64_t index) const {
    if (index >= object_count_ || index > bytes_.size() || offset_table_at_ > bytes_.size())
      return std::nullopt;
    return number_at(offset_table_at_ + index * offset_size_, offset_size_);
  }

  /// Returns `length` or, if `length` is 15, the integer at `at`. Moves `at` past the integer.
  std::optional<std::size_t> read_length_at(std::size_t& at, std::uint64_t length) const {
    if (length != 0xf) return length;
    const auto marker = number_at(at, 1);
    if (!marker || *marker >> 4U != Integer || (*marker & 0xfU) > 3) return std::nullopt;
    const std::size_t size = std::size_t{1} << (*marker & 0xfU);
    const auto value = number_at(at + 1, size);
    at += 1 + size;
    return value;
  }

  /// The first byte of a value, of which the upper half is the kind, and where the content behind
  /// it begins.
  struct Marker {
    std::uint64_t kind = 0;
    std::uint64_t lower_half = 0;
    std::size_t content_at = 0;
  };

  /// Reads the marker of the object with the number `index`; nullopt if there is none.
  std::optional<Marker> read_marker(std::uint64_t index) const {
    const auto offset = read_offset(index);
    const auto marker = offset ? number_at(*offset, 1) : std::nullopt;
    if (!marker) return std::nullopt;
    return Marker{.kind = *marker >> 4U, .lower_half = *marker & 0xfU, .content_at = *offset + 1};
  }

  /// Reads the value of the object with the number `index`, and the values that it contains.
  /// `depth`: number of values around it. A value of a kind that lauka does not need, such as a
  /// date, is read as an empty value.
  Result<PlistValue> read_value(std::uint64_t index, std::size_t depth) {
    // In a damaged file, an object may contain itself, or may contain another one many times.
    if (depth > kMaxPlistDepth) return make_depth_error();
    ++values_read_;
    if (values_read_ > kMaxValues)
      return Error{fmt::format("is damaged: it has more than {} values", kMaxValues), ""};

    const auto marker = read_marker(index);
    if (!marker) return make_reference_error();
    switch (marker->kind) {
      case NoContent:
        return read_bool_or_empty(*marker);
      case Integer:
        return read_integer(*marker);
      case Ascii:
      case Utf16:
      case Array:
      case Dict:
        return read_value_with_length(*marker, depth);
      default:
        return PlistValue{};
    }
  }

  /// Returns a value that has no content besides its marker: true, false, or another one, which is
  /// empty.
  static PlistValue read_bool_or_empty(const Marker& marker) {
    constexpr std::uint64_t no = 8;
    constexpr std::uint64_t yes = 9;
    const bool is_bool = marker.lower_half == no || marker.lower_half == yes;
    return is_bool ? PlistValue{marker.lower_half == yes} : PlistValue{};
  }

  /// Reads a text, an array or a dictionary.
  Result<PlistValue> read_value_with_length(const Marker& marker, std::size_t depth) {
    // The lower half of the marker is the length. A length that is too large for it follows the
    // marker, and `content_at` is then moved behind it.
    std::size_t content_at = marker.content_at;
    const auto length = read_length_at(content_at, marker.lower_half);
    if (!length || *length > bytes_.size()) return make_reference_error();

    if (marker.kind == Array) return read_array_at(content_at, *length, depth);
    if (marker.kind == Dict) return read_dict_at(content_at, *length, depth);
    return read_text_at(content_at, *length, marker.kind == Utf16 ? 2 : 1);
  }

  /// Reads an integer. The lower half of its marker is the binary logarithm of its size in bytes.
  /// The value is empty if the integer is negative or needs more than 64 bits.
  Result<PlistValue> read_integer(const Marker& marker) const {
    const std::size_t at = marker.content_at;
    const std::uint64_t log = marker.lower_half;
    if (log > 4) return make_reference_error();
    if (log == 4 && number_at(at, 8) != 0) return PlistValue{};
    const auto value = number_at(log == 4 ? at + 8 : at, log == 4 ? 8 : std::uint64_t{1} << log);
    if (!value) return make_reference_error();
    return log == 3 && *value >> 63U != 0 ? PlistValue{} : PlistValue{*value};
  }

  /// Reads a text of `length` units that begins at `start`, and converts it to UTF-8. The units are
  /// bytes (ASCII), or pairs of bytes (big-endian UTF-16).
  Result<PlistValue> read_text_at(std::size_t start, std::size_t length,
                                  std::size_t bytes_per_unit) const {
    const std::size_t end = start + length * bytes_per_unit;
    std::string text;
    for (std::size_t at = start; at < end;) {
      const auto character = bytes_per_unit == 1 ? read_ascii_at(at) : read_utf16_at(at, end);
      if (!character) return character.error();
      boost::locale::utf::utf_traits<char>::encode(static_cast<char32_t>(*character),
                                                   std::back_inserter(text));
      const bool is_surrogate_pair = *character > 0xffff;
      at += is_surrogate_pair ? 2 * bytes_per_unit : bytes_per_unit;
    }
    return PlistValue{std::move(text)};
  }

  /// Returns the character at `at`. The names and descriptions of events have no zeros.
  Result<std::uint64_t> read_ascii_at(std::size_t at) const {
    const auto unit = number_at(at, 1);
    if (!unit) return make_reference_error();
    if (*unit > 0x7f || *unit == 0) return make_text_error();
    return *unit;
  }

  /// Returns the character that begins at `at`. The text ends at `end`, and has no zeros either.
  Result<std::uint64_t> read_utf16_at(std::size_t at, std::size_t end) const {
    constexpr std::size_t bytes_per_unit = 2;
    const auto unit = number_at(at, bytes_per_unit);
    if (!unit) return make_reference_error();
    if (is_second_surrogate(*unit) || *unit == 0) return make_text_error();
    if (!is_first_surrogate(*unit)) return *unit;

    const std::size_t second_at = at + bytes_per_unit;
    const auto second = second_at < end ? number_at(second_at, bytes_per_unit) : std::nullopt;
    if (!second || !is_second_surrogate(*second)) return make_text_error();
    return 0x10000 + ((*unit & 0x3ffU) << 10U) + (*second & 0x3ffU);
  }

  /// Reads the `i`-th of the objects whose numbers begin at `at`.
  Result<PlistValue> read_inner(std::size_t at, std::size_t i, std::size_t depth) {
    const auto index = number_at(at + i * number_size_, number_size_);
    if (!index) return make_reference_error();
    return read_value(*index, depth + 1);
  }

  Result<PlistValue> read_array_at(std::size_t at, std::size_t length, std::size_t depth) {
    PlistArray array;
    for (std::size_t i = 0; i < length; ++i) {
      auto value = read_inner(at, i, depth);
      if (!value) return value;
      array.push_back(*std::move(value));
    }
    return PlistValue{std::move(array)};
  }

  Result<PlistValue> read_dict_at(std::size_t at, std::size_t length, std::size_t depth) {
    PlistDict dict;
    for (std::size_t i = 0; i < length; ++i) {
      auto key = read_inner(at, i, depth);
      if (!key) return key;
      auto value = read_inner(at, length + i, depth);
      if (!value) return value;
      const auto* name = key->get<std::string>();
      if (name == nullptr) return Error{"is damaged: a key in it is not text", ""};
      dict.emplace(*name, *std::move(value));
    }
    return PlistValue{std::move(dict)};
  }

  std::string_view bytes_;
  std::uint64_t offset_size_ = 0;
  std::uint64_t number_size_ = 0;
  std::uint64_t object_count_ = 0;
  std::uint64_t offset_table_at_ = 0;
  std::size_t values_read_ = 0;
};

// The layout of kpep files. Sources: ibireme's kpc_demo and public decompilations of
// kperfdata.framework.

constexpr std::uint64_t kKnownVersion = 1;
constexpr std::uint64_t kMaxEventNumber = 0xffff;
constexpr std::uint64_t kMaxMask = 0xffffffff;
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

enum class Presence : unsigned char { Optional, Required };

/// An entry of a dictionary.
struct PlistField {
  std::string_view key{};
  std::string name{};  ///< as errors name it
  Presence presence = Presence::Optional;
};

class KpepParser {
 public:
  Result<KpepDatabase> parse(const PlistValue& root) {
    if (root.get<PlistDict>() == nullptr)
      return Error{"is not a kpep database: it holds no dictionary", ""};
    check_version(root.find("version"));
    database_.name = read_text(root, {"name", "name", Presence::Required});
    const PlistValue* system = root.find("system");
    const PlistValue* cpu = system == nullptr ? nullptr : system->find("cpu");
    if (cpu == nullptr || cpu->get<PlistDict>() == nullptr)
      refuse("is not a kpep database: it has no dictionary system.cpu");
    else
      read_cpu(*cpu);
    if (fault_) return *fault_;
    return std::move(database_);
  }

 private:
  void refuse(std::string what) {
    if (!fault_) fault_ = Error{std::move(what), ""};
  }

  void check_version(const PlistValue* version) {
    const auto* numbers = version == nullptr ? nullptr : version->get<PlistArray>();
    const bool are_two = numbers != nullptr && numbers->size() == 2;
    const auto* major = are_two ? numbers->front().get<std::uint64_t>() : nullptr;
    const auto* minor = are_two ? numbers->back().get<std::uint64_t>() : nullptr;
    if (major == nullptr || minor == nullptr)
      return refuse("is not a kpep database: its version is not a pair of numbers");
    if (*major != kKnownVersion)
      refuse(fmt::format("has version {}.{}, but lauka knows only version {}", *major, *minor,
                         kKnownVersion));
  }

  void read_cpu(const PlistValue& cpu) {
    const auto architecture =
        read_text(cpu, {"architecture", "system.cpu.architecture", Presence::Required});
    if (architecture != "arm64")
      refuse(fmt::format("is for the architecture {}, but lauka knows only arm64",
                         cited(architecture)));
    database_.marketing_name = read_text(cpu, {"marketing_name", "system.cpu.marketing_name"});
    database_.fixed_counters = read_counters(cpu, "fixed_counters", Presence::Required);
    database_.config_counters = read_counters(cpu, "config_counters", Presence::Required);
    database_.power_counters = read_counters(cpu, "power_counters", Presence::Optional);
    if ((database_.fixed_counters & database_.config_counters) != 0)
      refuse("has counters that are both fixed and configurable");
    read_events(cpu.find("events"));
    read_aliases(cpu.find("aliases"));
    std::ranges::sort(database_.events, {}, sort_key_of);
  }

  static std::tuple<bool, std::uint64_t, const std::string&> sort_key_of(const KpepEvent& event) {
    return {!event.is_fixed, event.is_fixed ? event.mask : event.selector_number, event.name};
  }

  CounterMask read_counters(const PlistValue& cpu, std::string_view key, Presence presence) {
    const std::uint64_t most = (std::uint64_t{1} << kMaxChipCounters) - 1;
    return static_cast<CounterMask>(
        read_number(cpu, {key, fmt::format("system.cpu.{}", key), presence}, most).value_or(0));
  }

  void read_events(const PlistValue* events) {
    const auto* dict = events == nullptr ? nullptr : events->get<PlistDict>();
    if (dict == nullptr) return refuse("has no dictionary system.cpu.events");
    if (dict->empty()) return refuse("has no events");
    for (const auto& [name, properties] : *dict) {
      if (properties.get<PlistDict>() == nullptr)
        return refuse(fmt::format("has an event {} that is not a dictionary", cited(name)));
      read_event(name, properties);
    }
  }

  /// Adds an event to the database. `properties` is what the file says about it. Invalid properties
  /// make the parser refuse the file, so it does not matter which event is added then.
  void read_event(const std::string& name, const PlistValue& properties) {
    if (!is_printable(name)) return refuse("has an event whose name has control characters");

    const auto read_event_text = [&](std::string_view key) {
      return read_text(properties, make_field_of_event(name, key));
    };
    KpepEvent event{.name = name,
                    .description = read_event_text("description"),
                    .errata = read_event_text("errata"),
                    .fallback = read_event_text("fallback")};
    set_counters(event, properties);
    database_.events.push_back(std::move(event));
  }

  static PlistField make_field_of_event(const std::string& event, std::string_view key,
                                        Presence presence = Presence::Optional) {
    return {
        .key = key, .name = fmt::format("{} of event {}", key, cited(event)), .presence = presence};
  }

  /// Sets which counters can count the event. A fixed counter counts only its own event. Any other
  /// event has a number, by which a counter is configured to count it. read_number() refuses the
  /// file if a required number is missing, or if a number is invalid.
  void set_counters(KpepEvent& event, const PlistValue& properties) {
    const auto fixed_counter = read_number(
        properties, make_field_of_event(event.name, "fixed_counter"), kMaxChipCounters - 1);
    event.is_fixed = fixed_counter.has_value();

    // An event on a fixed counter needs neither number nor mask, but invalid ones are refused.
    const Presence presence = event.is_fixed ? Presence::Optional : Presence::Required;
    const auto selector_number = read_number(
        properties, make_field_of_event(event.name, "number", presence), kMaxEventNumber);
    const auto mask =
        read_number(properties, make_field_of_event(event.name, "counters_mask"), kMaxMask);
    if (event.is_fixed) return set_fixed_counter(event, *fixed_counter);

    event.selector_number = static_cast<std::uint16_t>(selector_number.value_or(0));
    // Without a mask, each configurable counter can count the event. A mask may also name counters
    // that this processor lacks.
    const CounterMask all_configurable = database_.config_counters;
    event.mask = mask ? static_cast<CounterMask>(*mask) & all_configurable : all_configurable;
  }

  void set_fixed_counter(KpepEvent& event, std::uint64_t counter) {
    event.mask = CounterMask{1} << counter;
    if ((event.mask & database_.fixed_counters) == 0)
      refuse(fmt::format("has an event {} on the fixed counter {}, which does not exist",
                         cited(event.name), counter));
  }

  void read_aliases(const PlistValue* aliases) {
    if (aliases == nullptr) return;
    const auto* dict = aliases->get<PlistDict>();
    if (dict == nullptr) return refuse("has system.cpu.aliases that are not a dictionary");
    for (const auto& [alias, target] : *dict) {
      const auto* name = target.get<std::string>();
      if (name == nullptr)
        return refuse(fmt::format("has an alias {} that does not name an event", cited(alias)));
      const auto event = std::ranges::find(database_.events, *name, &KpepEvent::name);
      if (event == database_.events.end())
        return refuse(fmt::format("has an alias {} for {}, which is not one of its events",
                                  cited(alias), cited(*name)));
      if (!event->alias.empty())
        return refuse(fmt::format("has two aliases for {}: {} and {}", cited(*name),
                                  cited(event->alias), cited(alias)));
      if (!is_printable(alias)) return refuse("has an alias with control characters");
      event->alias = alias;
    }
  }

  std::string read_text(const PlistValue& dict, const PlistField& field) {
    const PlistValue* found = dict.find(field.key);
    const auto* value = found == nullptr ? nullptr : found->get<std::string>();
    if (found == nullptr && field.presence == Presence::Required)
      refuse(fmt::format("is not a kpep database: it has no {}", field.name));
    else if (found != nullptr && value == nullptr)
      refuse(fmt::format("is damaged: {} is not text", field.name));
    else if (value != nullptr && !is_printable(*value))
      refuse(fmt::format("is damaged: {} has control characters", field.name));
    return value == nullptr ? std::string() : *value;
  }

  std::optional<std::uint64_t> read_number(const PlistValue& dict, const PlistField& field,
                                           std::uint64_t most) {
    const PlistValue* found = dict.find(field.key);
    if (found == nullptr) {
      if (field.presence == Presence::Required)
        refuse(fmt::format("is damaged: there is no {}", field.name));
      return std::nullopt;
    }

    const auto* value = found->get<std::uint64_t>();
    if (value == nullptr)
      refuse(fmt::format("is damaged: {} is not a number", field.name));
    else if (*value > most)
      refuse(fmt::format("is damaged: {} is out of range (at most {})", field.name, most));
    else
      return *value;
    return std::nullopt;
  }

  KpepDatabase database_;
  std::optional<Error> fault_;
};

Error name_file_in(const std::string& path, const Error& error) {
  return Error{fmt::format("{} {}", cited(path), error.what),
               error.remedy.empty() ? "name a .plist from a Mac's /usr/share/kpep" : error.remedy};
}

}  // namespace

const PlistValue* PlistValue::find(std::string_view key) const {
  const auto* dict = get<PlistDict>();
  if (dict == nullptr) return nullptr;
  const auto found = dict->find(key);
  return found == dict->end() ? nullptr : &found->second;
}

Result<PlistValue> read_plist(std::string_view bytes) {
  return bytes.starts_with(kBinaryPlistMagic) ? BinaryReader(bytes).read()
                                              : XmlReader().read(bytes);
}

std::size_t rank_of_counter(CounterMask counters, unsigned counter) {
  return static_cast<std::size_t>(std::popcount(counters & ((CounterMask{1} << counter) - 1)));
}

std::string counters_in_words(CounterMask counters) {
  std::vector<std::string> ranges;
  while (counters != 0) {
    const int first = std::countr_zero(counters);
    const int length = std::countr_one(counters >> first);
    ranges.push_back(length == 1 ? fmt::format("PMC{}", first)
                                 : fmt::format("PMC{}-{}", first, first + length - 1));
    const int next = first + length;
    counters = next < 32 ? counters >> next << next : 0;
  }
  return ranges.empty() ? "no counter" : listed(ranges);
}

const KpepEvent* find_event(const KpepDatabase& database, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& events = database.events;
  auto found = std::ranges::find_if(
      events, [name](const KpepEvent& event) { return same_ignoring_case(event.alias, name); });
  if (found == events.end())
    found = std::ranges::find_if(
        events, [name](const KpepEvent& event) { return same_ignoring_case(event.name, name); });
  return found == events.end() ? nullptr : &*found;
}

Result<KpepDatabase> kpep_from(const PlistValue& root) {
  return KpepParser().parse(root);
}

Result<KpepDatabase> load_kpep(const std::string& path) {
  const auto bytes = os::read_file(path, kMaxFileBytes);
  if (!bytes) return name_file_in(path, bytes.error());
  const auto root = read_plist(*bytes);
  if (!root) return name_file_in(path, root.error());
  auto database = kpep_from(*root);
  if (!database) return name_file_in(path, database.error());
  return database;
}

std::string kpep_name_of_cpu(std::uint32_t type, std::uint32_t subtype, std::uint32_t family) {
  return fmt::format("cpu_{:x}_{:x}_{:x}", type, subtype, family);
}

std::vector<std::string> kpep_paths(std::string_view cpu) {
  return {fmt::format("/usr/local/share/kpep/{}.plist", cpu),
          fmt::format("/usr/share/kpep/{}.plist", cpu)};
}

Result<KpepDatabase> load_kpep_for(std::string_view cpu, const std::vector<std::string>& paths,
                                   const std::string& remedy) {
  const auto found = std::ranges::find_if(paths, os::is_there);
  if (found == paths.end())
    return Error{fmt::format("there is no kpep database for this processor, {}", cpu), remedy};
  return load_kpep(*found);
}

}  // namespace lauka::engine::kperf
