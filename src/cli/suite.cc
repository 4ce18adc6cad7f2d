#include "cli/suite.h"

#include "cli/option_table.h"
#include "cli/settle.h"
#include "cli/toml_parser.h"
#include "core/numbers.h"
#include "core/pattern.h"
#include "core/result.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMaxBenchmarks = 1000;
constexpr std::size_t kMaxEntries = 200;
constexpr std::size_t kMaxListElements = 1000;
constexpr const char* kExpectedShape = "write [defaults] and [[benchmark]] tables (docs/suites.md)";

struct Entry {
  std::string_view key;
  std::size_t line = 0;
  const toml::node* value = nullptr;
};

/// The place where an option is set. A later place in this list overrides an earlier place.
enum class Origin : unsigned char { Defaults, CommandLine, Benchmark };

struct Setting {
  const OptionInfo* option = nullptr;
  std::vector<Words> repetitions{};  ///< words of each repetition of the option; empty (as for the
                                     ///< value false): the option is cancelled in weaker places
  std::size_t line = 0;              ///< line in the file; 0 if typed
  Origin origin = Origin::CommandLine;
};

using Settings = std::vector<Setting>;

/// Returns the entries ordered by line, because options are applied in the order written. toml++
/// orders entries by name.
std::vector<Entry> list_entries(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table) entries.push_back({key.str(), line_of_toml(node), &node});
  std::ranges::stable_sort(entries, {}, &Entry::line);
  return entries;
}

/// Returns nullopt for a value that is no text and no number.
std::optional<std::string> read_scalar_as_text(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* whole = value.as_integer()) return fmt::to_string(whole->get());
  if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
  return std::nullopt;
}

/// True if some option may have such a value. A list may contain lists, but no deeper ones.
bool is_readable(const toml::node& value, bool is_in_list = false) {
  if (const toml::array* list = value.as_array())
    return list->size() <= kMaxListElements &&
           std::ranges::all_of(*list, [&](const toml::node& element) {
             const bool is_too_deep = is_in_list && element.is_array();
             return !is_too_deep && is_readable(element, true);
           });
  if (const auto* number = value.as_floating_point())
    return std::isfinite(number->get()) &&
           read_scalar_as_text(value)->find('e') == std::string::npos;
  if (const auto* text = value.as_string()) return text->get().find('\0') == std::string::npos;
  return value.is_boolean() || value.is_integer();
}

/// Returns the values of a parameter. Empty if the values are invalid, which is refused when the
/// commands are made.
std::vector<std::string> list_values_to_fill_in(const ParameterOption& parameter) {
  if (!parameter.is_scan) return parameter.values;
  const bool is_whole = (parameter.min + parameter.max).find('.') == std::string::npos;
  if (parameter.step.empty() && !is_whole) return {};
  const std::string step = parameter.step.empty() ? "1" : parameter.step;
  auto values = list_decimals(parameter.min, parameter.max, step, 10 * kMaxBenchmarks);
  return values ? *std::move(values) : std::vector<std::string>();
}

std::string fill_in_value(std::string text, std::string_view mention, std::string_view value) {
  for (std::size_t place = text.find(mention); place != std::string::npos;
       place = text.find(mention, place + value.size()))
    text.replace(place, mention.size(), value);
  return text;
}

/// Returns the name that options share which set the same value. A later one replaces the others.
std::string_view family_of(const OptionInfo& option) {
  return option.rules.sets_value_of.empty() ? option.name : option.rules.sets_value_of;
}

bool is_gate(const OptionInfo& option) {
  return option.name == "fail-if" || option.name == "fail-if-slower";
}

bool concerns_session(const OptionInfo& option) {
  return option.rules.scope == Scope::Session || option.rules.scope == Scope::TypedSession;
}

