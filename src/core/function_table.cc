#include "core/function_table.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace lauka {

namespace {

/// True if `text` can be the hash that Rust puts at the end of a function's name.
bool is_rust_hash(std::string_view text) {
  constexpr std::size_t digits = 16;
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Words with which compilers name a copy of a function: "parse.constprop.0", "parse.cold".
constexpr auto kCloneWords = std::to_array<std::string_view>(
    {"constprop", "isra", "part", "cold", "lto_priv", "llvm", "__uniq", "localalias", "ipa"});

bool is_clone_word(std::string_view word) {
  return std::ranges::find(kCloneWords, word) != kCloneWords.end();
}

/// Ends `name` at the offset `end`. Returns false, and leaves `name` as it is, if nothing would be
/// left or `end` is npos.
bool shorten_to(std::string_view& name, std::size_t end) {
  if (end == std::string_view::npos || end == 0) return false;
  name = name.substr(0, end);
  return true;
}

// Each of the next functions removes one mark at the end of `name`. Returns false, and leaves
// `name` as it is, if `name` has no such mark.

/// Removes ".cold", or ".constprop.0" with its number.
bool remove_clone(std::string_view& name) {
  const std::size_t last_dot = name.rfind('.');
  if (last_dot == std::string_view::npos) return false;
  const std::string_view last = name.substr(last_dot + 1);
  if (is_clone_word(last)) return shorten_to(name, last_dot);

  if (last.empty() || !std::ranges::all_of(last, is_digit)) return false;
  const std::string_view before_number = name.substr(0, last_dot);
  const std::size_t word_dot = before_number.rfind('.');
  return word_dot != std::string_view::npos && is_clone_word(before_number.substr(word_dot + 1)) &&
         shorten_to(name, word_dot);
}

/// Removes " [clone .cold]".
bool remove_demangled_clone(std::string_view& name) {
  constexpr std::string_view mark = " [clone .";
  return name.ends_with(']') && shorten_to(name, name.rfind(mark));
}

/// Removes the version of a library's symbol: "@GLIBC_2.2.5", or "@@GLIBC_2.14" for the default.
bool remove_version(std::string_view& name) {
  const std::size_t at = name.rfind('@');
  const auto is_of_version = [](char c) {
    return is_digit(c) || is_letter(c) || c == '_' || c == '.';
  };
  if (at == std::string_view::npos || !std::ranges::all_of(name.substr(at + 1), is_of_version) ||
      !shorten_to(name, at))
    return false;
  while (name.ends_with('@')) name.remove_suffix(1);
  return true;
}

/// Removes "::h0123456789abcdef".
bool remove_rust_hash(std::string_view& name) {
  constexpr std::string_view mark = "::h";
  const std::size_t at = name.rfind(mark);
  return at != std::string_view::npos && is_rust_hash(name.substr(at + mark.size())) &&
         shorten_to(name, at);
}

/// Returns "_ZN1a1bE" for "_ZN1a1b17h0123456789abcdefE"; nullopt for names without a hash. 17 is
/// the length of the "h" and the hash.
std::optional<std::string> without_mangled_hash(std::string_view name) {
  constexpr std::string_view mark = "17h";
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || !name.starts_with("_ZN") || !name.ends_with('E'))
    return std::nullopt;
  const std::size_t hash_begin = at + mark.size();
  if (!is_rust_hash(name.substr(hash_begin, name.size() - 1 - hash_begin))) return std::nullopt;
  return std::string(name.substr(0, at)) + "E";
}

/// Words that mark the variants of a function that glibc has for certain processors.
constexpr auto kVariantWords = std::to_array<std::string_view>(
    {"sse2",   "sse3",   "ssse3",    "sse4",      "sse41",  "sse42",      "avx",     "avx2",
     "avx512", "evex",   "evex512",  "erms",      "fma",    "fma4",       "sve",     "mops",
     "neon",   "a64fx",  "thunderx", "thunderx2", "falkor", "kunpeng920", "generic", "nosimd",
     "power8", "power9", "power10",  "z13",       "z14",    "emag"});

/// The functions of which the GNU C library 2.40 has variants, on any processor. Variants of a
/// program's own function, such as "__decode_generic" of "decode", are functions of their own.
constexpr auto kVariedFunctions = std::to_array<std::string_view>(
    {"acos",       "acosf",        "acosh",         "asin",        "asinf",      "asinh",
     "atan",       "atan2",        "atan2f",        "atanf",       "atanh",      "bcopy",
     "bzero",      "cbrt",         "ceil",          "ceilf",       "copysign",   "cos",
     "cosf",       "cosh",         "coshf",         "erf",         "erfc",       "exp",
     "exp1",       "exp10",        "exp10f",        "exp2",        "exp2f",      "expf",
     "expm1",      "expm1f",       "finite",        "floor",       "floorf",     "fma",
     "fmaf",       "gettimeofday", "hypot",         "hypotf",      "isinf",      "isnan",
     "llrint",     "llround",      "log",           "log10",       "log10f",     "log1p",
     "log1pf",     "log2",         "log2f",         "logb",        "logf",       "lrint",
     "lround",     "memccpy",      "memchr",        "memcmp",      "memcmpeq",   "memcpy",
     "memcpy_chk", "memmem",       "memmove",       "memmove_chk", "mempcpy",    "mempcpy_chk",
     "memrchr",    "memset",       "memset_chk",    "memset_zero", "modf",       "modff",
     "nearbyint",  "nearbyintf",   "pow",           "powf",        "rawmemchr",  "rint",
     "rintf",      "round",        "roundeven",     "roundevenf",  "roundf",     "sin",
     "sincos",     "sincosf",      "sinf",          "sinh",        "sinhf",      "stpcpy",
     "stpncpy",    "strcasecmp",   "strcasecmp_l",  "strcasestr",  "strcat",     "strchr",
     "strchrnul",  "strcmp",       "strcpy",        "strcspn",     "strlen",     "strncase",
     "strncase_l", "strncasecmp",  "strncasecmp_l", "strncat",     "strncmp",    "strncpy",
     "strnlen",    "strpbrk",      "strrchr",       "strspn",      "strstr",     "tan",
     "tanf",       "tanh",         "tanhf",         "time",        "trunc",      "truncf",
     "wcschr",     "wcscmp",       "wcscpy",        "wcslen",      "wcsncmp",    "wcsnlen",
     "wcsrchr",    "wmemchr",      "wmemcmp",       "wmemset",     "wmemset_chk"});

static_assert(std::ranges::is_sorted(kVariedFunctions));

bool has_variants(std::string_view name) {
  constexpr std::string_view libm_prefix = "ieee754_";  // as in "__ieee754_pow_fma"
  if (name.starts_with(libm_prefix)) name.remove_prefix(libm_prefix.size());
  return std::ranges::binary_search(kVariedFunctions, name);
}

/// Returns "memcpy" for "__memcpy_avx_unaligned_erms", and for "memcpy_ifunc", which chooses the
/// variant; nullopt if `name` is not one of these.
std::optional<std::string_view> find_varied_function(std::string_view name) {
  constexpr std::string_view chooser_suffix = "_ifunc";
  if (name.ends_with(chooser_suffix) &&
      has_variants(name.substr(0, name.size() - chooser_suffix.size())))
    return name.substr(0, name.size() - chooser_suffix.size());
  if (!name.starts_with("__")) return std::nullopt;

  // A function's own name may have an underscore, so each place where the name could end is tried.
  name.remove_prefix(2);
  for (std::size_t end = name.find('_', 1); end != std::string_view::npos;
       end = name.find('_', end + 1)) {
    const std::string_view function = name.substr(0, end);
    const std::string_view rest = name.substr(end + 1);
    const std::string_view word = rest.substr(0, rest.find('_'));
    const bool is_variant_word = std::ranges::find(kVariantWords, word) != kVariantWords.end();
    if (is_variant_word && has_variants(function)) return function;
  }
  return std::nullopt;
}

/// Removes the digits at the end of `text`. Returns their number; nullopt, and leaves `text` as it
/// is, if there are none, or too many for a number.
std::optional<std::uint64_t> take_number_at_end(std::string_view& text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  const auto number = parse_number(text.substr(begin));
  if (number) text = text.substr(0, begin);
  return number;
}

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || is_letter(c) || c == '_'; });
}

