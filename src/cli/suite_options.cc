#include "cli/suite_options.h"

#include "cli/option_table.h"
#include "core/pattern.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

using Words = std::vector<std::string>;
using Kind = SuiteValue::Kind;

/// An option in one place of a suite, with its repetitions.
struct Setting {
  const OptionInfo* option = nullptr;
  std::vector<Words> repetitions{};  ///< empty: false, which cancels a weaker place
  std::size_t line = 0;              ///< of the file; 0 if typed
};

using Place = std::vector<Setting>;

/// Returns the name that options for the same value share: one place decides about them.
std::string_view family_of(const OptionInfo& option) {
  return option.traits.sets.empty() ? option.name : option.traits.sets;
}

/// True if it applies to the session, not to a benchmark.
bool concerns_session(const OptionInfo& option) {
  return option.traits.scope == Scope::Session || option.traits.scope == Scope::TypedSession;
}

bool is_scalar(const SuiteValue& value) {
  return value.kind == Kind::Text || value.kind == Kind::Number;
}

/// Reads the words of an option that takes `count`; nullopt if there are more or fewer.
std::optional<Words> to_words(const SuiteValue& value, std::size_t count) {
  Words words;
  if (value.kind == Kind::Text) {
    auto found = split_words(value.text);
    if (found) words = *std::move(found);
  }
  if (value.kind == Kind::List && std::ranges::all_of(value.list, is_scalar))
    for (const SuiteValue& one : value.list) words.push_back(one.text);
  return words.size() == count ? std::optional(words) : std::nullopt;
}

Result<std::vector<Words>> repetitions_of_words(const OptionInfo& option, const SuiteValue& value) {
  const std::size_t count = words_taken_by(option);
  if (auto words = to_words(value, count)) return std::vector<Words>{*words};
  std::vector<Words> all;
  for (const SuiteValue& one : value.list) {
    auto words = to_words(one, count);
    if (!words) break;
    all.push_back(*std::move(words));
  }
  if (value.kind == Kind::List && all.size() == value.list.size()) return all;
  return Error{fmt::format("{} needs {} words", option.spelling(), count),
               fmt::format("write {} = \"{}\"", option.name, option.value)};
}

/// Returns the words for each application of an option: once, or once for each of a list.
Result<std::vector<Words>> read_repetitions(const OptionInfo& option, const SuiteValue& value) {
  if (words_taken_by(option) > 0) return repetitions_of_words(option, value);
  const bool may_be_flag = option.takes == Takes::Nothing || is_value_optional(option);
  if (value.kind == Kind::Flag) {
    if (!may_be_flag)
      return Error{option.spelling() + " needs a value", "write it in quotes, or a number"};
    return value.flag ? std::vector<Words>{{}} : std::vector<Words>{};
  }
  if (option.takes == Takes::Nothing)
    return Error{option.spelling() + " takes no value",
                 fmt::format("write {} = true", option.name)};
  if (is_scalar(value)) return std::vector<Words>{{value.text}};
  std::vector<Words> all;
  for (const SuiteValue& one : value.list) {
    if (!is_scalar(one))
      return Error{option.spelling() + " needs a list of values", "write them in quotes"};
    all.push_back({one.text});
  }
  return all;
}

Result<void> apply(const Setting& setting, Draft& draft) {
  for (const Words& words : setting.repetitions) {
    const std::string value = words.empty() ? "" : words.front();
    draft.typed.push_back(setting.option);
    if (auto applied = setting.option->apply(draft, {*setting.option, value, words}); !applied)
      return applied;
  }
  return {};
}

/// Reads one suite.
class SuiteReader {
 public:
  explicit SuiteReader(const Options& typed) : typed_(typed) {}

  Result<Suite> read(std::string_view text) {
    SuiteDocument document;
    SuiteFault fault;
    if (!read_suite_file(text, document, fault)) return at(fault.line, fault.error);
    if (auto taken = take_defaults(document.defaults); !taken) return taken.error();
    take_typed();
    if (auto session = read_session(); !session) return session.error();
    for (const SuiteTable& table : document.benchmarks)
      if (auto added = add(table); !added) return added.error();
    if (auto chosen = choose(); !chosen) return chosen.error();
    return std::move(suite_);
  }

