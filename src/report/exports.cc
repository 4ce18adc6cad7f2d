#include "report/exports.h"

#include "core/numbers.h"
#include "core/text.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/layout_lines.h"
#include "report/lines.h"
#include "report/race_lines.h"
#include "report/screen.h"
#include "report/suite_screen.h"
#include "report/table.h"
#include "results/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

// Go's benchmark format: https://go.dev/design/14313-benchmark-format; benchstat takes each line
// for a sample. Markdown is written for GitHub, AsciiDoc for Asciidoctor, and Org for Emacs.

namespace lauka::report {

namespace {

constexpr const char* kLineEnd = "\r\n";

/// True if a spreadsheet could take `text` for a formula, such as -1+2, but not -1.5.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos &&
         !is_decimal(text);
}

/// Returns the value without rounding; empty for an unknown or infinite value.
std::string format_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? exact_decimal(*value) : "";
}

/// Returns a statistic of the row's runs as a CSV field; empty if the row does not have it.
std::string format_statistic(const MetricResult& row, const Statistic& statistic) {
  // The ends of a percentile's interval are not minimum and maximum.
  if (row.quantile) return "";

  // If some runs only have an upper bound of the value, the largest bound is the only statistic.
  if (!row.summary) return statistic.key == "max" ? format_number(row.largest_bound_of_runs) : "";

  return std::visit(
      [&](auto member) {
        const auto value = std::invoke(member, *row.summary);
        if constexpr (std::is_integral_v<decltype(value)>)
          return fmt::to_string(value);
        else
          return format_number(value);
      },
      statistic.value);
}

/// Returns the fields of make_statistic_headings. A quantile has only its value, in the place of
/// the mean.
std::string make_summary_fields(const MetricResult& row) {
  std::optional<double> value = row.mean_without_run_values;
  if (row.summary) value = row.summary->mean;
  if (row.quantile) value = row.quantile->value;

  std::string fields = format_number(value);
  for (const Statistic& statistic : kStatistics)
    if (statistic.is_in_csv) fields += "," + format_statistic(row, statistic);
  return fields;
}

std::string make_statistic_headings() {
  std::string headings = "mean";
  for (const Statistic& statistic : kStatistics)
    if (statistic.is_in_csv) headings.append(",").append(statistic.key);
  return headings;
}

/// Returns the change in percent, and the ends of its interval. Unknown fields are empty.
std::string delta_fields(const std::optional<stats::Delta>& delta) {
  if (!delta || !delta->change) return ",,";
  const std::string change = format_number(100 * *delta->change);
  if (!delta->bounds) return change + ",,";
  return fmt::format("{},{},{}", change, format_number(100 * delta->bounds->low),
                     format_number(100 * delta->bounds->high));
}

std::string failed_field(const Endings& endings) {
  return endings.runs_with_ending > 0 ? fmt::to_string(endings.failed_runs()) : "";
}

bool has_races(const Report& report) {
  return std::ranges::any_of(
      report.benchmarks, [](const Results& results) { return results.findings.race.has_value(); });
}

/// Returns a comma, and the number of rounds after which the command left a race if it did.
std::string race_field(const Results& results, std::size_t command) {
  const auto& race = results.findings.race;
  const gate::RaceExit* exit = race ? race->find_exit(command) : nullptr;
  return exit == nullptr ? "," : fmt::format(",{}", exit->rounds);
}

/// Returns a comma and the parameter's value for each of `names`, empty if the command lacks it.
std::string parameter_fields(const Command& command, const std::vector<std::string>& names) {
  std::string fields;
  for (const std::string& name : names) {
    const Parameter* parameter = find_parameter(command, name);
    fields += "," + (parameter == nullptr ? "" : csv_field(parameter->value));
  }
  return fields;
}

