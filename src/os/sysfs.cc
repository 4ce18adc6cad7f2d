#include "os/sysfs.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka::os {
namespace {

using Term = Sysfs::Term;

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";

// Names of core PMUs that may lack a "cpus" file.
constexpr std::array<std::string_view, 2> kCoreNames = {"cpu", "cpum_cf"};

// Names of PMUs that are not core PMUs.
constexpr std::array<std::string_view, 6> kKernelNames = {"breakpoint", "kprobe",     "msr",
                                                          "software",   "tracepoint", "uprobe"};

std::string path_of(std::string_view pmu, std::string_view file) {
  return fmt::format("{}/{}/{}", kDevices, pmu, file);
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

std::optional<TermFormat::Bits> parse_bits(std::string_view text) {
  const std::vector<std::string_view> ends = split(text, '-');
  const auto low = parse_number(ends.front());
  const auto high = parse_number(ends.back());
  if (ends.size() > 2 || !low || !high || *low > *high || *high > 63) return std::nullopt;
  return TermFormat::Bits{static_cast<unsigned>(*low), static_cast<unsigned>(*high)};
}

constexpr std::uint64_t low_bits(unsigned width) {
  return ~std::uint64_t{0} >> (64U - width);
}

struct ConfigWord {
  std::string_view name;
  std::uint64_t EventCode::*value;
};
/// The config words of a code. TermFormat::word_index is an index into this array.
constexpr auto kConfigWords = std::to_array<ConfigWord>({{"config", &EventCode::config},
                                                         {"config1", &EventCode::config1},
                                                         {"config2", &EventCode::config2},
                                                         {"config3", &EventCode::config3}});

std::optional<unsigned> find_word_index(std::string_view name) {
  const auto* const found = std::ranges::find(kConfigWords, name, &ConfigWord::name);
  if (found == kConfigWords.end()) return std::nullopt;
  return static_cast<unsigned>(found - kConfigWords.begin());
}

void set_term(std::vector<Term>& terms, Term term) {
  const auto same =
      std::ranges::find_if(terms, [&](const auto& other) { return other.name == term.name; });
  if (same != terms.end())
    same->value = term.value;
  else
    terms.push_back(std::move(term));
}

/// Returns the term of a text such as "umask=0x1" or "edge", which has the value 1.
Result<Term> parse_term(std::string_view name_and_value) {
  const std::size_t equals = name_and_value.find('=');
  constexpr std::uint64_t value_if_omitted = 1;
  Term term{.name = std::string(name_and_value.substr(0, equals)), .value = value_if_omitted};
  if (term.name.empty()) return Error{"a term is empty", "write TERM=NUMBER"};
  if (equals == std::string_view::npos) return term;

  // The kernel writes "event=0x3c,umask=?" for an event whose umask the user must give. Such a term
  // stays without a value.
  const std::string_view value = name_and_value.substr(equals + 1);
  const bool is_left_to_user = value == "?";
  term.value = parse_number(value);
  if (!term.value && !is_left_to_user)
    return Error{fmt::format("'{}' is not a 64-bit number", name_and_value), "write 60 or 0x3c"};
  return term;
}

/// Adds the terms of an event's encoding, such as "event=0x3c,umask=0x1", to `terms`. A term
/// replaces an earlier one of the same name.
Result<void> set_terms(std::string_view encoding, std::vector<Term>& terms) {
  for (const std::string_view part : split(encoding, ',')) {
    const std::string_view name_and_value = trimmed(part);
    // perf accepts the term "name" as a label for its own output. It encodes nothing.
    if (name_and_value.substr(0, name_and_value.find('=')) == "name") continue;

    auto term = parse_term(name_and_value);
    if (!term) return term.error();
    set_term(terms, *std::move(term));
  }
  return {};
}

unsigned width_of(const TermFormat& format) {
  unsigned width = 0;
  for (const TermFormat::Bits& bits : format.bits) width += bits.high - bits.low + 1;
  return width;
}

}  // namespace

std::optional<TermFormat> parse_format(std::string_view text) {
  const std::string_view line = trimmed(text);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto word = find_word_index(line.substr(0, colon));
  if (!word) return std::nullopt;
  TermFormat format{*word};
  for (const std::string_view range : split(line.substr(colon + 1), ',')) {
    const auto bits = parse_bits(range);
    if (!bits) return std::nullopt;
    format.bits.push_back(*bits);
  }
  return format;
}

bool put(EventCode& code, const TermFormat& format, std::uint64_t value) {
  const unsigned total = width_of(format);
  if (total < 64 && (value >> total) != 0) return false;
  std::uint64_t& word = code.*kConfigWords.at(format.word_index).value;
  for (const TermFormat::Bits& bits : format.bits) {
    const unsigned width = bits.high - bits.low + 1;
    const std::uint64_t mask = low_bits(width);
    word = (word & ~(mask << bits.low)) | ((value & mask) << bits.low);
    value = width == 64 ? 0 : value >> width;
  }
  return true;
}

std::vector<Pmu> Sysfs::core_pmus() const {
  if (cores_) return *cores_;
  std::vector<Pmu>& cores = cores_.emplace();
  for (const std::string& name : calls_.list_folder(std::string(kDevices))) {
    if (std::ranges::find(kKernelNames, name) != kKernelNames.end()) continue;
    const bool has_core_name = std::ranges::find(kCoreNames, name) != kCoreNames.end();
    if (!has_core_name && !calls_.read_file(path_of(name, "cpus"))) continue;
    if (auto pmu = find(name); pmu && pmu->kind == PmuKind::Core) cores.push_back(*std::move(pmu));
  }
  return cores;
}

std::vector<Pmu> Sysfs::all_pmus() const {
  std::vector<Pmu> pmus;
  for (const std::string& name : calls_.list_folder(std::string(kDevices)))
    if (auto pmu = find(name)) pmus.push_back(*std::move(pmu));
  return pmus;
}

std::optional<Pmu> Sysfs::find(std::string_view pmu) const {
  if (!is_plain_name(pmu)) return std::nullopt;
  const auto type = calls_.read_file(path_of(pmu, "type"));
  const auto number = type ? parse_number(trimmed(*type)) : std::nullopt;
  if (!number || *number > 0xffffffffU) return std::nullopt;
  Pmu found{std::string(pmu), static_cast<std::uint32_t>(*number), PmuKind::Task};
  if (std::ranges::find(kCoreNames, pmu) != kCoreNames.end() ||
      calls_.read_file(path_of(pmu, "cpus")))
    found.kind = PmuKind::Core;
  else if (calls_.read_file(path_of(pmu, "cpumask")))
    found.kind = PmuKind::PerPackage;
  return found;
}

std::vector<std::string> Sysfs::events(const Pmu& pmu) const {
  // Beside an event's file may be files with its unit and scale, which are no events.
  std::vector<std::string> names = calls_.list_folder(path_of(pmu.name, "events"));
  std::erase_if(names, [](const std::string& name) {
    return name.ends_with(".unit") || name.ends_with(".scale") || name.ends_with(".snapshot") ||
           name.ends_with(".per-pkg");
  });
  return names;
}

std::optional<std::string> Sysfs::read(const Pmu& pmu, std::string_view folder,
                                       std::string_view file) const {
  if (!is_plain_name(file)) return std::nullopt;
  return calls_.read_file(path_of(pmu.name, fmt::format("{}/{}", folder, file)));
}

std::optional<std::string> Sysfs::read_terms(const Pmu& pmu, std::string_view event) const {
  const auto text = read(pmu, "events", event);
  if (!text) return std::nullopt;
  return std::string(trimmed(*text));
}

std::uint64_t Sysfs::read_topdown_scale(const Pmu& pmu, std::string_view event) const {
  constexpr std::uint64_t most = 64;
  if (!event.starts_with("topdown-")) return 1;
  const auto text = read(pmu, "events", fmt::format("{}.scale", event));
  const auto scale = text ? parse_number(trimmed(*text)) : std::nullopt;
  return scale && *scale >= 1 && *scale <= most ? *scale : 1;
}

Result<std::vector<Sysfs::Term>> Sysfs::expand(const Pmu& pmu, std::string_view text) const {
  std::vector<Term> terms;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view item = trimmed(part);
    const bool may_be_event = item.find('=') == std::string_view::npos;
    const auto event = may_be_event ? read_terms(pmu, item) : std::nullopt;
    // rHEX is a raw code if the PMU has no term or event with that name.
    if (may_be_event && item.starts_with('r') && !event && !read(pmu, "format", item)) {
      if (const auto raw = parse_hex(item.substr(1))) {
        set_term(terms, {"config", raw});
        continue;
      }
    }
    if (auto added = set_terms(event ? std::string_view(*event) : item, terms); !added)
      return added.error();
  }
  return terms;
}

