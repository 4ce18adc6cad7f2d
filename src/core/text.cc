#include "core/text.h"

#include "core/program_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<std::uint64_t> parse_digits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || stop != end || error != std::errc{}) return std::nullopt;
  return value;
}

constexpr std::string_view kWordBlanks = " \t\n";
constexpr std::string_view kNotOrdinary =
    " \t\n'\"\\";  // characters with a meaning for split_words()
/// Before other characters, a backslash between double quotes is an ordinary character.
constexpr std::string_view kEscapedInDoubleQuotes = "$`\"\\\n";
/// A word of these characters alone needs no quotes.
constexpr std::string_view kSafeInShell =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

/// Returns the expansion that begins with the '$' at the beginning of `rest`, such as "$HOME", or
/// of a longer one its first two characters: "$(" or "${". Returns "" if the shell keeps the '$'.
std::string find_expansion(std::string_view rest) {
  if (rest.size() < 2) return "";
  if (rest[1] == '(' || rest[1] == '{') return std::string(rest.substr(0, 2));
  const auto* const end =
      std::find_if(rest.begin() + 1, rest.end(), [](char c) { return !is_letter(c) && c != '_'; });
  return end == rest.begin() + 1 ? "" : std::string(rest.begin(), end);
}

bool is_word_blank(char c) {
  return kWordBlanks.find(c) != std::string_view::npos;
}

/// Returns the braces at the beginning of `rest`, such as "{a,b}" or "{1..9}", which the shell
/// would replace by several words; "" if it would not.
std::string find_alternatives(std::string_view rest) {
  const std::string_view braces = rest.substr(0, rest.find('}') + 1);
  const bool has_several =
      braces.find(',') != std::string_view::npos || braces.find("..") != std::string_view::npos;
  const bool is_one_word = braces.find_first_of(" \t\n'\"", 1) == std::string_view::npos;
  return has_several && is_one_word ? std::string(braces) : "";
}

/// Returns the syntax of a shell that begins at the offset `at`; "" if none does.
std::string find_syntax(std::string_view text, std::size_t at, bool in_double_quotes) {
  const std::string_view rest = text.substr(at);
  if (rest.front() == '$') return find_expansion(rest);
  if (rest.front() == '`') return "`";
  if (in_double_quotes) return "";
  for (const std::string_view sign : {"&&", "||", "|", ">", "<", "*"})
    if (rest.starts_with(sign)) return std::string(sign);
  const bool ends_word = rest.size() == 1 || is_word_blank(rest[1]);
  const bool begins_word = at == 0 || is_word_blank(text[at - 1]);
  if (rest.front() == '~' && begins_word && (ends_word || rest[1] == '/')) return "~";
  if (rest.front() == '{') return find_alternatives(rest);
  if (rest.front() == '&' && ends_word) return "&";
  // find -exec needs a semicolon as its last word.
  const bool is_of_find = begins_word && rest.size() == 1 && text.starts_with("find ");
  return rest.front() == ';' && ends_word && !is_of_find ? ";" : "";
}

/// True if a word of `text` is a shell, and a later word is -c, alone or with other letters (-ec).
/// What is in its double quotes is that shell's to expand.
bool runs_shell(std::string_view text) {
  constexpr auto shells =
      std::to_array<std::string_view>({"sh", "bash", "zsh", "fish", "dash", "ksh", "nu"});
  const auto words = split_words(text);
  if (!words) return false;

  const auto is_shell = [&](std::string_view word) {
    return std::ranges::find(shells, word.substr(word.rfind('/') + 1)) != shells.end();
  };
  const auto takes_script = [](std::string_view word) {
    return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.ends_with('c');
  };
  const auto shell = std::ranges::find_if(*words, is_shell);
  return std::any_of(shell, words->end(), takes_script);
}

/// True if the character at `at` is a backslash that takes the meaning from the next character.
/// `quote`: the quote that is open; '\0' if none is. Between single quotes, no backslash does.
bool is_escape(std::string_view text, std::size_t at, char quote) {
  if (text[at] != '\\' || at + 1 == text.size()) return false;
  return quote == '\0' ||
         (quote == '"' && kEscapedInDoubleQuotes.find(text[at + 1]) != std::string_view::npos);
}

/// True if `c` opens a quote, or closes the quote `open`.
bool is_quote(char c, char open) {
  return open == '\0' ? c == '\'' || c == '"' : c == open;
}

Error make_unclosed_quote_error(char quote) {
  return {fmt::format("has a {} quote that is not closed", quote == '"' ? "double" : "single"),
          fmt::format("close it, or write \\{} for the character itself", quote)};
}

constexpr std::size_t kMaxShownBytes = OutputTail::kShown;
constexpr int kMaxShownLines = 20;

constexpr std::size_t kMaxCitedBytes = 400;
constexpr std::size_t kMaxLineBytes = 16'384;

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

struct CodeRange {
  char32_t first;
  char32_t last;
};