void add_missing(const std::vector<std::string>& more, std::vector<std::string>& all) {
  for (const std::string& text : more)
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

/// Returns the names of the parameters of all commands, each once.
std::vector<std::string> list_parameters(const Report& report) {
  std::vector<std::string> names;
  for (const Results& results : report.benchmarks) add_missing(parameter_names(results), names);
  return names;
}

std::string parameter_headings(const std::vector<std::string>& names) {
  std::string headings;
  for (const std::string& name : names) headings += "," + csv_field("parameter_" + name);
  return headings;
}

/// Returns the first column of a suite with its comma; empty outside suites.
std::string benchmark_heading(const Report& report) {
  return report.is_suite() ? "benchmark," : "";
}

std::string benchmark_field(const Results& results) {
  return results.benchmark.empty() ? "" : csv_field(results.benchmark) + ",";
}

/// The columns of --export-runs that not every export has.
struct RunColumns {
  std::vector<std::string> metrics{};
  std::vector<std::string> parameters{};
  bool has_layouts = false;
};

/// Returns the index of each metric; nullopt for a metric that only other benchmarks have.
std::vector<std::optional<std::size_t>> find_metrics(const std::vector<Metric>& metrics,
                                                     const std::vector<std::string>& names) {
  std::vector<std::optional<std::size_t>> indices;
  indices.reserve(names.size());
  for (const std::string& name : names) indices.push_back(find_metric(metrics, name));
  return indices;
}

/// Returns the run's number in the whole suite with its comma; only the comma if it has none.
std::string suite_number_field(const RunRow& run) {
  const std::uint32_t number = run.details.number_in_suite;
  return (number != 0 ? fmt::to_string(number) : "") + ",";
}

/// Returns the fields that every export of runs has. Runs, rounds and passes are stored from 0, and
/// written from 1.
std::string make_run_fields(const Recording& session, std::size_t index, const RunRow& run) {
  return fmt::format("{},{},{},{},{},{}", csv_field(session.commands[run.command].name), index + 1,
                     run.round + 1, run.pass + 1, run.status ? fmt::to_string(*run.status) : "",
                     ending_word(run.ending));
}

/// Returns a comma, and the run's layout if its command has several.
std::string layout_field(const Recording& session, const RunRow& run) {
  return "," + (count_layouts(session, run.command) > 1 ? fmt::to_string(run.layout + 1) : "");
}

/// Writes a CSV row for each run of one benchmark. The file has the columns of all benchmarks of
/// the suite, so a field stays empty if this benchmark does not have it.
void write_run_rows(const Results& results, const RunColumns& columns, const Sink& sink) {
  const Recording& session = results.session;
  const std::string benchmark = benchmark_field(results);
  const auto metric_indices = find_metrics(session.metrics, columns.metrics);

  for (std::size_t i = 0; i < session.runs.size(); ++i) {
    const RunRow run = session.runs.row(i);
    sink(benchmark);
    const bool is_in_suite = !benchmark.empty();
    if (is_in_suite) sink(suite_number_field(run));
    sink(make_run_fields(session, i, run));
    if (columns.has_layouts) sink(layout_field(session, run));
    for (const auto& metric : metric_indices)
      sink("," + (metric ? format_number(session.runs.value(i, *metric)) : ""));
    sink(parameter_fields(session.commands[run.command], columns.parameters) + kLineEnd);
  }
}

/// The columns of --export-csv that not every export has.
struct SummaryColumns {
  std::vector<std::string> parameters{};
  bool shows_races = false;  ///< few sessions have a race
};

/// Writes a CSV row for each metric of a command.
void write_summary_rows(const Results& results, std::size_t command, const SummaryColumns& columns,
                        const Sink& sink) {
  const Command& shown = results.session.commands[command];
  for (const MetricResult& row : results.commands[command].rows) {
    const Metric& metric = results.session.metrics[row.metric_index];
    // The optional fields bring their commas: benchmark_field() has one at its end, race_field()
    // and parameter_fields() have one before each value.
    sink(fmt::format("{}{},{},{},{},{},{},{}{}{}{}", benchmark_field(results),
                     csv_field(shown.name), csv_field(metric.name), unit_symbol(metric.unit),
                     row.runs, make_summary_fields(row), delta_fields(row.delta),
                     failed_field(results.commands[command].endings),
                     columns.shows_races ? race_field(results, command) : "",
                     parameter_fields(shown, columns.parameters), kLineEnd));
  }
}

bool is_benchfmt_space(char32_t code) {
  return code == ' ' || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

/// The words that names in Go's format have so far, by the part of the name that they are.
struct KnownNames {
  BenchfmtNames benchmarks{};
  BenchfmtNames commands{};
  BenchfmtNames parameter_values{};
  BenchfmtNames full_names{};
};

/// Returns "Benchmarkparse/role=candidate" or "Benchmark/command=old_{n}/n=8".
std::string make_full_name(const Command& command, const ExportedCommandName& name,
                           KnownNames& known) {
  std::string text = "Benchmark" + known.benchmarks.word_of(name.benchmark);
  if (!name.role.empty()) text += fmt::format("/role={}", name.role);
  if (!name.command.empty()) {
    const std::string& typed = command.parameters.empty() ? command.name : command.unfilled_name;
    text += "/command=" + known.commands.word_of(typed + name.duplicate_suffix);
    for (const Parameter& parameter : command.parameters)
      text += fmt::format("/{}={}", benchfmt_word(parameter.name),
                          known.parameter_values.word_of(parameter.value));
  }
  // Go takes a number after a hyphen at the end for the number of processors.
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last + 1 < text.size() && text[last] == '-') text[last] = '_';
  return text;
}

/// Returns the name of each command. Go takes lines with equal names for runs of one command.
/// `known` numbers equal names of different commands, which it tells apart by a key: the benchmark
/// and the command's index.
std::vector<std::string> list_full_names(const Results& results, KnownNames& known) {
  std::vector<std::string> names;
  for (const ExportedCommandName& name : exported_command_names(results)) {
    const std::size_t command = names.size();
    const std::string key = fmt::format("{}\n{}", results.benchmark, command);
    names.push_back(known.full_names.name_of(
        key, make_full_name(results.session.commands[command], name, known)));
  }
  return names;
}

/// Returns " 0.591 sec/op 1234 cycles": the run's values with their units.
std::string list_values(const Recording& session, std::size_t run) {
  std::string values_and_units;
  for (std::size_t m = 0; m < session.metrics.size(); ++m) {
    const Metric& metric = session.metrics[m];
    // A percentile is a statistic of all runs, so a single run has no value of it.
    if (metric.percentile) continue;
    const auto value = session.runs.value(run, m);
    if (!value || !std::isfinite(*value)) continue;
    values_and_units +=
        fmt::format(" {} {}", exact_decimal(*value), benchfmt_unit(metric.name, metric.unit));
  }
  return values_and_units;
}

/// Writes a line in Go's benchmark format for each run of a benchmark: a name, the number of
/// iterations, and values with their units.
void write_benchfmt_runs(const Results& results, KnownNames& known, const Sink& sink) {
  const std::vector<std::string> names = list_full_names(results, known);
  for (std::size_t run = 0; run < results.session.runs.size(); ++run) {
    std::string values_and_units = list_values(results.session, run);

    // If any run of the command failed, all its runs have this value, so that its mean is the share
    // of failures.
    const RunRow row = results.session.runs.row(run);
    const bool has_failed_runs = !results.commands[row.command].endings.failed_run_groups.empty();
    if (has_failed_runs)
      values_and_units += fmt::format(" {} failed/op", is_failure(row.ending) ? 1 : 0);

    if (values_and_units.empty()) continue;
    constexpr std::string_view iterations = " 1";  // a line is about one run
    sink(fmt::format("{}{}{}\n", names[row.command], iterations, values_and_units));
  }
}

/// True for the underscore in a_b, which Markdown and AsciiDoc leave as it is.
bool is_underscore_within_word(const std::string& line, std::size_t at) {
  const auto is_word = [&](char c) { return is_letter(c) || is_digit(c); };
  return line[at] == '_' && at > 0 && at + 1 < line.size() && is_word(line[at - 1]) &&
         is_word(line[at + 1]);
}

/// Where Markdown text stands: in a cell of a table, or outside of tables.
enum class Inside { Cell, Text };

/// Returns `text` between as many backticks as necessary. Escapes | in a table, because Markdown
/// separates cells before it finds code.
template <Inside inside>
std::string markdown_code(std::string_view text) {
  const std::string line = one_line(text);
  std::string fence = "`";
  while (line.find(fence) != line.npos) fence += '`';
  // Markdown removes a space at each end of the code if both ends have a space.
  const bool needs_blanks = line.empty() || line.front() == '`' || line.back() == '`' ||
                            (line.front() == ' ' && line.back() == ' ');
  std::string code = fence + (needs_blanks ? " " : "");
  for (const char c : line) {
    if (c == '|' && inside == Inside::Cell) code += '\\';
    code += c;
  }
  return code + (needs_blanks ? " " : "") + fence;
}

/// True if GitHub may make a link of a part of `line`, or notify a user, in spite of escapes.
bool may_become_link(std::string_view line) {
  // A user or a team, an address, or an issue (GH-12).
  constexpr auto marks = std::to_array<std::string_view>({"@", "://", "www.", "GH-", "gh-"});
  const bool has_mark = std::ranges::any_of(
      marks, [&](std::string_view mark) { return line.find(mark) != line.npos; });
  const auto is_issue_number = [](char sign, char next) { return sign == '#' && is_digit(next); };
  return has_mark || std::ranges::adjacent_find(line, is_issue_number) != line.end();
}

/// Returns `text` with a backslash before each character that has a meaning in Markdown or HTML; as
/// code if escapes are not enough.
template <Inside inside>
std::string escape_markdown(std::string_view text) {
  const std::string line = one_line(text);
  if (may_become_link(line)) return markdown_code<inside>(line);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_underscore_within_word(line, i) &&
        std::string_view("\\`*_{}[]<>#|~&$").find(line[i]) != std::string_view::npos)
      escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

std::string markdown_head(const Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const TableColumn& column : table.columns) {
    head += " " + escape_markdown<Inside::Cell>(column.heading.text) + " |";
    rule += column.is_left_aligned ? ":--|" : "--:|";
  }
  return head + "\n" + rule + "\n";
}