 private:
  Error at(std::size_t line, const Error& error) const {
    std::string place = one_line(*typed_.suite);
    if (line > 0) place += fmt::format(":{}", line);
    if (!benchmark_.empty()) place += ": benchmark " + cited(benchmark_);
    return error.prefixed(place);
  }

  Result<const OptionInfo*> find_suite_option(const SuiteEntry& entry) const {
    const OptionInfo* option = find_option(entry.key);
    if (option == nullptr) {
      std::vector<std::string_view> names = {"name", "commands"};
      for (const OptionInfo& row : option_table())
        if (!row.name.empty()) names.push_back(row.name);
      const std::string_view meant = nearest(entry.key, names);
      return at(entry.line, {"unknown option " + cited(entry.key),
                             meant.empty() ? "lauka --help lists the options"
                                           : fmt::format("did you mean {}?", meant)});
    }
    if (option->traits.scope == Scope::Call)
      return at(entry.line,
                {fmt::format("{} is not an option of a suite's file", option->spelling()),
                 "type it, or leave it out"});
    if (option->traits.scope == Scope::TypedSession)
      return at(entry.line,
                option->name == "tune"
                    ? Error{"--tune changes the machine, so a suite's file cannot ask "
                            "for it",
                            "remove it here, and type it"}
                    : Error{"--as-root gives root's rights, so a suite's file cannot "
                            "ask for it",
                            "remove it here; type it if the commands must run as root"});
    return option;
  }

  Result<void> read_entry(const SuiteEntry& entry, Place& place) const {
    const auto option = find_suite_option(entry);
    if (!option) return option.error();
    auto repetitions = read_repetitions(**option, entry.value);
    if (!repetitions) return at(entry.line, repetitions.error());
    place.push_back({*option, *std::move(repetitions), entry.line});
    Draft alone;  // to report a wrong value at its line
    if (auto applied = apply(place.back(), alone); !applied) return at(entry.line, applied.error());
    return {};
  }

  Result<void> take_defaults(const SuiteTable& table) {
    for (const SuiteEntry& entry : table.entries) {
      if (entry.key == "name" || entry.key == "commands")
        return at(entry.line,
                  {fmt::format("[defaults] has {}", entry.key), "write it in each [[benchmark]]"});
      if (auto taken = read_entry(entry, defaults_); !taken) return taken;
    }
    return {};
  }

  void take_typed() {
    for (const TypedOption& one : typed_.typed) {
      const OptionInfo* option = option_of_key(one.key);
      if (option == nullptr || option->traits.scope == Scope::Call) continue;
      typed_place_.push_back({option, {one.words}, 0});
    }
  }

  /// Applies the places from the weakest on. `of_session`: only options of all benchmarks.
  Result<Draft> read_draft(const Place& own, bool of_session) const {
    const std::array<const Place*, 3> places = {&defaults_, &typed_place_, &own};
    Draft draft;
    for (std::size_t p = 0; p < places.size(); ++p) {
      const auto is_displaced = [&](const Setting& weaker) {
        return std::any_of(places.begin() + static_cast<std::ptrdiff_t>(p) + 1, places.end(),
                           [&](const Place* place) {
                             return std::ranges::any_of(*place, [&](const Setting& stronger) {
                               return family_of(*stronger.option) == family_of(*weaker.option) ||
                                      contradict(*stronger.option, *weaker.option);
                             });
                           });
      };
      for (const Setting& setting : *places[p]) {
        if (is_displaced(setting) || (of_session && !concerns_session(*setting.option))) continue;
        if (auto applied = apply(setting, draft); !applied)
          return at(setting.line, applied.error());
      }
    }
    return draft;
  }

  Result<void> read_session() {
    auto draft = read_draft({}, true);
    if (!draft) return draft.error();
    auto options = settle_with_suite(*std::move(draft));
    if (!options) return at(0, options.error());
    suite_.session = *std::move(options);
    suite_.session.suite = typed_.suite;
    return {};
  }

  Result<void> take_commands(const SuiteEntry& entry, Words& commands) const {
    const SuiteValue& value = entry.value;
    if (value.kind == Kind::Text) commands = {value.text};
    for (const SuiteValue& one : value.list)
      if (one.kind == Kind::Text) commands.push_back(one.text);
    const bool is_whole = value.kind == Kind::Text || commands.size() == value.list.size();
    if (is_whole && !commands.empty()) return {};
    return at(entry.line, {"commands must be a list of command lines",
                           "write commands = [\"./old\", \"./new\"]"});
  }

