#include "run/fingerprint.h"

#include "core/sha256.h"
#include "os/process.h"
#include "run/programs.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lauka {
namespace {

/// All that may make another run of the same file: by what name and how it is called, and what is
/// done around each run.
std::string call_of(const Plan& plan, const Command& command) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(text);
    hash.add({"", 1});
  };
  const std::string_view path = command.words.front();
  add(path.substr(path.rfind('/') + 1));
  for (std::size_t i = 1; i < command.words.size(); ++i) add(command.words[i]);
  add({});
  for (const std::string& variable : command.environment) add(variable);
  add({});
  add(command.folder);
  for (const HookRow& row : kHookKinds)
    if (row.is_of_a_run()) add(command.hooks[row.kind].value_or(""));
  add(command.output.path);
  add(std::to_string(static_cast<int>(command.output.kind)));
  add(std::to_string(plan.jobs));
  return hash.digest();
}

Fingerprint fingerprint_of(const Plan& plan, const Command& command, const RunContext& context) {
  if (plan.shell || command.words.empty()) return {};
  const auto path = os::find_program_of(program_of(plan, command, context.user));
  if (!path) return {};
  const auto file = context.texts->open(*path);
  if (!file) return {};
  Sha256 hash;
  std::array<char, 1U << 16U> bytes{};
  for (std::uint64_t from = 0; from < (*file)->bytes();) {
    if (context.interrupt() != 0) return {};
    const std::size_t got = (*file)->read(from, bytes);
    if (got == 0) return {};
    hash.add({bytes.data(), got});
    from += got;
  }
  return {hash.digest(), call_of(plan, command)};
}

}  // namespace

void identify(const Plan& plan, const RunContext& context, CommandRange commands,
              std::vector<Fingerprint>& programs) {
  programs.resize(plan.commands.size());
  for (std::size_t c = commands.first; c < commands.first + commands.count; ++c)
    programs[c] = fingerprint_of(plan, plan.commands[c], context);
}

}  // namespace lauka