constexpr Markup kMarkdown{.format_text = escape_markdown<Inside::Text>,
                           .format_user_text = escape_markdown<Inside::Cell>,
                           .format_warning = markdown_code<Inside::Text>,
                           .format_code = markdown_code<Inside::Cell>,
                           .format_head = markdown_head,
                           .line_break = "<br>",
                           .can_fold = true};

/// Replaces special characters by character references, which Asciidoctor does not interpret.
std::string asciidoc_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_repeated =
        (c == '-' || c == '.') && i > 0 && line[i - 1] == c;  // could become a dash or an ellipsis
    const bool is_special = std::string_view("\\`*_#+^~|{}[]<>&('\"").find(c) != line.npos;
    if (is_repeated || (is_special && !is_underscore_within_word(line, i)))
      escaped += fmt::format("&#{};", static_cast<int>(c));
    else
      escaped += c;
  }
  return escaped;
}

std::string asciidoc_code(std::string_view text) {
  return text.empty() ? "" : "`" + asciidoc_text(text) + "`";
}

std::string asciidoc_head(const Table& table) {
  std::string columns;
  std::string headings;
  for (const TableColumn& column : table.columns) {
    columns += columns.empty() ? "" : ",";
    columns += column.is_left_aligned ? "<" : ">";
    headings += "| " + asciidoc_text(column.heading.text) + "\n";
  }
  return fmt::format("[%header,cols=\"{}\"]\n|===\n{}\n", columns, headings);
}