/// Moves the number at the end of `name` to the beginning of `numbers`, if it follows `before`.
/// `removed_bytes`: how many characters at the end of `before` go with the number. Returns false if
/// nothing is moved.
bool take_number_after(std::string_view& name, std::string_view before, std::size_t removed_bytes,
                       std::vector<std::uint64_t>& numbers) {
  std::string_view rest = name;
  const auto number = take_number_at_end(rest);
  if (!number || !rest.ends_with(before) || rest.size() <= before.size()) return false;
  rest.remove_suffix(removed_bytes);
  name = rest;
  numbers.insert(numbers.begin(), *number);
  return true;
}

/// OCaml: "camlProg__parse_81", "camlProg.parse_81", and with flambda 2 "camlProg__parse_0_3_code".
bool take_ocaml_numbers(std::string_view& name, std::vector<std::uint64_t>& numbers) {
  constexpr std::string_view prefix = "caml";
  constexpr std::string_view suffix = "_code";

  // A module's name begins with a capital letter. Without one, it is a function of another
  // language.
  if (!name.starts_with(prefix) || name.size() <= prefix.size()) return false;
  const char first_of_module = name[prefix.size()];
  if (first_of_module < 'A' || first_of_module > 'Z') return false;

  std::string_view rest = name;
  if (rest.ends_with(suffix)) rest.remove_suffix(suffix.size());
  bool is_found = false;
  while (take_number_after(rest, "_", 1, numbers)) is_found = true;
  if (is_found) name = rest;
  return is_found;
}

