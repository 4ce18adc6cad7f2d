#pragma once

#include "core/choices.h"
#include "history/alarms.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lauka::history {

/// One self-contained page: an index of small drawings, a forest plot of what several classes of
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
  std::string link_of(const std::string& commit) const;
  std::string steps_list(const SteppedSeries& stepped) const;
  std::string commit_rows(const SteppedSeries& stepped) const;
  void keep_for_machines(const Series& series);
  std::string machines_section() const;

  std::string title_;
  std::string commit_url_;
  std::string index_{};
  std::string sections_{};
  std::map<std::string, std::vector<Series>> on_machines_{};  // by title
  std::size_t series_ = 0;
  std::size_t alarms_ = 0;
};

}  // namespace lauka::history