/// Returns the entity by which Org shows the character at `at`; empty if the character has no
/// special meaning there.
std::string_view find_org_entity(const std::string& line, std::size_t at) {
  // Each special character has its entity at the same index.
  constexpr std::string_view special = "|\\*_^=+[]{}<>$~/";
  constexpr auto entities = std::to_array<std::string_view>(
      {"vert", "backslash", "ast", "under", "asciicirc", "equal", "plus", "lbrack", "rbrack",
       "lbrace", "rbrace", "lt", "gt", "dollar", "tilde", "slash"});
  const std::size_t index = special.find(line[at]);
  if (index == special.npos) return "";

  // Org takes / = + ~ for the beginning of markup, such as italic text or code, only at the
  // beginning of a word. Elsewhere they are not escaped, so that paths stay readable in the file.
  const bool is_at_word_begin =
      at == 0 || std::string_view(" -('\"{").find(line[at - 1]) != line.npos;
  const bool is_special_at_word_begin_only = std::string_view("/=+~").find(line[at]) != line.npos;
  return is_at_word_begin || !is_special_at_word_begin_only ? entities[index] : "";
}

/// Escapes text for Org, the markup of Emacs. Org has no escape character, but it shows entities
/// such as \vert{} as the characters that they name.
std::string org_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view entity = find_org_entity(line, i);
    if (entity.empty())
      escaped += line[i];
    else
      escaped += fmt::format("\\{}{{}}", entity);
  }
  return escaped;
}

/// Returns `text` as code if possible. Org cannot escape characters inside code.
std::string org_code(std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty()) return "";
  const char mark = line.find('=') == std::string::npos ? '=' : '~';
  const bool fits = line.find('|') == std::string::npos && line.front() != ' ' &&
                    line.back() != ' ' && line.find(mark) == std::string::npos;
  return fits ? mark + line + mark : org_text(line);
}