/// Nim: "parse__main_u123".
bool take_nim_number(std::string_view& name, std::vector<std::uint64_t>& numbers) {
  constexpr std::string_view mark = "_u";
  const std::size_t module = name.rfind("__");
  if (module == 0 || module == std::string_view::npos) return false;
  std::string_view rest = name.substr(module + 2);
  std::vector<std::uint64_t> found;
  if (!take_number_after(rest, mark, mark.size(), found) || !is_word(rest)) return false;
  numbers.insert(numbers.begin(), found.begin(), found.end());
  name = name.substr(0, module + 2 + rest.size());
  return true;
}

/// V8: "JS:*hot /path/app.js:1:13". The folder is left out, too, as two checkouts differ in it.
std::optional<NumberedName> split_place_of_script(std::string_view name) {
  constexpr auto tags = std::to_array<std::string_view>(
      {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:", "RegExp:"});
  if (std::ranges::none_of(tags, [&](std::string_view tag) { return name.starts_with(tag); }))
    return std::nullopt;
  NumberedName split;
  std::string_view rest = name;
  while (split.numbers.size() < 2 && take_number_after(rest, ":", 1, split.numbers)) {
  }
  const std::size_t blank = rest.find(' ');
  if (split.numbers.empty() || blank == std::string_view::npos) return std::nullopt;
  const std::size_t file_begin = std::max(rest.rfind('/') + 1, blank + 1);
  split.without_numbers = std::string(rest.substr(0, blank + 1)).append(rest.substr(file_begin));
  return split;
}

/// A word before a number that a compiler gives to a function without a name: zig ("__anon_12"), Go
/// ("main.main.func1"), clang ("___block_invoke_2"), Java ("$$Lambda$7").
struct NumberedWord {
  std::string_view before{};
  std::string_view word{};
};

constexpr auto kNumberedWords = std::to_array<NumberedWord>({{"__", "anon_"},
                                                             {"__", "struct_"},
                                                             {"__", "enum_"},
                                                             {"__", "union_"},
                                                             {"__", "opaque_"},
                                                             {".", "func"},
                                                             {".", "gowrap"},
                                                             {".", "deferwrap"},
                                                             {"_", "block_invoke_"},
                                                             {"$$", "Lambda$"}});

/// Returns the number of digits at the beginning of `text`.
std::size_t count_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// Returns the length of a word of kNumberedWords at the beginning of `text`, with what is before
/// it; 0 if there is none.
std::size_t find_numbered_word_length(std::string_view text) {
  for (const NumberedWord& word : kNumberedWords)
    if (text.starts_with(word.before) && text.substr(word.before.size()).starts_with(word.word))
      return word.before.size() + word.word.size();
  return 0;
}

/// A number that a compiler put inside of a name, with the word or the '#' before it.
struct InnerNumber {
  std::string_view mark{};
  std::uint64_t number = 0;
  std::size_t length = 0;  ///< of mark and digits
};

/// Returns the number at the beginning of `text`; nullopt if there is none. It follows a word of
/// kNumberedWords, or is between "#" and "}" as in Rust's "{closure#2}" and C++'s
/// "{lambda(int)#2}".
std::optional<InnerNumber> find_inner_number(std::string_view text) {
  const std::size_t word_length = find_numbered_word_length(text);
  const bool has_word = word_length > 0;
  if (!has_word && !text.starts_with('#')) return std::nullopt;

  const std::size_t mark_length = has_word ? word_length : 1;
  const std::size_t digit_count = count_digits(text.substr(mark_length));
  const std::size_t length = mark_length + digit_count;

  // After a word, letters behind the digits would make them a part of a programmer's own name.
  const std::string_view rest = text.substr(length);
  const bool has_end = has_word ? !is_word(rest.substr(0, 1)) : rest.starts_with('}');
  if (!has_end) return std::nullopt;

  // There is no number without digits, nor with more digits than 64 bits can hold.
  const auto number = parse_number(text.substr(mark_length, digit_count));
  if (!number) return std::nullopt;
  return InnerNumber{.mark = text.substr(0, mark_length), .number = *number, .length = length};
}

/// Returns the name without the numbers inside of it, which are appended to `numbers`. So functions
/// without a name of their own can be recognised although a compiler numbers them differently.
std::string remove_inner_numbers(std::string_view name, std::vector<std::uint64_t>& numbers) {
  std::string shorter_name;
  while (!name.empty()) {
    const auto found = find_inner_number(name);
    if (!found) {
      shorter_name += name.front();
      name.remove_prefix(1);
      continue;
    }

    // The word before the number stays. The characters that only join it to the number go, too.
    shorter_name += found->mark.substr(0, found->mark.find_last_not_of("#_$") + 1);
    numbers.push_back(found->number);
    name.remove_prefix(found->length);
  }
  return shorter_name;
}

using IndicesByName = std::multimap<std::string, std::size_t, std::less<>>;

/// Adds the indices of the wanted names that are `name`.
void add_matches(std::string_view name, const IndicesByName& wanted,
                 std::set<std::size_t>& matches) {
  const auto [first, last] = wanted.equal_range(name);
  for (auto entry = first; entry != last; ++entry) matches.insert(entry->second);
}

/// Adds the indices of the wanted names that match `name`. Users may leave out a function's
/// parameters, and the numbers that a compiler added.
void add_matches_of_all_forms(std::string_view name, const IndicesByName& wanted,
                              std::set<std::size_t>& matches) {
  add_matches(name, wanted, matches);
  add_matches(without_parameters(name), wanted, matches);

  const NumberedName split = split_numbers(name);
  if (split.numbers.empty()) return;
  add_matches(split.without_numbers, wanted, matches);
  add_matches(without_parameters(split.without_numbers), wanted, matches);
}

/// A metric that was counted in a run.
struct CountedMetric {
  std::size_t count_index;   // in the names of the run's metrics, and in each function's counts
  std::size_t metric_index;  // in FunctionTable::metrics
};

/// Returns the metrics that were counted in a run. Those that are new are added to the table.
std::vector<CountedMetric> find_or_add_metrics(FunctionTable& table,
                                               std::span<const std::string> names) {
  std::vector<CountedMetric> counted_metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // An empty name stands for a count that is not kept.
    if (names[i].empty()) continue;
    const std::size_t metric = table.find(names[i]);
    if (metric == table.metrics.size()) table.metrics.push_back({.name = names[i], .rounds = 0});
    counted_metrics.push_back({.count_index = i, .metric_index = metric});
  }
  return counted_metrics;
}

/// Adds the functions that are new. Then each function of the table has room for all metrics.
void add_functions(FunctionTable& table, std::span<const FunctionCounts> run) {
  for (const FunctionCounts& function : run) {
    table.functions.try_emplace(function.name);
    if (!function.other_names.empty())
      table.other_names[function.name].insert(function.other_names.begin(),
                                              function.other_names.end());
  }
  for (auto& [name, values] : table.functions) values.resize(table.metrics.size());
}

std::map<std::string_view, const FunctionCounts*> index_by_name(
    std::span<const FunctionCounts> run) {
  std::map<std::string_view, const FunctionCounts*> functions;
  for (const FunctionCounts& function : run) functions.emplace(function.name, &function);
  return functions;
}

}  // namespace

