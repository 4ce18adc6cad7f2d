#include "os/demangle.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <cxxabi.h>

namespace lauka::os {

namespace {

/// Demangles symbols of Rust's v0 scheme (RFC 2603).
class RustName {
 public:
  explicit RustName(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    path(true);
    return failed_ || out_.empty() ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  static constexpr std::size_t kMaxBytes = 4096;
  static constexpr std::size_t kMaxDepth = 64;

  void fail() {
    failed_ = true;
    at_ = text_.size();
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char next() {
    if (at_ < text_.size()) return text_[at_++];
    fail();
    return '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void put(std::string_view text) {
    if (is_silent_) return;
    out_ += text;
    if (out_.size() > kMaxBytes) fail();
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::uint64_t base62() {
    if (take('_')) return 0;
    std::uint64_t value = 0;
    while (!failed_) {
      const char c = next();
      if (c == '_') return value + 1;
      std::uint64_t digit = 0;
      if (is_digit(c))
        digit = static_cast<std::uint64_t>(c - '0');
      else if (c >= 'a' && c <= 'z')
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'Z')
        digit = static_cast<std::uint64_t>(c - 'A') + 36;
      else
        fail();
      value = value * 62 + digit;
    }
    return 0;
  }

  std::uint64_t disambiguator() { return take('s') ? base62() + 1 : 0; }

  std::string_view bytes() {
    take('u');  // Punycode, which is shown unchanged
    if (!is_digit(peek())) {
      fail();
      return {};
    }
    std::size_t length = 0;
    const bool is_zero = take('0');
    while (!is_zero && is_digit(peek()) && length < text_.size())
      length = length * 10 + static_cast<std::size_t>(next() - '0');
    take('_');
    if (length > text_.size() - at_) {
      fail();
      return {};
    }
    at_ += length;
    return text_.substr(at_ - length, length);
  }

  template <typename Read>
  void refer_back(Read read) {
    const std::size_t here = at_ - 1;
    const std::uint64_t to = base62();
    if (failed_ || to >= here || depth_ > kMaxDepth) return fail();
    const std::size_t after = std::exchange(at_, static_cast<std::size_t>(to));
    read();
    if (!failed_) at_ = after;
  }

  void skip_impl_path() {
    disambiguator();
    const bool was_silent = std::exchange(is_silent_, true);
    path(false);
    is_silent_ = was_silent;
  }

  bool path(bool in_value, bool keeps_open = false) {
    bool is_open = false;
    if (++depth_ > kMaxDepth) fail();
    switch (next()) {
      case 'C':
        disambiguator();
        put(bytes());
        break;
      case 'M':
        skip_impl_path();
        put("<");
        type();
        put(">");
        break;
      case 'X':
        skip_impl_path();
        [[fallthrough]];
      case 'Y':
        put("<");
        type();
        put(" as ");
        path(false);
        put(">");
        break;
      case 'N':
        nested(in_value);
        break;
      case 'I':
        path(in_value);
        put(in_value ? "::<" : "<");
        list([this] { generic_argument(); });
        is_open = keeps_open;
        if (!is_open) put(">");
        break;
      case 'B':
        refer_back([&] { is_open = path(in_value, keeps_open); });
        break;
      default:
        fail();
    }
    --depth_;
    return is_open;
  }

  void nested(bool in_value) {
    const char space = next();
    path(in_value);
    const std::uint64_t number = disambiguator();
    const std::string_view name = bytes();
    if (space >= 'a' && space <= 'z') {
      if (!name.empty()) put("::");
      return put(name);
    }
    put("::{");
    put(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
    if (!name.empty()) put(":");
    put(name);
    put("#");
    put(std::to_string(number));
    put("}");
  }

  template <typename Read>
  std::size_t list(Read read) {
    std::size_t count = 0;
    for (; !failed_ && !take('E'); ++count) {
      if (count > 0) put(", ");
      read();
    }
    return count;
  }

  void lifetime() {
    const std::uint64_t number = base62();
    if (number == 0) return put("'_");
    put("'");
    const auto place = static_cast<char>('a' + (binders_ >= number ? binders_ - number : 0) % 26);
    put({&place, 1});
  }

  void generic_argument() {
    if (take('L')) return lifetime();
    if (take('K')) return constant();
    type();
  }

  static std::string_view basic_type(char c) {
    constexpr std::array<std::string_view, 26> names = {
        "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
        "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
        "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
    return c >= 'a' && c <= 'z' ? names.at(static_cast<std::size_t>(c - 'a')) : std::string_view();
  }

  void type() {
    if (++depth_ > kMaxDepth) fail();
    const char c = next();
    if (const auto name = basic_type(c); !name.empty())
      put(name);
    else
      composed_type(c);
    --depth_;
  }

  void composed_type(char c) {
    switch (c) {
      case 'R':
      case 'Q':
        put("&");
        if (take('L') && peek() != '_') {
          lifetime();
          put(" ");
        } else if (text_[at_ - 1] == 'L') {
          base62();
        }
        if (c == 'Q') put("mut ");
        return type();
      case 'P':
      case 'O':
        put(c == 'P' ? "*const " : "*mut ");
        return type();
      case 'A':
      case 'S':
        put("[");
        type();
        if (c == 'A') {
          put("; ");
          constant();
        }
        return put("]");
      case 'T': {
        put("(");
        if (list([this] { type(); }) == 1) put(",");
        return put(")");
      }
      case 'F':
        return function_type();
      case 'D':
        return trait_object();
      case 'B':
        return refer_back([this] { type(); });
      default:
        --at_;
        path(false);
    }
  }

  void binder() {
    if (take('G')) binders_ += base62() + 1;
  }

  void function_type() {
    const std::uint64_t outer = binders_;
    binder();
    if (take('U')) put("unsafe ");
    if (take('K')) {
      put("extern \"");
      put(take('C') ? std::string_view("C") : bytes());
      put("\" ");
    }
    put("fn(");
    list([this] { type(); });
    put(")");
    if (!take('u')) {
      put(" -> ");
      type();
    }
    binders_ = outer;
  }

  void trait_object() {
    const std::uint64_t outer = binders_;
    put("dyn ");
    binder();
    for (std::size_t count = 0; !failed_ && !take('E'); ++count) {
      if (count > 0) put(" + ");
      bool is_open = path(false, true);
      while (take('p')) {
        put(is_open ? ", " : "<");
        is_open = true;
        put(bytes());
        put(" = ");
        type();
      }
      if (is_open) put(">");
    }
    binders_ = outer;
    if (!take('L')) return fail();
    if (peek() == '_') {
      base62();
    } else {
      put(" + ");
      lifetime();
    }
  }

  void constant() {
    if (take('p')) return put("_");
    if (take('B')) return refer_back([this] { constant(); });
    const char kind = next();
    if (basic_type(kind).empty()) return fail();
    if (take('n')) put("-");
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; !failed_ && !take('_'); ++digits) {
      const char c = next();
      if (!is_digit(c) && (c < 'a' || c > 'f')) return fail();
      value = value * 16 + static_cast<std::uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    constexpr std::size_t most_digits = 16;
    if (digits > most_digits) return put("_");
    if (kind == 'b') return put(value != 0 ? "true" : "false");
    put(std::to_string(value));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::uint64_t binders_ = 0;
  bool is_silent_ = false;
  bool failed_ = false;
  std::string out_;
};

std::optional<std::string> by_library(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? std::optional<std::string>(name.get()) : std::nullopt;
}

/// Returns `symbol` up to the E after the hash of Rust's old scheme: "_ZN1a1b17h0123456789abcdefE".
/// Empty if the symbol has no such hash.
std::string_view old_rust_part(std::string_view symbol) {
  constexpr std::size_t digits = 16;
  const std::size_t hash = symbol.rfind("17h");
  if (hash == std::string_view::npos || symbol.size() < hash + 3 + digits + 1) return {};
  if (symbol.substr(hash + 3, digits).find_first_not_of("0123456789abcdef") !=
      std::string_view::npos)
    return {};
  return symbol[hash + 3 + digits] == 'E' ? symbol.substr(0, hash + 3 + digits + 1)
                                          : std::string_view();
}

bool take_escape(std::string_view& name, std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> escapes = {{{"$LT$", "<"},
                                                                                     {"$GT$", ">"},
                                                                                     {"$RF$", "&"},
                                                                                     {"$BP$", "*"},
                                                                                     {"$LP$", "("},
                                                                                     {"$RP$", ")"},
                                                                                     {"$SP$", "@"},
                                                                                     {"$C$", ","},
                                                                                     {"..", "::"}}};
  for (const auto& [from, to] : escapes) {
    if (!name.starts_with(from)) continue;
    text += to;
    name.remove_prefix(from.size());
    return true;
  }
  return false;
}

/// Removes the hash and replaces the escapes in a name of Rust's old scheme. Returns
/// "<T as a::B>::c" for "_$LT$T$u20$as$u20$a..B$GT$::c::h0123456789abcdef".
std::string unescaped(std::string_view name) {
  name = name.substr(0, name.rfind("::h"));
  std::string text;
  while (!name.empty()) {
    if (take_escape(name, text)) continue;
    const bool begins = text.empty() || text.ends_with("::");
    const std::size_t end = name.starts_with("$u") ? name.find('$', 2) : std::string_view::npos;
    if (end != std::string_view::npos && end <= 6) {
      const unsigned long code =
          std::strtoul(std::string(name.substr(2, end - 2)).c_str(), nullptr, 16);
      constexpr unsigned long first_printed = 32;
      constexpr unsigned long last_printed = 126;
      if (code >= first_printed && code <= last_printed) text += static_cast<char>(code);
      name.remove_prefix(end + 1);
    } else if (begins && name.starts_with("_$")) {
      name.remove_prefix(1);
    } else {
      text += name.front();
      name.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::string demangled(std::string_view symbol) {
  if (symbol.starts_with("_R"))
    if (auto name = RustName(symbol.substr(2)).read()) return *std::move(name);
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  const std::string_view rust = old_rust_part(symbol);
  const auto name = by_library(std::string(rust.empty() ? symbol : rust));
  if (!name) return std::string(symbol);
  return rust.empty() ? *name : unescaped(*name);
}

}  // namespace lauka::os