std::string org_head(const Table& table) {
  std::string head = "|";
  std::string rule;
  for (const TableColumn& column : table.columns) {
    head += " " + org_text(column.heading.text) + " |";
    rule += rule.empty() ? "|---" : "+---";
  }
  return head + "\n" + rule + "|\n";
}

std::string cell_text(const Cell& cell, CellContent content, const Markup& markup) {
  if (cell.text.empty()) return "";
  const auto emphasize = [&](const std::string& text) {
    return fmt::format("{0}{1}{0}", markup.strong, text);
  };
  if (content == CellContent::Name && cell.ink == Ink::Bold)
    return emphasize(markup.format_text(cell.text));
  if (content == CellContent::Name || content == CellContent::Code)
    return markup.format_code(cell.text);
  if (content == CellContent::Text) return markup.format_user_text(cell.text);
  const std::string_view mark = cell.mark == Mark::Better  ? markup.better_mark
                                : cell.mark == Mark::Worse ? markup.worse_mark
                                                           : "";
  const std::string text = std::string(mark) + cell.text;
  return cell.is_significant_delta ? emphasize(text) : text;
}

void write_table(const Table& table, const Markup& markup, const Sink& sink) {
  sink(markup.format_head(table));
  for (const TableRow& row : table.rows) {
    std::string line(markup.before_row);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      line += markup.before_cell;
      if (c < row.size()) line += " " + cell_text(row[c], table.columns[c].cell_content, markup);
      line += markup.after_cell;
    }
    sink(line.append(markup.after_row));
  }
  sink(markup.after_table);
}

void write_markup_tables(const Results& results, const Markup& markup, const Sink& sink) {
  if (!compact_table_replaces_full_tables(results))
    return write_table(markup_table(results, markup), markup, sink);
  const std::vector<std::size_t> metrics = compact_metrics(results, false);
  for (const std::size_t metric : metrics) {
    if (metric != metrics.front()) sink("\n");
    sink(markup.format_text(compact_title(results, metric)) + "\n\n");
    write_table(compact_table(results, metric), markup, sink);
  }
}

void write_function_tables(const Results& results, const Markup& markup, const Sink& sink) {
  const std::string before = results.benchmark.empty() ? "" : results.benchmark + ": ";
  for (const FunctionSection& section : function_sections(results)) {
    sink("\n" + markup.format_text(before + section.title) + "\n\n");
    write_table(section.table, markup, sink);
  }
}

std::string make_bullet_list(const std::vector<std::string>& texts, std::string_view bullet,
                             std::string (*format)(std::string_view text)) {
  std::string list;
  for (const std::string& text : texts)
    list += fmt::format("{}{}\n", bullet, format(trimmed(text)));
  return list.empty() ? "" : "\n" + list;
}

/// Returns the warnings as a list, which is folded if the markup language can do that.
std::string make_caveats(const Report& report, const Markup& markup) {
  const std::vector<std::string> warnings = warning_texts(report, {});
  const std::string caveats = make_bullet_list(warnings, markup.bullet, markup.format_warning);
  if (caveats.empty()) return "";
  if (!markup.can_fold) return "\nCaveats:\n" + caveats;
  return fmt::format("\n<details>\n<summary>{}</summary>\n{}\n</details>\n",
                     plural(warnings.size(), "caveat"), caveats);
}

std::string make_list(const std::string& lines, const Markup& markup) {
  return make_bullet_list(lines_with_text(lines), markup.bullet, markup.format_text);
}

constexpr bool kUsesColors = false;

/// Returns the lists below the tables of a suite.
std::string make_suite_lists(const Report& report, const Markup& markup) {
  return make_list(suite_layout_lines(report), markup) +
         make_list(gates_in_one_line(report) +
                       suite_gate_lines(report, ListedGates::AllButPlainPasses, kUsesColors),
                   markup) +
         make_list(suite_race_lines(report), markup);
}

/// Returns the lists below the tables of a session.
std::string make_session_lists(const Results& results, const Markup& markup) {
  return make_list(race_line(results), markup) + make_list(comparison_lines(results, {}), markup) +
         make_list(layout_lines(results), markup) + make_list(function_summary(results), markup) +
         make_list(precision_line(results) + gate_lines(results, kUsesColors) +
                       shell_start_time_lines(results),
                   markup);
}