/// Characters that break lines, change the direction of text or hide in it.
constexpr auto kSteeringRanges = std::to_array<CodeRange>({
    {0x00, 0x1F},
    {0x7F, 0x9F},      // DEL and C1 controls
    {0x61C, 0x61C},    // Arabic letter mark
    {0x200E, 0x200F},  // left-to-right and right-to-left mark
    {0x2028, 0x202E},  // line and paragraph separator, embeddings and overrides
    {0x2066, 0x206F},  // isolates and deprecated format characters
    {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},    // interlinear annotations
    {0xE0000, 0xE007F},  // tags
});

bool is_steering(char32_t code) {
  return std::ranges::any_of(kSteeringRanges, [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

/// Returns how a character that is not shown itself is written: "\n", "\x07" or "\u202e".
std::string write_escape(char32_t code) {
  const auto number = static_cast<unsigned>(code);
  if (code == U'\n') return "\\n";
  if (code == U'\t') return "\\t";
  if (number < 0x100) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

/// True if a byte of UTF-8 continues the character before it, so that no text may be cut there.
bool is_continuation_byte(std::string_view text, std::size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80;
}

/// Returns the smallest number of insertions, deletions, replacements and swaps of neighbours that
/// turn `from` into `to` (optimal string alignment).
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> distances(from.size() + 1,
                                                  std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        distances[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = distances[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      distances[i][j] = std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        distances[i][j] = std::min(distances[i][j], distances[i - 2][j - 2] + 1);
    }
  }
  return distances[from.size()][to.size()];
}

struct SimilarName {
  std::size_t distance;
  bool contains_wanted;
  std::string name;
};

/// Returns the similar names, the most similar first. A name is similar if it contains the wanted
/// one, or if few letters differ: a third of them, and at least two.
std::vector<SimilarName> find_similar(std::string_view name,
                                      std::span<const std::string> candidates) {
  // A short name is contained in too many others, which says nothing.
  constexpr std::size_t min_length_of_part = 4;
  const std::string wanted = lower_case(name);
  const std::size_t max_distance = std::max<std::size_t>(2, wanted.size() / 3);
  std::vector<SimilarName> similar;
  for (const std::string& candidate : candidates) {
    const std::string lowered = lower_case(candidate);
    const bool contains_wanted =
        wanted.size() >= min_length_of_part && lowered.find(wanted) != std::string::npos;
    const std::size_t distance = edit_distance(wanted, lowered);
    if (contains_wanted || distance <= max_distance)
      similar.push_back(
          {.distance = distance, .contains_wanted = contains_wanted, .name = candidate});
  }
  std::ranges::stable_sort(similar, {}, &SimilarName::distance);
  return similar;
}

/// The words of a text, which are read part by part.
struct WordList {
  std::vector<std::string> ended{};
  std::optional<std::string> word{};  ///< nullopt between two words; "" after empty quotes

  void add_to_word(std::string_view more) {
    if (!word) word.emplace();
    word->append(more);
  }
  void end_word() {
    if (word) ended.push_back(*std::exchange(word, std::nullopt));
  }
};

/// Returns all characters from `at` up to the next one that may have a meaning.
std::string_view find_ordinary(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_of(kNotOrdinary, at + 1), text.size());
  return text.substr(at, end - at);
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

bool same_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> blank_separated(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;
       begin = text.find_first_not_of(kBlanks, begin)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto words = blank_separated(text);
  return std::ranges::find(words, word) != words.end();
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::string> find_value(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos || trimmed(line.substr(0, at)) != key) continue;
    std::string_view value = trimmed(line.substr(at + 1));
    const bool is_quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                           value.back() == value.front();
    return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_hex(text.substr(2));
  return parse_digits(text, 10);
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  return parse_digits(digits, 16);
}

std::string listed(std::span<const std::string> names, std::string_view last_word) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} {} {}", fmt::join(names.first(names.size() - 1), ", "), last_word,
                     names.back());
}

std::vector<std::string_view> wrapped(std::string_view text, std::size_t width) {
  constexpr auto none = std::string_view::npos;
  std::vector<std::string_view> lines;
  while (width > 0 && text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == none || end == 0) {
      const std::size_t comma = text.rfind(',', width - 1);
      end = comma == none ? text.find(' ', 1) : comma + 1;
    }
    if (end == none || end == 0) break;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
  lines.push_back(text);
  return lines;
}

std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates) {
  std::string_view best;
  // A third of the letters may be wrong, at least one. With more, the suggestion would be a guess.
  std::size_t best_distance = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const bool is_abbreviated = typed.size() > 1 && candidate.starts_with(typed);
    const std::size_t distance = is_abbreviated ? 0 : edit_distance(typed, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

// Finds names for a message such as "did you mean ...?". Upper and lower case are not
// distinguished.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates) {
  std::vector<SimilarName> similar = find_similar(name, candidates);

  // Names that are clearly less similar than the most similar one would only distract. Those that
  // contain the wanted name have a large distance only because they are long.
  constexpr std::size_t max_names = 3;  // a message with more of them is hard to read
  std::vector<std::string> names;
  for (SimilarName& candidate : similar) {
    if (names.size() == max_names) break;
    const bool is_less_similar = candidate.distance > similar.front().distance + 1;
    if (is_less_similar && !candidate.contains_wanted) continue;
    const bool is_listed = std::ranges::find(names, candidate.name) != names.end();
    if (!is_listed) names.push_back(std::move(candidate.name));
  }

  return names;
}

// Finds out if a command that runs without a shell would need one. Returns the first shell syntax
// that quotes do not protect, such as "$HOME"; "" if there is none.
std::string shell_syntax_in(std::string_view text) {
  // Most texts have none of the characters with which shell syntax begins.
  if (text.find_first_of("$`&|><*~{;") == std::string_view::npos) return "";

  // A command such as sh -c "echo $HOME" runs a shell itself, which expands what is in double
  // quotes.
  const bool inner_shell_expands = runs_shell(text);
  bool in_double_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;  // the character after a backslash has no special meaning
    } else if (c == '"') {
      in_double_quotes = !in_double_quotes;
    } else if (c == '\'' && !in_double_quotes) {
      // Single quotes protect everything up to the closing one, or else up to the end.
      i = text.find('\'', i + 1);
      if (i == std::string_view::npos) return "";
    } else if (in_double_quotes && inner_shell_expands) {
      continue;
    } else if (std::string found = find_syntax(text, i, in_double_quotes); !found.empty()) {
      return found;
    }
  }

  return "";
}

