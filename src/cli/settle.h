#pragma once

#include "cli/option_table.h"
#include "cli/options.h"
#include "core/result.h"

namespace lauka::cli {

/// Checks options against each other and completes their values. For a suite, checks only the
/// exports, because read_suite() checks each benchmark.
Result<Options> complete_options(ParsedOptions draft);

/// True for questions about lauka itself: help and version.
bool is_about_lauka(InquiryKind kind);

/// Refuses commands and options that contradict --suite, and options that need a missing --suite.
Result<void> refuse_if_unfit_for_suite(const ParsedOptions& draft);

/// Returns the refusal of an option with Scope::PlainCall in a suite.
Error make_not_in_suite_error(const OptionInfo& option);

}  // namespace lauka::cli