/// Writes a report for a pull request or a document: the tables, and below them the lists. An item
/// of a list is what the screen shows as a line. `markup`: how the language, such as Markdown,
/// writes each part.
void write_markup(const Report& report, Markup markup, const Sink& sink) {
  // All benchmarks of a report are presented alike. Outside suites, the first is the only one.
  const Results& first = report.benchmarks.front();
  if (first.presentation.marks == MarksChoice::Emoji) {
    markup.better_mark = "⚡ ";
    markup.worse_mark = "💩 ";
  }

  if (report.is_suite()) {
    sink(markup.format_text(suite_title(report)) + "\n\n");
    write_table(suite_table(report), markup, sink);
  } else {
    write_markup_tables(first, markup, sink);
  }
  for (const Results& results : report.benchmarks) write_function_tables(results, markup, sink);

  const std::string lists =
      report.is_suite() ? make_suite_lists(report, markup) : make_session_lists(first, markup);
  sink(lists + make_caveats(report, markup));
}

/// Returns the names without abbreviation; in a suite, they have roles.
std::vector<ExportedCommandName> list_whole_names(const Results& results) {
  const bool is_in_suite = !results.benchmark.empty();
  std::vector<ExportedCommandName> names;
  for (std::size_t c = 0; c < results.session.commands.size(); ++c) {
    const std::string_view role = is_in_suite ? role_of(results.session.reference, c) : "";
    names.push_back({.benchmark = results.benchmark,
                     .role = std::string(role),
                     .command = results.session.commands[c].name});
  }
  return names;
}

