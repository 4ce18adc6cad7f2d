#pragma once

#include "core/user.h"
#include "engine/engine.h"
#include "os/process.h"
#include "plan/plan.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lauka {

/// What the launcher is to run for `command`, as `user`.
os::ProgramSpec program_of(const Plan& plan, const Command& command,
                           const std::optional<User>& user);

/// The programs of a session: each command as it is timed, and as each simulated pass has it run.
class Programs {
 public:
  /// `armed`: one for each pass; all of them outlive this.
  Programs(const Plan& plan, os::Launcher& launcher, const std::optional<User>& user,
           const std::vector<std::unique_ptr<engine::Counting>>& armed)
      : plan_(plan), launcher_(launcher), user_(user), armed_(armed) {}

  /// Registers those that are there. Refused where one is not, unless the command has a setup or a
  /// prepare, which may be what makes it.
  Result<void> prepare();

  /// The program of a run; looked for now where it was not there before.
  Result<os::ProgramId> of(const Step& step);

 private:
  using Row = std::vector<std::optional<os::ProgramId>>;  // by command; none: not there yet

  std::size_t row_of(std::size_t pass) const {
    return plan_.events.is_simulated(pass) ? 1 + pass : 0;
  }
  Result<os::ProgramId> find(std::size_t row, std::size_t command);

  const Plan& plan_;
  os::Launcher& launcher_;
  const std::optional<User>& user_;
  const std::vector<std::unique_ptr<engine::Counting>>& armed_;
  std::vector<Row> rows_;  // the timed ones, then one row for each pass
};

}  // namespace lauka