  Result<void> take_name(const SuiteEntry& entry) {
    if (entry.value.kind != Kind::Text || entry.value.text.empty())
      return at(entry.line, {"name must be a string", "write name = \"parse\""});
    benchmark_ = entry.value.text;
    const auto& known = suite_.benchmarks;
    if (std::ranges::any_of(known, [&](const Benchmark& one) { return one.name == benchmark_; }))
      return at(entry.line, {"there is another one of that name", "give each its own"});
    return {};
  }

  Result<void> add(const SuiteTable& table) {
    benchmark_.clear();
    const auto named = std::ranges::find(table.entries, "name", &SuiteEntry::key);
    if (named == table.entries.end())
      return at(table.line, {"a benchmark has no name", "write name = \"parse\""});
    if (auto taken = take_name(*named); !taken) return taken;
    Place own;
    Words commands;
    for (const SuiteEntry& entry : table.entries) {
      if (entry.key == "name") continue;
      auto taken = entry.key == "commands" ? take_commands(entry, commands) : take_own(entry, own);
      if (!taken) return taken;
    }
    auto draft = read_draft(own, false);
    if (!draft) return draft.error();
    draft->commands = std::move(commands);
    if (draft->commands.empty() && !draft->reference)
      return at(table.line, {"there are no commands", "write commands = [\"./old\", \"./new\"]"});
    draft->options.fail_if_inconclusive.reset();  // of all: some benchmark may have no gate
    auto options = settle(*std::move(draft));
    if (!options) return at(table.line, options.error());
    suite_.benchmarks.push_back({benchmark_, *std::move(options)});
    benchmark_.clear();
    return {};
  }

  Result<void> take_own(const SuiteEntry& entry, Place& own) const {
    const auto option = find_suite_option(entry);
    if (!option) return option.error();
    if (concerns_session(**option))
      return at(entry.line, {fmt::format("{} concerns the whole session", (*option)->spelling()),
                             "write it in [defaults], or type it"});
    return read_entry(entry, own);
  }

  /// Keeps the benchmarks of --only and --shard. Parts are dealt by the place in the file: they are
  /// equally large, and a benchmark added at the end moves no other.
  Result<void> choose() {
    benchmark_.clear();
    const bool has_gate = std::ranges::any_of(
        suite_.benchmarks, [](const Benchmark& one) { return !one.options.gates.empty(); });
    if (suite_.session.fail_if_inconclusive && !has_gate)
      return at(0, {"--fail-if-inconclusive without a gate",
                    "add fail-if-slower = 1 or fail-if = \"METRIC > PCT\""});
    const Shard shard = typed_.shard.value_or(Shard{});
    std::optional<Pattern> pattern;
    if (typed_.only) {
      auto compiled = Pattern::compile(*typed_.only, Pattern::Groups::Idle);
      if (!compiled) return compiled.error();
      pattern = *std::move(compiled);
    }
    Words names;
    std::vector<Benchmark> chosen;
    bool matches_any = false;
    for (std::size_t i = 0; i < suite_.benchmarks.size(); ++i) {
      Benchmark& one = suite_.benchmarks[i];
      names.push_back(cited(one.name));
      const auto matches = pattern ? pattern->matches(one.name, [] { return true; }) : true;
      if (!matches) return matches.error().prefixed("--only " + cited(*typed_.only));
      matches_any = matches_any || *matches;
      if (*matches && i % shard.parts == shard.part - 1) chosen.push_back(std::move(one));
    }
    suite_.benchmarks = std::move(chosen);
    if (matches_any) return {};
    constexpr std::size_t most_shown = 20;
    const std::size_t left = names.size() - std::min(names.size(), most_shown);
    names.resize(std::min(names.size(), most_shown));
    std::string all = listed(names, left > 0 ? "," : "and");
    if (left > 0) all += fmt::format(" and {} more", left);
    return Error{fmt::format("--only {} matches no benchmark of {}", cited(*typed_.only),
                             cited(*typed_.suite)),
                 "they are " + all};
  }

  const Options& typed_;
  Place defaults_;
  Place typed_place_;
  std::string benchmark_;  // that is being read; empty: none
  Suite suite_;
};

}  // namespace

Result<Suite> read_suite(const Options& typed, std::string_view text) {
  return SuiteReader(typed).read(text);
}

}  // namespace lauka::cli