std::optional<Words> read_texts(const toml::array& list) {
  Words texts;
  for (const toml::node& element : list) {
    auto text = read_scalar_as_text(element);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return texts;
}

/// Returns the words of one value of the option; nullopt if `value` has another form.
std::optional<Words> to_words(const OptionInfo& option, const toml::node& value) {
  const std::size_t count = count_words_if_several(option);
  std::optional<Words> words;
  if (count == 0) {
    if (auto text = read_scalar_as_text(value)) words = {*std::move(text)};
    return words;
  }
  if (const auto* text = value.as_string()) {
    if (auto found = split_words(text->get())) words = *std::move(found);
  } else if (const toml::array* list = value.as_array()) {
    words = read_texts(*list);
  }
  return words && words->size() == count ? words : std::nullopt;
}

/// Replaces the names after the first `max_names` by their number: "3 more".
void shorten_list(Words& names, std::size_t max_names) {
  if (names.size() <= max_names) return;
  const std::size_t left_out = names.size() - max_names;
  names.resize(max_names);
  names.push_back(fmt::format("{} more", left_out));
}

/// Reads `true`, which gives the option once without a word, or `false`, which does not give it.
Result<std::vector<Words>> read_flag(const OptionInfo& option, bool flag) {
  if (option.value_form != ValueForm::Nothing && !is_value_optional(option))
    return Error{option.spelling() + " needs a value", "write it in quotes, or a number"};
  const std::size_t times = flag ? 1 : 0;
  return std::vector<Words>(times);
}

/// Reads the value of a single repetition, or a list with one for each repetition. Returns nullopt
/// if `value` has another form.
std::optional<std::vector<Words>> read_values(const OptionInfo& option, const toml::node& value) {
  if (auto words = to_words(option, value)) return std::vector<Words>{*std::move(words)};
  const toml::array* list = value.as_array();
  if (list == nullptr) return std::nullopt;

  std::vector<Words> repetitions;
  for (const toml::node& element : *list) {
    auto words = to_words(option, element);
    if (!words) return std::nullopt;
    repetitions.push_back(*std::move(words));
  }
  return repetitions;
}

Error make_wrong_form_error(const OptionInfo& option) {
  const std::size_t words = count_words_if_several(option);
  if (words == 0) return {option.spelling() + " needs a list of values", "write them in quotes"};
  return {fmt::format("{} needs {} words", option.spelling(), words),
          fmt::format("write {} = \"{}\"", option.name, option.value_placeholder)};
}

/// Reads the value of an option in the file. On the command line, an option may be repeated, so the
/// result has the words of each repetition. Without any, the option is not given.
Result<std::vector<Words>> read_repetitions(const OptionInfo& option, const toml::node& value) {
  const auto* flag = value.as_boolean();
  if (flag != nullptr && count_words_if_several(option) == 0) return read_flag(option, flag->get());
  if (option.value_form == ValueForm::Nothing)
    return Error{option.spelling() + " takes no value",
                 fmt::format("write {} = true", option.name)};

  auto repetitions = read_values(option, value);
  if (!repetitions) return make_wrong_form_error(option);
  return *std::move(repetitions);
}

/// Returns an error for one of the two options that lauka obeys only if the user has typed them.
Error refused_in_file(const OptionInfo& option) {
  if (option.name == "tune")
    return Error{"--tune changes the machine, so a suite's file cannot ask for it",
                 "remove it here, and give it on the command line"};
  return Error{"--as-root gives root's rights, so a suite's file cannot ask for it",
               "remove it here, and give it on the command line if the commands must run as root"};
}

Result<void> apply(const Setting& setting, ParsedOptions& draft) {
  for (const Words& words : setting.repetitions) {
    const std::string value = words.empty() ? "" : words.front();
    draft.applied_options.push_back(setting.option);
    if (auto applied = setting.option->apply(draft, {*setting.option, value, words}); !applied)
      return applied;
  }
  return {};
}

/// The entries of a [[benchmark]] table, without its name.
struct OwnEntries {
  Settings settings{};
  Words commands{};
};

class SuiteReader {
 public:
  explicit SuiteReader(const Options& typed) : typed_(typed) {}

  Result<Suite> read(std::string_view text) {
    const auto parsed = parse_toml(text, {kExpectedShape, "duration = \"500ms\""});
    if (const auto* fault = std::get_if<TomlFault>(&parsed))
      return make_error_at(fault->line, fault->error);
    return read_tables(std::get<toml::table>(parsed));
  }

 private:
  Result<Suite> read_tables(const toml::table& root) {
    if (auto checked = check_tables(root); !checked) return checked.error();
    if (const auto* defaults = root["defaults"].as_table())
      if (auto taken = take_defaults(*defaults); !taken) return taken.error();
    take_typed_options();
    if (auto session = read_session(); !session) return session.error();
    const toml::array& benchmarks = *root["benchmark"].as_array();
    suite_.benchmarks.reserve(benchmarks.size());
    for (const toml::node& table : benchmarks)
      if (auto added = add_benchmark(*table.as_table()); !added) return added.error();
    if (auto checked = check_inconclusive_status(); !checked) return checked.error();
    if (auto chosen = select_benchmarks(); !chosen) return chosen.error();
    note_replaced_gates();
    return std::move(suite_);
  }

  Result<void> check_tables(const toml::table& root) const {
    for (const auto& [key, node] : root) {
      const bool is_defaults = key.str() == "defaults" && node.is_table();
      const bool is_benchmarks = key.str() == "benchmark" && node.is_array_of_tables();
      if (!is_defaults && !is_benchmarks)
        return make_error_at(
            line_of_toml(node),
            {fmt::format("{} has no meaning here", cited(key.str())), kExpectedShape});
      auto checked =
          is_defaults ? check_table(*node.as_table()) : check_benchmarks(*node.as_array());
      if (!checked) return checked;
    }
    if (root.contains("benchmark")) return {};
    return make_error_at(kNoLine, {"has no benchmark", kExpectedShape});
  }

  Result<void> check_benchmarks(const toml::array& list) const {
    if (list.size() > kMaxBenchmarks)
      return make_error_at(line_of_toml(list),
                           {fmt::format("{} benchmarks are too many", list.size()),
                            fmt::format("divide them among files of at most {}", kMaxBenchmarks)});
    for (const toml::node& node : list)
      if (auto checked = check_table(*node.as_table()); !checked) return checked;
    return {};
  }

  Result<void> check_table(const toml::table& table) const {
    if (table.size() > kMaxEntries)
      return make_error_at(line_of_toml(table),
                           {fmt::format("{} options are too many", table.size()), ""});
    for (const auto& [key, node] : table)
      if (!is_readable(node))
        return make_error_at(
            line_of_toml(node),
            {fmt::format("{} has a kind of value that no option takes", cited(key.str())),
             "write text in quotes, a number, true or false, or a list of these"});
    return {};
  }

  /// Puts the file, the line, and the benchmark that is being read before an error.
  Error make_error_at(std::size_t line, const Error& error) const {
    std::string place = one_line(*typed_.suite.suite_path);
    if (line != kNoLine) place += fmt::format(":{}", line);
    if (!benchmark_name_.empty()) place += ": benchmark " + cited(benchmark_name_);
    return error.prefixed(place);
  }

  Error make_unknown_option_error(const Entry& entry) const {
    // Besides options, a benchmark has a name and commands.
    std::vector<std::string_view> names = {"name", "commands"};
    for (const OptionInfo& row : option_table())
      if (!row.name.empty()) names.push_back(row.name);
    const std::string_view similar = nearest(entry.key, names);
    return make_error_at(entry.line, {"unknown option " + cited(entry.key),
                                      similar.empty() ? "lauka --help lists the options"
                                                      : fmt::format("did you mean {}?", similar)});
  }

  /// Finds the option that an entry of the file sets. Refuses options that no file may set, which
  /// their scope says.
  Result<const OptionInfo*> find_suite_option(const Entry& entry) const {
    const OptionInfo* option = find_option(entry.key);
    if (option == nullptr) return make_unknown_option_error(entry);

    if (option->rules.scope == Scope::Call)
      return make_error_at(entry.line,
                           {fmt::format("{} cannot be set in a suite's file", option->spelling()),
                            "give it on the command line, or leave it out"});

    if (option->rules.scope == Scope::PlainCall)
      return make_error_at(entry.line, make_not_in_suite_error(*option));

    if (option->rules.scope == Scope::TypedSession)
      return make_error_at(entry.line, refused_in_file(*option));

    return option;
  }

  Result<void> read_entry(const Entry& entry, Settings& settings) const {
    const auto option = find_suite_option(entry);
    if (!option) return option.error();
    if (!benchmark_name_.empty() && concerns_session(**option))
      return make_error_at(entry.line,
                           {fmt::format("{} concerns the whole session", (*option)->spelling()),
                            "write it in [defaults], or give it on the command line"});
    auto repetitions = read_repetitions(**option, *entry.value);
    if (!repetitions) return make_error_at(entry.line, repetitions.error());
    const Origin origin = benchmark_name_.empty() ? Origin::Defaults : Origin::Benchmark;
    settings.push_back({*option, *std::move(repetitions), entry.line, origin});
    ParsedOptions alone;
    if (auto applied = apply(settings.back(), alone); !applied)
      return make_error_at(entry.line, applied.error());
    return {};
  }

  Result<void> take_defaults(const toml::table& table) {
    for (const Entry& entry : list_entries(table)) {
      if (entry.key == "name" || entry.key == "commands")
        return make_error_at(entry.line, {fmt::format("[defaults] has {}", entry.key),
                                          "write it in each [[benchmark]]"});
      if (auto taken = read_entry(entry, shared_settings_); !taken) return taken;
    }
    return {};
  }

  void take_typed_options() {
    for (const CommandLineOption& typed : typed_.command_line_options) {
      const OptionInfo* option = option_of_key(typed.key);
      if (option == nullptr || option->rules.scope == Scope::Call) continue;
      shared_settings_.push_back({option, {typed.words}});
    }
  }

  /// Returns the typed gates that gates of a benchmark replace.
  std::vector<std::string> list_replaced_gates(const Settings& own) const {
    std::vector<std::string> gates;
    for (const Setting& typed : shared_settings_) {
      if (typed.origin != Origin::CommandLine || !is_gate(*typed.option)) continue;
      const bool is_replaced = std::ranges::any_of(own, [&](const Setting& setting) {
        return family_of(*setting.option) == family_of(*typed.option);
      });
      if (!is_replaced) continue;
      for (const Words& words : typed.repetitions)
        gates.push_back(typed.option->spelling() +
                        (words.empty() || words.front().empty() ? "" : " " + cited(words.front())));
    }
    return gates;
  }

  /// Returns the selected benchmarks whose own gates replace typed gates.
  std::vector<Benchmark*> list_benchmarks_with_replaced_gates() {
    std::vector<Benchmark*> found;
    for (Benchmark& benchmark : suite_.benchmarks)
      if (replaced_gates_by_benchmark_.contains(benchmark.name)) found.push_back(&benchmark);
    return found;
  }

  /// Tells the user which of the typed gates the suite's file replaces. One note, which the first
  /// such benchmark gets, names all benchmarks, so that a long suite does not repeat it.
  void note_replaced_gates() {
    const std::vector<Benchmark*> benchmarks = list_benchmarks_with_replaced_gates();
    if (benchmarks.empty()) return;

    std::set<std::string> sorted_gates;
    Words names;
    for (const Benchmark* benchmark : benchmarks) {
      const Words& gates = replaced_gates_by_benchmark_.at(benchmark->name);
      sorted_gates.insert(gates.begin(), gates.end());
      names.push_back(cited(benchmark->name));
    }
    constexpr std::size_t max_names = 5;
    shorten_list(names, max_names);
    benchmarks.front()->notes.push_back(
        {"gate_replaced",
         fmt::format("the gates in the suite's file replace {} in {}",
                     listed(Words(sorted_gates.begin(), sorted_gates.end())), listed(names))});
  }

  /// Applies the settings of [defaults], of the command line and of one benchmark. A setting
  /// displaces another one of the same option if it is from a stronger origin.
  Result<ParsedOptions> read_draft(const Settings& own, Scope scope) const {
    Settings all = shared_settings_;
    all.insert(all.end(), own.begin(), own.end());
    ParsedOptions draft;
    for (const Setting& setting : all) {
      const bool is_displaced = std::ranges::any_of(all, [&](const Setting& other) {
        return other.origin > setting.origin &&
               (family_of(*other.option) == family_of(*setting.option) ||
                contradict_each_other(*other.option, *setting.option));
      });
      const bool is_out_of_scope = scope == Scope::Session && !concerns_session(*setting.option);
      if (is_displaced || is_out_of_scope) continue;
      if (auto applied = apply(setting, draft); !applied)
        return make_error_at(setting.line, applied.error());
    }
    return draft;
  }

  Result<void> read_session() {
    auto draft = read_draft({}, Scope::Session);
    if (!draft) return draft.error();
    draft->options.suite = typed_.suite;
    auto options = complete_options(*std::move(draft));
    if (!options) return make_error_at(kNoLine, options.error());
    suite_.session_options = *std::move(options);
    return {};
  }

  Result<void> take_commands(const Entry& entry, Words& commands) const {
    if (const auto* text = entry.value->as_string()) commands = {text->get()};
    const toml::array* list = entry.value->as_array();
    if (list != nullptr && list->is_homogeneous(toml::node_type::string))
      commands = *read_texts(*list);
    if (!commands.empty()) return {};
    return make_error_at(entry.line, {"commands must be a list of command lines",
                                      "write commands = [\"./old\", \"./new\"]"});
  }

  Result<void> take_name(const Entry& entry) {
    const auto* name = entry.value->as_string();
    if (name == nullptr || name->get().empty())
      return make_error_at(entry.line,
                           {name == nullptr ? "name must be a string" : "name must not be empty",
                            "write name = \"parse\""});
    benchmark_name_ = name->get();
    if (!names_.insert(benchmark_name_).second)
      return make_error_at(entry.line, {"another benchmark has the same name",
                                        "give each benchmark a name of its own"});
    return {};
  }

  /// Reads a [[benchmark]] table. Sets benchmark_name_, and returns the other entries.
  Result<OwnEntries> set_name_and_read_entries(const toml::table& table) {
    // The name is read first, because errors in other entries mention it.
    const std::vector<Entry> entries = list_entries(table);
    const auto name_entry = std::ranges::find(entries, "name", &Entry::key);
    if (name_entry == entries.end())
      return make_error_at(line_of_toml(table),
                           {"a benchmark has no name", "write name = \"parse\""});
    if (auto taken = take_name(*name_entry); !taken) return taken.error();

    OwnEntries own;
    for (const Entry& entry : entries) {
      if (entry.key == "name") continue;
      auto taken = entry.key == "commands" ? take_commands(entry, own.commands)
                                           : read_entry(entry, own.settings);
      if (!taken) return taken.error();
    }
    return own;
  }

  /// Returns the options of the benchmark in `line` of the file.
  Result<Options> make_benchmark_options(const OwnEntries& own, std::size_t line) const {
    auto draft = read_draft(own.settings, Scope::Benchmark);
    if (!draft) return draft.error();
    draft->options.commands.command_lines = own.commands;
    if (own.commands.empty() && !draft->reference_command)
      return make_error_at(line,
                           {"there are no commands", "write commands = [\"./old\", \"./new\"]"});

    // --fail-if-inconclusive would be refused for a benchmark without a gate, but one gate in the
    // whole suite is enough, as check_inconclusive_status() checks.
    draft->options.gates.inconclusive_status.reset();
    auto options = complete_options(*std::move(draft));
    if (!options) return make_error_at(line, options.error());
    return options;
  }

  /// Adds the benchmark that a [[benchmark]] table describes; one for each combination of values if
  /// its name mentions parameters.
  Result<void> add_benchmark(const toml::table& table) {
    const std::size_t line = line_of_toml(table);
    const auto own = set_name_and_read_entries(table);
    if (!own) return own.error();
    auto options = make_benchmark_options(*own, line);
    if (!options) return options.error();

    const std::size_t first_added = suite_.benchmarks.size();
    auto added =
        add_for_each_value({.name = benchmark_name_, .options = *std::move(options)}, line);
    if (!added) return added;

    // The benchmarks may replace gates of the command line. The user is told so later, when it is
    // known which benchmarks run.
    const auto replaced_gates = list_replaced_gates(own->settings);
    if (!replaced_gates.empty())
      for (std::size_t b = first_added; b < suite_.benchmarks.size(); ++b)
        replaced_gates_by_benchmark_[suite_.benchmarks[b].name] = replaced_gates;

    // Errors mention this name, but later errors are not about this benchmark.
    benchmark_name_.clear();
    return {};
  }

  /// Returns each benchmark once for each value of its parameter number `p`, with the value in
  /// place of `mention` ("{n}") in its name.
  static std::vector<Benchmark> fill_in_values(const std::vector<Benchmark>& benchmarks,
                                               std::size_t p, std::string_view mention,
                                               const std::vector<std::string>& values) {
    std::vector<Benchmark> filled;
    for (const Benchmark& benchmark : benchmarks) {
      for (const std::string& value : values) {
        Benchmark& with_value = filled.emplace_back(benchmark);
        with_value.name = fill_in_value(benchmark.name, mention, value);
        ParameterOption& parameter = with_value.options.commands.parameters[p];
        parameter = {.name = parameter.name, .values = {value}};
      }
    }
    return filled;
  }

  /// `mention`: a parameter in the name of the benchmark in `line`, such as "{n}".
  Error make_too_many_values_error(std::size_t line, std::string_view mention) const {
    return make_error_at(
        line,
        {fmt::format("the parameters in its name make more than {} benchmarks", kMaxBenchmarks),
         fmt::format("give fewer values, or leave {} out of the name", mention)});
  }

  /// Returns the benchmark once for each combination of values of the parameters that its name
  /// mentions. `line`: where the benchmark is in the file.
  Result<std::vector<Benchmark>> multiply_by_values(Benchmark benchmark, std::size_t line) const {
    // In each step, one parameter multiplies the benchmarks. They all have the same parameters.
    const std::vector<ParameterOption> parameters = benchmark.options.commands.parameters;
    std::vector<Benchmark> benchmarks = {std::move(benchmark)};
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const std::string mention = "{" + parameters[p].name + "}";
      if (benchmarks.front().name.find(mention) == std::string::npos) continue;

      const std::vector<std::string> values = list_values_to_fill_in(parameters[p]);
      if (values.size() * benchmarks.size() > kMaxBenchmarks)
        return make_too_many_values_error(line, mention);

      // Invalid values are refused later, when the commands are made.
      if (!values.empty()) benchmarks = fill_in_values(benchmarks, p, mention, values);
    }
    return benchmarks;
  }

  /// Adds the benchmark once for each combination of values of the parameters that its name
  /// mentions. `line`: where the benchmark is in the file.
  Result<void> add_for_each_value(Benchmark benchmark, std::size_t line) {
    auto benchmarks = multiply_by_values(std::move(benchmark), line);
    if (!benchmarks) return benchmarks.error();

    // The name as it is in the file was compared with the others when it was read.
    const std::string name_in_file = benchmark_name_;
    for (Benchmark& filled : *benchmarks) {
      if (filled.name != name_in_file && !names_.insert(filled.name).second)
        return make_error_at(
            line, {fmt::format("there is more than one benchmark {}", cited(filled.name)),
                   "give each benchmark a name of its own"});
      suite_.benchmarks.push_back(std::move(filled));
    }
    if (suite_.benchmarks.size() > kMaxBenchmarks)
      return make_error_at(line,
                           {fmt::format("more than {} benchmarks are too many", kMaxBenchmarks),
                            "divide them among several files"});
    return {};
  }

  /// --fail-if-inconclusive applies to the whole suite, so it needs a gate of any benchmark.
  Result<void> check_inconclusive_status() const {
    const bool has_gate = std::ranges::any_of(suite_.benchmarks, [](const Benchmark& benchmark) {
      return !benchmark.options.gates.conditions.empty();
    });
    if (suite_.session_options.gates.inconclusive_status && !has_gate)
      return make_error_at(kNoLine, {"--fail-if-inconclusive has no effect without a gate",
                                     "add fail-if-slower = 1 or fail-if = \"METRIC > PCT\""});
    return {};
  }

  /// True if --only is not given, or its pattern matches `name`.
  Result<bool> matches_filter(const std::string& name) const {
    const std::optional<Pattern>& pattern = typed_.suite.benchmark_filter;
    if (!pattern) return true;
    const auto has_no_limit = [] { return true; };  // names are too short to match for long
    auto matches = pattern->matches(name, has_no_limit);
    if (!matches) return matches.error().prefixed("--only " + cited(pattern->text()));
    return matches;
  }

  Error make_no_match_error() const {
    Words names;
    for (const Benchmark& benchmark : suite_.benchmarks) names.push_back(cited(benchmark.name));
    constexpr std::size_t max_names = 20;
    shorten_list(names, max_names);
    return {
        fmt::format("--only {} matches no benchmark of {}",
                    cited(typed_.suite.benchmark_filter->text()), cited(*typed_.suite.suite_path)),
        "they are " + listed(names)};
  }

  /// Removes the benchmarks that --only and --shard do not select. The shards take benchmarks in
  /// turn, so a benchmark added at the end of the file moves no benchmark to another shard.
  Result<void> select_benchmarks() {
    if (!typed_.suite.benchmark_filter && !typed_.suite.shard) return {};
    const Shard whole_suite{.part = 1, .part_count = 1};
    const Shard shard = typed_.suite.shard.value_or(whole_suite);

    std::vector<Benchmark> selected;
    bool matches_any = false;
    for (std::size_t i = 0; i < suite_.benchmarks.size(); ++i) {
      const Result<bool> checked = matches_filter(suite_.benchmarks[i].name);
      if (!checked) return checked.error();
      const bool matches = *checked;
      if (!matches) continue;

      matches_any = true;
      const bool is_in_shard = i % shard.part_count == shard.part - 1;  // parts count from 1
      if (is_in_shard) selected.push_back(std::move(suite_.benchmarks[i]));
    }

    // A shard may be empty, but a pattern without any match is probably mistyped.
    if (!matches_any) return make_no_match_error();
    suite_.benchmarks = std::move(selected);
    return {};
  }

  const Options& typed_;
  Settings shared_settings_;    // of [defaults], then of the command line
  std::string benchmark_name_;  // name of the benchmark that is being read; empty between them
  Suite suite_;
  std::set<std::string> names_;
  /// For the name of each benchmark, the typed gates that its own gates replace.
  std::map<std::string, std::vector<std::string>> replaced_gates_by_benchmark_;
};

}  // namespace

Result<Suite> read_suite(const Options& typed, std::string_view text) {
  return SuiteReader(typed).read(text);
}

}  // namespace lauka::cli