std::string_view without_parameters(std::string_view name) {
  const std::size_t end = name.rfind(')');
  if (end == std::string_view::npos) return name;
  std::size_t depth = 0;
  for (std::size_t i = end + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

std::string normalized_function(std::string_view name) {
  if (name.empty() || name == "???") return std::string(kNoSymbols);
  while (remove_clone(name) || remove_demangled_clone(name) || remove_version(name) ||
         remove_rust_hash(name)) {
  }
  if (auto without_hash = without_mangled_hash(name)) return *std::move(without_hash);
  return std::string(find_varied_function(name).value_or(name));
}

NumberedName split_numbers(std::string_view function) {
  if (auto place = split_place_of_script(function)) return *std::move(place);

  NumberedName split;
  std::string_view name = function;
  if (!take_ocaml_numbers(name, split.numbers) && !take_nim_number(name, split.numbers)) {
    // gcc's nested and parallel functions ("main._omp_fn.0"), and those of one name in several
    // files that LLVM links ("parse.2")
    while (take_number_after(name, ".", 1, split.numbers)) {
    }
  }
  std::vector<std::uint64_t> inner;
  split.without_numbers = remove_inner_numbers(name, inner);
  split.numbers.insert(split.numbers.begin(), inner.begin(), inner.end());
  return split;
}

bool is_more_natural(std::string_view name, std::string_view other) {
  // The less natural name has the higher rank.
  const auto rank_of = [](std::string_view one) {
    const bool has_numbers = !split_numbers(one).numbers.empty();
    return std::tuple(one.starts_with('_'), has_numbers, one.size(), one);
  };
  return rank_of(name) < rank_of(other);
}

FunctionName make_function_name(std::vector<std::string> names) {
  std::ranges::sort(names, is_more_natural);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  FunctionName function{std::move(names.front())};
  function.other_names.assign(std::make_move_iterator(names.begin() + 1),
                              std::make_move_iterator(names.end()));
  return function;
}

WantedFunctions::WantedFunctions(std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) indices_by_name_.emplace(names[i], i);
}

std::vector<std::size_t> WantedFunctions::find(std::string_view function,
                                               std::span<const std::string> other_names) const {
  // Saves the time to split names if no function is wanted.
  if (indices_by_name_.empty()) return {};

  // A set, because a function may match by several of its names.
  std::set<std::size_t> matches;
  add_matches_of_all_forms(function, indices_by_name_, matches);
  for (const std::string& other : other_names)
    add_matches_of_all_forms(other, indices_by_name_, matches);
  return {matches.begin(), matches.end()};
}

std::size_t FunctionTable::find(std::string_view metric) const {
  const auto found = std::ranges::find(metrics, metric, &FunctionMetric::name);
  return static_cast<std::size_t>(found - metrics.begin());
}

std::vector<std::string> FunctionTable::other_names_of(std::string_view function) const {
  const auto found = other_names.find(function);
  return found == other_names.end()
             ? std::vector<std::string>()
             : std::vector<std::string>(found->second.begin(), found->second.end());
}

// Adds the counts of one run as the next round. `metric_names`: the metric of each count of a
// function. `counts_per_unit`: how many counts are one unit of the metric, such as 1e9 nanoseconds
// for a second.
void FunctionTable::add_round(std::span<const std::string> metric_names,
                              std::span<const FunctionCounts> functions_of_run,
                              double counts_per_unit) {
  const std::vector<CountedMetric> counted_metrics = find_or_add_metrics(*this, metric_names);
  if (counted_metrics.empty()) return;

  add_functions(*this, functions_of_run);
  const auto counts_by_name = index_by_name(functions_of_run);

  // A function of the table that the run did not call has a value of 0 in this round.
  for (auto& [name, values_by_metric] : functions) {
    const auto found = counts_by_name.find(name);
    const bool was_called = found != counts_by_name.end();
    for (const auto& [count_index, metric_index] : counted_metrics) {
      double value = 0.0;
      if (was_called)
        value = static_cast<double>(found->second->counts.at(count_index)) / counts_per_unit;
      const std::size_t earlier_rounds = metrics[metric_index].rounds;
      append_round(values_by_metric[metric_index], earlier_rounds, value);
    }
  }
  for (const auto& [count_index, metric_index] : counted_metrics) ++metrics[metric_index].rounds;
}

}  // namespace lauka