Error Sysfs::unknown_term(const Pmu& pmu, std::string_view name) const {
  std::vector<std::string> candidates = events(pmu);
  const auto formats = calls_.list_folder(path_of(pmu.name, "format"));
  candidates.insert(candidates.end(), formats.begin(), formats.end());
  const auto nearest = nearest_names(name, candidates);
  return Error{fmt::format("{} has no event or term '{}'", pmu.name, name),
               nearest.empty() ? std::string("lauka --list-events shows the events")
                               : fmt::format("did you mean {}?", listed(nearest, "or"))};
}

/// Returns where a term belongs in an event's code. It is a field whose bits the PMU describes in a
/// file, or a whole word such as "config1".
Result<TermFormat> Sysfs::find_format(const Pmu& pmu, std::string_view term) const {
  const auto description = read(pmu, "format", term);
  const auto whole_word = find_word_index(term);
  if (!description && !whole_word) return unknown_term(pmu, term);

  constexpr TermFormat::Bits all_bits{.low = 0, .high = 63};
  const auto format = description ? parse_format(*description)
                                  : TermFormat{.word_index = *whole_word, .bits = {all_bits}};
  if (!format)
    return Error{
        fmt::format("lauka does not understand how this machine describes the bits of '{}'", term),
        ""};
  return *format;
}

// An event's code consists of a few 64-bit words ("config", "config1", ...). Each term sets some
// bits of one word.
Result<EventCode> Sysfs::encode(const Pmu& pmu, std::string_view text) const {
  const auto terms = expand(pmu, text);
  if (!terms) return terms.error();
  EventCode code{pmu.type};

  for (const Term& term : *terms) {
    if (!term.value)
      return Error{fmt::format("the term '{}' needs a value", term.name),
                   fmt::format("write {}/{},{}=NUMBER/", pmu.name, text, term.name)};

    const auto format = find_format(pmu, term.name);
    if (!format) return format.error();
    if (!put(code, *format, *term.value))
      return Error{fmt::format("the value {:#x} of '{}' is too wide", *term.value, term.name),
                   fmt::format("'{}' has {} bits", term.name, width_of(*format))};
  }

  return code;
}

}  // namespace lauka::os
