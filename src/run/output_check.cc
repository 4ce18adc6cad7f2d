#include "run/output_check.h"

#include "core/foreign_text.h"
#include "run/programs.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

constexpr const char* kRemedy = "mend it, or leave --expect-output out";

bool has_value(const Command& command, const Parameter& parameter) {
  return std::ranges::any_of(command.parameters, [&](const Parameter& own) {
    return own.name == parameter.name && own.value == parameter.value;
  });
}

bool was_made_alike(const Command& reference, const Command& command) {
  return std::ranges::all_of(reference.parameters,
                             [&](const Parameter& one) { return has_value(command, one); });
}

}  // namespace

OutputCheck::OutputCheck(const Plan& plan, const RunContext& context)
    : plan_(plan), context_(context) {
  for (std::size_t command = 0; command < plan.commands.size(); ++command)
    sources_.push_back(source_of(command));
}

/// With several commands typed, each combination of parameters has a reference of its own.
std::optional<std::size_t> OutputCheck::source_of(std::size_t command) const {
  const auto& commands = plan_.commands;
  const std::size_t reference = plan_.reference.command;
  const Command& own = commands[command];
  if (!own.expected || own.expected->kind != ExpectedOutput::Kind::Same) return std::nullopt;
  const std::size_t typed = commands[reference].typed;
  const bool is_one_typed =
      std::ranges::all_of(commands, [&](const Command& one) { return one.typed == typed; });
  if (is_one_typed) return command == reference ? std::nullopt : std::optional(reference);
  if (own.typed == typed) return std::nullopt;
  const auto found = std::ranges::find_if(
      commands, [&](const Command& one) { return one.typed == typed && was_made_alike(one, own); });
  if (found == commands.end()) return reference;
  return static_cast<std::size_t>(found - commands.begin());
}

std::vector<std::uint32_t> OutputCheck::due(std::uint32_t first, std::uint32_t count) const {
  const auto is_source = [&](std::size_t command) {
    return std::ranges::find(sources_, std::optional(command)) != sources_.end();
  };
  // Each behind what it is compared with, so that few outputs are stored at a time.
  std::vector<std::uint32_t> all;
  for (std::uint32_t command = first; command < first + count; ++command) {
    const auto& expected = plan_.commands[command].expected;
    if (sources_[command] || is_source(command) ||
        (expected && expected->kind != ExpectedOutput::Kind::Same))
      all.push_back(command);
  }
  std::ranges::stable_sort(all, [&](std::uint32_t a, std::uint32_t b) {
    return sources_[a].value_or(a) < sources_[b].value_or(b);
  });
  return all;
}

Result<os::Launch> OutputCheck::launch_of(std::uint32_t command) {
  command_ = command;
  os::ProgramSpec spec = program_of(plan_, plan_.commands[command], context_.user);
  spec.output.kept = false;
  spec.output.heard = true;
  spec.jobs = 1;
  const auto program = context_.launcher.add_program(spec);
  if (!program) return program.error();
  if (auto begun = begin(command); !begun) return begun.error();
  os::Launch launch{.program = *program};
  launch.listener = hash_         ? static_cast<os::OutputListener*>(hash_.get())
                    : comparison_ ? static_cast<os::OutputListener*>(comparison_.get())
                                  : store_.get();
  return launch;
}

/// Makes what hears the run.
Result<void> OutputCheck::begin(std::uint32_t command) {
  store_.reset();
  comparison_.reset();
  hash_.reset();
  const ExpectedOutput& expected = plan_.commands[command].expected.value_or(ExpectedOutput{});
  if (expected.kind == ExpectedOutput::Kind::Hash) {
    hash_ = std::make_unique<OutputHash>();
    return {};
  }
  if (expected.kind == ExpectedOutput::Kind::File) {
    auto text = context_.texts->open(expected.text);
    if (!text)
      return Error{fmt::format("--expect-output {} {}", cited(expected.text), text.error().what),
                   text.error().remedy};
    file_ = {*std::move(text), 0};
    file_.bytes = file_.text->bytes();
    comparison_ = std::make_unique<OutputComparison>(file_);
    return {};
  }
  if (const auto source = sources_[command]) {
    // Nothing behind this place is compared with what stands before its source.
    stored_.erase(stored_.begin(), stored_.lower_bound(*source));
    comparison_ = std::make_unique<OutputComparison>(stored_.at(*source));
    return {};
  }
  auto text = context_.texts->make();
  if (!text) return Error{"--expect-output same: " + text.error().what, text.error().remedy};
  store_ = std::make_unique<OutputStore>(*std::move(text));
  return {};
}

std::optional<Error> OutputCheck::verdict() {
  const std::string name = cited(plan_.commands[command_].name);
  if (store_) {
    auto stored = store_->take();
    if (!stored) return stored.error();
    stored_.emplace(command_, *std::move(stored));
    return std::nullopt;
  }
  const ExpectedOutput& expected = plan_.commands[command_].expected.value_or(ExpectedOutput{});
  if (hash_) {
    if (hash_->digest() == expected.text) return std::nullopt;
    return Error{fmt::format("--expect-output: {} writes {} bytes with sha256:{}, not sha256:{}",
                             name, hash_->bytes(), hash_->digest(), expected.text),
                 kRemedy};
  }
  const auto difference = comparison_->difference();
  if (!difference) return std::nullopt;
  const auto source = sources_[command_];
  return Error{fmt::format("--expect-output: {} does not write what {} {}: {}", name,
                           source ? cited(plan_.commands[*source].name) : cited(expected.text),
                           source ? "writes" : "has", *difference),
               kRemedy};
}

}  // namespace lauka