/// Returns the name of a command as short as its role allows, and different from that of each
/// earlier command.
ExportedCommandName abbreviate_name(const std::vector<ExportedCommandName>& whole_names,
                                    std::size_t command) {
  const ExportedCommandName& whole = whole_names[command];
  const auto has_same_role = [&](const ExportedCommandName& other) {
    return other.role == whole.role;
  };
  const auto has_same_role_and_name = [&](const ExportedCommandName& other) {
    return has_same_role(other) && other.command == whole.command;
  };

  // If no other command of the benchmark has the role, the role is enough.
  ExportedCommandName name = whole;
  const bool is_in_suite = !whole.benchmark.empty();
  const bool is_only_one_of_role =
      is_in_suite && std::ranges::count_if(whole_names, has_same_role) == 1;
  if (is_only_one_of_role) name.command.clear();

  const auto earlier_names = std::span(whole_names).first(command);
  const auto same_before = std::ranges::count_if(earlier_names, has_same_role_and_name);
  if (same_before > 0) name.duplicate_suffix = fmt::format("#{}", same_before + 1);
  return name;
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string shown = (is_formula(text) ? "'" : "") + one_line(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// Each row has the statistics of one metric of one command. The columns are the same for all
/// benchmarks of a suite; fields that a row does not have are empty.
void write_summary_csv(const Report& report, const Sink& sink) {
  const SummaryColumns columns{.parameters = list_parameters(report),
                               .shows_races = has_races(report)};
  const std::string heading = "command,metric,unit,runs," + make_statistic_headings() +
                              ",delta_percent,delta_low_percent,delta_high_percent,failed_runs";
  sink(benchmark_heading(report) + heading + (columns.shows_races ? ",left_in_round" : "") +
       parameter_headings(columns.parameters) + kLineEnd);

  // A reference is followed by the commands that are compared with it.
  for (const Results& results : report.benchmarks)
    for (const std::size_t c : order_by_group(results.session.reference, results.commands.size()))
      write_summary_rows(results, c, columns, sink);
}

void write_runs_csv(const Report& report, const Sink& sink) {
  RunColumns columns{.parameters = list_parameters(report)};
  for (const Results& results : report.benchmarks)
    for (const Metric& metric : results.session.metrics)
      if (!metric.percentile) add_missing({metric.name}, columns.metrics);
  columns.has_layouts = std::ranges::any_of(report.benchmarks, [](const Results& results) {
    return results.session.setting.layouts > 1;
  });

  std::string heading = benchmark_heading(report) + (report.is_suite() ? "order," : "") +
                        "command,run,round,pass,status,outcome";
  if (columns.has_layouts) heading += ",layout";
  for (const std::string& name : columns.metrics) heading += "," + csv_field(name);
  sink(heading + parameter_headings(columns.parameters) + kLineEnd);

  for (const Results& results : report.benchmarks) write_run_rows(results, columns, sink);
}

std::string benchfmt_word(std::string_view text) {
  const std::string line = one_line(text);
  std::string word;
  for (std::string_view rest = line; !rest.empty();) {
    const Character first = first_character(rest);
    const bool is_end = is_benchfmt_space(first.code) || first.code == '/';
    word += is_end ? "_" : rest.substr(0, first.bytes);
    rest.remove_prefix(first.bytes);
  }
  return word;
}

std::string BenchfmtNames::name_of(const std::string& key, const std::string& name) {
  const auto [known, is_new] = names_by_key_.try_emplace(key, name);
  std::string& given = known->second;
  for (int duplicate = 2; is_new && !names_in_use_.insert(given).second; ++duplicate)
    given = fmt::format("{}#{}", name, duplicate);
  return given;
}

std::string benchfmt_unit(std::string_view metric, Unit unit) {
  if (metric == metric_name_of(Role::WallTime)) return "sec/op";
  const std::string_view suffix = unit == Unit::Seconds ? "-sec" : unit == Unit::Bytes ? "-B" : "";
  return benchfmt_word(metric) + std::string(suffix);
}

void write_benchfmt(const Report& report, const Sink& sink) {
  const Machine& machine = report.benchmarks.front().session.circumstances.machine;
  if (!machine.cpu_model.empty()) sink("cpu: " + one_line(machine.cpu_model) + "\n");

  // A unit of which more is better is described once, although many benchmarks have it.
  std::vector<std::string> known_units;
  for (const Results& results : report.benchmarks) {
    for (const Metric& metric : results.session.metrics) {
      const std::string unit = benchfmt_unit(metric.name, metric.unit);
      const bool is_known = std::ranges::find(known_units, unit) != known_units.end();
      if (metric.percentile || metric.better != Better::More || is_known) continue;
      known_units.push_back(unit);
      sink(fmt::format("Unit {} better=higher\n", unit));
    }
  }

  KnownNames known_names;
  for (const Results& results : report.benchmarks) write_benchfmt_runs(results, known_names, sink);
}

std::string_view role_of(const Reference& reference, std::size_t command) {
  if (reference.anchor_index == command) return "anchor";
  return reference.is_candidate(command) ? "candidate" : "reference";
}

std::string ExportedCommandName::text() const {
  std::string all = benchmark;
  for (const std::string& part : {role, command})
    if (!part.empty()) all += (all.empty() ? "" : " ") + part;
  return all + duplicate_suffix;
}

/// Programs such as Bencher follow a command over time by its name. In a suite, the role (reference
/// or candidate) is the name if it is enough, because it stays when the command line changes.
std::vector<ExportedCommandName> exported_command_names(const Results& results) {
  const std::vector<ExportedCommandName> whole_names = list_whole_names(results);
  std::vector<ExportedCommandName> names;
  for (std::size_t c = 0; c < whole_names.size(); ++c)
    names.push_back(abbreviate_name(whole_names, c));
  return names;
}

void write_markdown(const Report& report, const Sink& sink) {
  write_markup(report, kMarkdown, sink);
}

void write_markdown(const Table& table, const Sink& sink) {
  write_table(table, kMarkdown, sink);
}

std::string markdown_text(std::string_view text) {
  return escape_markdown<Inside::Text>(text);
}

void write_asciidoc(const Report& report, const Sink& sink) {
  write_markup(report,
               {.format_text = asciidoc_text,
                .format_user_text = asciidoc_text,
                .format_warning = asciidoc_text,
                .format_code = asciidoc_code,
                .format_head = asciidoc_head,
                .line_break = " +\n",
                .strong = "*",
                .before_row = "",
                .before_cell = "|",
                .after_cell = "\n",
                .after_table = "|===\n",
                .bullet = "* "},
               sink);
}

// Org shows a_b with b as a subscript, so names are code.
void write_orgmode(const Report& report, const Sink& sink) {
  write_markup(report,
               {.format_text = org_text,
                .format_user_text = org_code,
                .format_warning = org_text,
                .format_code = org_code,
                .format_head = org_head,
                .line_break = ", ",
                .strong = "*"},
               sink);
}

}  // namespace lauka::report
