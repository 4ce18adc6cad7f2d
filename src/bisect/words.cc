#include "bisect/words.h"

#include "core/text.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lauka::bisect {

namespace {

/// Most functions that the answer names. The JSON has all of them.
constexpr std::size_t kMaxFunctions = 3;

std::string write_commit_block(const Commit& commit) {
  return fmt::format("commit:  {}\ndate:    {}\nsubject: {}\n", commit.id, commit.date,
                     one_line(commit.subject));
}

std::string list_changed_functions(const SearchRecord& search) {
  if (search.functions_of.empty()) return "";
  if (search.functions.empty())
    return fmt::format("changed: none of the functions differs significantly in {}\n",
                       search.functions_of);

  std::string lines;
  const std::size_t shown = std::min(kMaxFunctions, search.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionRecord& function = search.functions[i];
    lines += fmt::format("{} {} ({} from {} to {})\n", i == 0 ? "changed:" : "        ",
                         one_line(function.name), search.functions_of,
                         report::quantity(function.parent_mean, search.functions_unit),
                         report::quantity(function.commit_mean, search.functions_unit));
  }
  if (search.functions.size() > shown)
    lines += fmt::format("         and {} more\n", search.functions.size() - shown);
  return lines;
}

/// Returns the last step about a commit; null without one.
const StepRecord* find_step(const SearchRecord& search, const Commit& commit) {
  const auto found =
      std::ranges::find_if(search.steps.rbegin(), search.steps.rend(),
                           [&](const StepRecord& step) { return step.commit.id == commit.id; });
  return found == search.steps.rend() ? nullptr : &*found;
}

/// Returns why the last step about a commit told nothing; empty without such a step.
std::string explain_suspect(const SearchRecord& search, const Commit& commit) {
  const StepRecord* step = find_step(search, commit);
  if (step != nullptr && step->answer == StepAnswer::Untestable) return step->reason;
  if (step != nullptr && step->answer == StepAnswer::Undecided) return "undecided";
  return "";
}

/// True if the search ended before it came to one of the suspects. The newest one is known to have
/// the change, so it needs no step.
bool has_untested_suspect(const SearchRecord& search) {
  return std::ranges::any_of(search.suspects, [&](const Commit& commit) {
    const bool is_newest = commit.id == search.suspects.back().id;
    return !is_newest && find_step(search, commit) == nullptr;
  });
}

/// Lists the commits of which one made the change, and why they could not be told apart.
std::string write_range(const SearchRecord& search) {
  std::string text =
      fmt::format("the change is in one of {}:\n", plural(search.suspects.size(), "commit"));
  for (const Commit& commit : search.suspects) {
    const std::string why_in_range = explain_suspect(search, commit);
    text += fmt::format("  {} {}{}\n", commit.date, describe(commit),
                        why_in_range.empty() ? "" : " (" + why_in_range + ")");
  }

  if (has_untested_suspect(search))
    text +=
        "The search ended before all of them were tested, because a commit stayed undecided. Give "
        "--duration more time, or leave out a limit such as --runs.\n";
  return text;
}

report::TableRow make_row(const Commit& commit, const std::optional<MeasuredChange>& change,
                          std::string verdict) {
  return {{.text = commit.short_id()},
          {.text = commit.date},
          {.text = commit.subject},
          {.text = change ? change_text(*change) : ""},
          {.text = change ? std::to_string(change->rounds) : ""},
          {.text = std::move(verdict)}};
}

report::TableColumn make_column(std::string heading, report::CellContent content) {
  return {.heading = {.text = std::move(heading)},
          .cell_content = content,
          .is_left_aligned = content != report::CellContent::Number};
}

/// Returns what the step `index` has shown, or the reason why its commit cannot be tested.
std::string write_verdict(const std::vector<StepRecord>& steps, std::size_t index) {
  const StepRecord& step = steps[index];
  if (!step.reason.empty()) return step.reason;

  // A second step about the same commit asks whether it has a smaller or larger part of the change.
  const bool asked_again = index > 0 && steps[index - 1].commit.id == step.commit.id;
  return std::string(meaning_of(step.answer, asked_again));
}

/// Makes the table of the commits that were tested: the bad end, then those of the steps, in order.
report::Table make_table(const SearchRecord& search) {
  using report::CellContent;
  report::Table table{
      .columns = {make_column("commit", CellContent::Code), make_column("date", CellContent::Text),
                  make_column("subject", CellContent::Text),
                  make_column("change from " + search.good.short_id(), CellContent::Number),
                  make_column("rounds", CellContent::Number),
                  make_column("verdict", CellContent::Text)}};

  table.rows.push_back(make_row(search.bad, search.ends, "the bad end"));
  for (std::size_t i = 0; i < search.steps.size(); ++i) {
    const StepRecord& step = search.steps[i];
    table.rows.push_back(make_row(step.commit, step.change, write_verdict(search.steps, i)));
  }
  return table;
}

/// Returns the answer as a paragraph with a list, and the table of the steps.
std::string write_search_markdown(const SearchRecord& search, const std::string& metric) {
  const std::string answer = answer_text(search, metric);
  std::string text;
  for (const std::string_view line : split(answer, '\n'))
    if (!line.empty())
      text += (text.empty() ? "" : "- ") + report::markdown_text(trimmed(line)) +
              (text.empty() ? "\n\n" : "\n");
  text += "\n";
  report::write_markdown(make_table(search), [&](std::string_view bytes) { text += bytes; });
  return text;
}

}  // namespace

std::string describe(const Commit& commit) {
  return fmt::format("{} {}", commit.short_id(), one_line(commit.subject));
}

std::string change_text(const MeasuredChange& change) {
  return report::delta_text(change.change);
}

std::string_view meaning_of(StepAnswer answer, bool asked_again) {
  switch (answer) {
    case StepAnswer::Before:
      return asked_again ? "a part of the change comes later" : "the change comes later";
    case StepAnswer::After:
      return asked_again ? "a part of the change is already here" : "the change is already here";
    case StepAnswer::Undecided:
      return "undecided";
    case StepAnswer::Untestable:
      break;
  }
  return "cannot be tested";
}

std::string answer_text(const SearchRecord& search, const std::string& metric) {
  if (search.answer == SearchAnswer::NoChange)
    return fmt::format("{} does not differ significantly between {} and {}{}\n", metric,
                       search.good.short_id(), search.bad.short_id(),
                       search.ends ? ": " + change_text(*search.ends) +
                                         report::detectable_text(search.ends->detectable)
                                   : "");
  if (!search.doubt.empty())
    return fmt::format("the steps lead to this commit, but {}:\n{}", search.doubt,
                       write_commit_block(search.suspects.front()));
  if (search.culprit() == nullptr) return write_range(search);
  return fmt::format("the commit that made the change:\n{}change:  {} {} from its parent {}\n{}",
                     write_commit_block(*search.culprit()), metric,
                     change_text(*search.from_parent), search.parent->short_id(),
                     list_changed_functions(search));
}

std::string to_markdown(const BisectRecord& record) {
  std::string text = record.is_complete ? "" : "The search ended before it found an answer.\n";
  for (const SearchRecord& search : record.searches)
    text += (text.empty() ? "" : "\n") + write_search_markdown(search, record.metric);
  return text;
}

}  // namespace lauka::bisect
