#include "core/functions.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace lauka {

namespace {

bool is_hash(std::string_view text) {
  constexpr std::size_t digits = 16;
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

constexpr auto kClones = std::to_array<std::string_view>(
    {"constprop", "isra", "part", "cold", "lto_priv", "llvm", "__uniq", "localalias", "ipa"});

bool is_clone(std::string_view word) {
  return std::ranges::find(kClones, word) != kClones.end();
}

/// Ends `name` at the offset `end`. Returns false, and leaves `name` as it is, if nothing would be
/// left or `end` is npos.
bool cut(std::string_view& name, std::size_t end) {
  if (end == std::string_view::npos || end == 0) return false;
  name = name.substr(0, end);
  return true;
}

bool remove_clone(std::string_view& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view last = name.substr(dot + 1);
  if (is_clone(last)) return cut(name, dot);
  if (last.empty() || !std::ranges::all_of(last, is_digit)) return false;
  const std::string_view before = name.substr(0, dot);
  const std::size_t first = before.rfind('.');
  return first != std::string_view::npos && is_clone(before.substr(first + 1)) && cut(name, first);
}

bool remove_demangled_clone(std::string_view& name) {
  constexpr std::string_view begin = " [clone .";
  return name.ends_with(']') && cut(name, name.rfind(begin));
}

bool remove_version(std::string_view& name) {
  const std::size_t at = name.rfind('@');
  const auto is_of_version = [](char c) {
    return is_digit(c) || is_letter(c) || c == '_' || c == '.';
  };
  if (at == std::string_view::npos || !std::ranges::all_of(name.substr(at + 1), is_of_version) ||
      !cut(name, at))
    return false;
  while (name.ends_with('@')) name.remove_suffix(1);
  return true;
}

bool remove_rust_hash(std::string_view& name) {
  constexpr std::string_view begin = "::h";
  const std::size_t at = name.rfind(begin);
  return at != std::string_view::npos && is_hash(name.substr(at + begin.size())) && cut(name, at);
}

/// Returns "_ZN1a1bE" for "_ZN1a1b17h0123456789abcdefE"; nullopt for names without a hash.
std::optional<std::string> without_mangled_hash(std::string_view name) {
  constexpr std::string_view begin = "17h";
  const std::size_t at = name.rfind(begin);
  if (at == std::string_view::npos || !name.starts_with("_ZN") || !name.ends_with('E'))
    return std::nullopt;
  const std::size_t hash = at + begin.size();
  if (!is_hash(name.substr(hash, name.size() - 1 - hash))) return std::nullopt;
  return std::string(name.substr(0, at)) + "E";
}

/// Words that mark the variants of a function that glibc has for certain processors.
constexpr auto kFeatures = std::to_array<std::string_view>(
    {"sse2",   "sse3",   "ssse3",    "sse4",      "sse41",  "sse42",      "avx",     "avx2",
     "avx512", "evex",   "evex512",  "erms",      "fma",    "fma4",       "sve",     "mops",
     "neon",   "a64fx",  "thunderx", "thunderx2", "falkor", "kunpeng920", "generic", "nosimd",
     "power8", "power9", "power10",  "z13",       "z14",    "emag"});

/// Returns "memcpy" for "__memcpy_avx_unaligned_erms"; nullopt if `name` is not such a variant.
std::optional<std::string_view> name_of_variant(std::string_view name) {
  if (!name.starts_with("__")) return std::nullopt;
  name.remove_prefix(2);
  for (std::size_t at = name.find('_', 1); at != std::string_view::npos;
       at = name.find('_', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    if (std::ranges::find(kFeatures, rest.substr(0, rest.find('_'))) != kFeatures.end())
      return name.substr(0, at);
  }
  return std::nullopt;
}

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

void append(RoundValues& values, std::size_t rounds, double value) {
  if (rounds == 0) {
    if (value != 0.0) values.push_back(value);
    return;
  }
  if (values.size() < 2 && value_in(values, 0) == value) return;
  if (values.empty()) values.assign(rounds, 0.0);
  if (values.size() == 1) values.assign(rounds, values.front());
  values.push_back(value);
}

}  // namespace

std::string normalized_function(std::string_view name) {
  if (name.empty() || name == "???") return std::string(kNoSymbols);
  while (remove_clone(name) || remove_demangled_clone(name) || remove_version(name) ||
         remove_rust_hash(name)) {
  }
  if (auto rust = without_mangled_hash(name)) return *std::move(rust);
  return std::string(name_of_variant(name).value_or(name));
}

WantedFunctions::WantedFunctions(std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) places_.emplace(names[i], i);
}

std::vector<std::size_t> WantedFunctions::find(std::string_view function) const {
  std::vector<std::size_t> found;
  const auto add = [&](std::string_view name) {
    const auto [first, last] = places_.equal_range(name);
    for (auto place = first; place != last; ++place) found.push_back(place->second);
  };
  add(function);
  const std::string_view shorter = without_parameters(function);
  if (shorter != function) add(shorter);
  return found;
}

double value_in(const RoundValues& values, std::size_t round) {
  if (values.empty()) return 0.0;
  return values.size() == 1 ? values.front() : values.at(round);
}

double mean_of(const RoundValues& values, std::size_t rounds) {
  if (values.size() < 2) return value_in(values, 0);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(rounds);
}

std::size_t FunctionTable::find(std::string_view metric) const {
  const auto found = std::ranges::find(metrics, metric, &FunctionMetric::name);
  return static_cast<std::size_t>(found - metrics.begin());
}

void FunctionTable::add_round(std::span<const std::string> names,
                              std::span<const FunctionCounts> run, double per_unit) {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    places.push_back(find(name));
    if (places.back() == metrics.size()) metrics.push_back({name, 0});
  }
  for (const FunctionCounts& function : run) functions[function.name];
  for (auto& [name, values] : functions) values.resize(metrics.size());
  std::map<std::string_view, const FunctionCounts*> counted;
  for (const FunctionCounts& function : run) counted.emplace(function.name, &function);
  for (auto& [name, values] : functions) {
    const auto found = counted.find(name);
    for (std::size_t e = 0; e < places.size(); ++e)
      append(values[places[e]], metrics[places[e]].rounds,
             found == counted.end() ? 0.0
                                    : static_cast<double>(found->second->counts.at(e)) / per_unit);
  }
  for (const std::size_t place : places) ++metrics[place].rounds;
}

}  // namespace lauka
