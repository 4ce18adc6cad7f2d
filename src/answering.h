#pragma once

#include "cli/options.h"
#include "engine/engine.h"

#include <optional>
#include <string>

// Part of main: questions about events, which run no command.

namespace lauka {

/// Puts `text` on standard output and gives the exit status.
int show(const std::string& text);

/// Answers the inquiry of `options`: what there is to count here, or how it would be counted.
/// `note`: what is missing here, told beside a list that is the shorter for it.
int answer(const Options& options, engine::CounterEngine& engine,
           const std::optional<std::string>& note = std::nullopt);

/// The same of a kpep database instead of this machine. A program that cannot read one by itself
/// goes on as the one that can; `argv` is for that.
int answer_from_kpep(const Options& options, const char* const* argv);

}  // namespace lauka
