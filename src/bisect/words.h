#pragma once

#include "bisect/git.h"
#include "bisect/rules.h"
#include "bisect/search_record.h"

#include <string>
#include <string_view>

// What lauka-bisect says about a search.

namespace lauka::bisect {

/// Returns "3c41f0b2a97d parser: keep the tokens in a list", in one line.
std::string describe(const Commit& commit);

/// Returns a change with its interval: "+4.1% ± 0.4%".
std::string change_text(const MeasuredChange& change);

/// Returns what a step's answer means for the search: "the change comes later". `asked_again`:
/// Step::asks_again.
std::string_view meaning_of(StepAnswer answer, bool asked_again);

/// Returns the lines that tell the answer of a search, which must have ended.
std::string answer_text(const SearchRecord& search, const std::string& metric);

/// Returns --export-markdown: for each search the answer, and a table with its steps.
std::string to_markdown(const BisectRecord& record);

}  // namespace lauka::bisect