// Splits a text into words as a shell does, by blanks, quotes and backslashes, but expands nothing.
Result<std::vector<std::string>> split_words(std::string_view text) {
  constexpr char none = '\0';
  char open_quote = none;
  WordList words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (open_quote == none && is_word_blank(c)) {
      words.end_word();
    } else if (is_escape(text, at, open_quote)) {
      // The backslash is dropped. At the end of a line, the line's end is dropped, too, because the
      // backslash joins the line to the next one.
      ++at;
      const char escaped = text[at];
      if (escaped != '\n') words.add_to_word(text.substr(at, 1));
    } else if (c == '\\' && open_quote == none) {
      // Outside of quotes, only a backslash that ends the text escapes nothing.
      return Error{"ends in a backslash", "write \\\\ for the character itself"};
    } else if (is_quote(c, open_quote)) {
      open_quote = open_quote == none ? c : none;
      words.add_to_word("");  // a pair of quotes is a word even if nothing is between them
    } else {
      const std::string_view ordinary = find_ordinary(text, at);
      words.add_to_word(ordinary);
      at += ordinary.size() - 1;
    }
  }

  if (open_quote != none) return make_unclosed_quote_error(open_quote);
  words.end_word();
  return std::move(words.ended);
}

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kSafeInShell) == std::string_view::npos)
    return std::string(word);
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string shell_quoted(std::span<const std::string> words) {
  std::string result;
  for (const std::string& word : words) {
    result += result.empty() ? "" : " ";
    result += shell_quoted(word);
  }
  return result;
}

std::string last_lines_of(std::string text) {
  if (text.size() > kMaxShownBytes) {
    text.erase(0, text.size() - kMaxShownBytes);
    const std::size_t first_end = text.find('\n');
    if (first_end != std::string::npos && first_end + 1 < text.size()) text.erase(0, first_end + 1);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (int line = 0; line < kMaxShownLines && begin != std::string::npos && begin > 0; ++line)
    begin = text.rfind('\n', begin - 1);
  if (begin != std::string::npos && begin > 0) text.erase(0, begin + 1);
  return text;
}

void OutputTail::add(std::string_view bytes) {
  text_ += bytes.substr(bytes.size() - std::min(bytes.size(), 2 * kMaxShownBytes));
  // Keeps one byte more than is shown: from this, last_lines_of() knows that the first line is cut.
  if (text_.size() > 2 * kMaxShownBytes) text_.erase(0, text_.size() - kMaxShownBytes - 1);
}

std::string OutputTail::last_lines() const {
  return last_lines_of(text_);
}

Character first_character(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation_byte(text, i)) return {lead, 1, false};
    code = (code << 6U) | (byte_at(text, i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {lead, 1, false};
  return {code, bytes, true};
}

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.valid && !is_steering(character.code))
      result += text.substr(0, character.bytes);
    else
      result += write_escape(character.code);
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t front = most / 2;
  std::size_t back = text.size() - most / 2;
  while (front > 0 && is_continuation_byte(text, front)) --front;
  while (is_continuation_byte(text, back)) ++back;
  return std::string(text.substr(0, front)) + "…" + std::string(text.substr(back));
}

std::string cited(std::string_view text) {
  const bool is_quoted_inside = text.find('\'') != std::string_view::npos;
  const char* const quote =
      is_quoted_inside && text.find('"') == std::string_view::npos ? "\"" : "'";
  return quote + one_line(without_middle(text, kMaxCitedBytes)) + quote;
}

std::string message_line(std::string_view text) {
  return program_name() + ": " + one_line(without_middle(text, kMaxLineBytes)) + "\n";
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string path_seen_from(const std::string& folder, const std::string& path) {
  return folder.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

}  // namespace lauka
