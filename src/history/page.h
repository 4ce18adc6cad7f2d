#pragma once

#include "core/choices.h"
#include "history/trend.h"
#include "report/table.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// One self-contained page: the changes for the worse and the better, a card for each series with a
/// small drawing (those that changed most come first), a forest plot of what several classes of
/// machines found, and a section for each series with its trend, its steps and its last commits.
/// Light or dark as the reader's system is.
class Page {
 public:
  /// `commit_url`: {} in it stands for a commit; empty: commits are no links.
  Page(std::string title, std::string commit_url)
      : title_(std::move(title)), commit_url_(std::move(commit_url)) {}

  void add(const SteppedSeries& stepped);

  void write(const Sink& sink) const;

 private:
  /// The order of changes: regressions, improvements, other steps; then the larger change.
  using Rank = std::pair<int, double>;

  /// A row of the list of changes.
  struct Change {
    Rank rank{};
    report::TableRow cells{};
  };

  /// The card and the section of a series; the machine's name goes between them.
  struct Part {
    Rank rank{3, 0.0};
    std::string machine{};
    std::string change{};
    std::string card_begin{};
    std::string card_end{};
    std::string section_begin{};
    std::string section_end{};
  };

  std::string link_of(const std::string& commit) const;
  std::string commit_html(const Observation& one) const;
  std::string steps_list(const SteppedSeries& stepped) const;
  std::string commit_rows(const SteppedSeries& stepped) const;
  void keep_for_machines(const Series& series);
  std::string machines_section() const;
  void write_changes(const Sink& sink) const;

  std::string title_;
  std::string commit_url_;
  std::vector<Change> changes_{};
  std::vector<Part> parts_{};
  std::map<std::string, std::vector<Series>> on_machines_{};  // by title
};

}  // namespace lauka::history
