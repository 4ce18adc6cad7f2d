#pragma once

#include "os/arena.h"
#include "os/launcher_shared.h"
#include "os/process.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lauka::os {

/// The programs of a session, as the launcher process finds them in shared memory. Internal to os/.
class SharedPrograms {
 public:
  explicit SharedPrograms(Arena& arena) : arena_(arena) {}

  /// See Launcher::add_program.
  Result<ProgramId> add(const ProgramSpec& spec);

  const SharedProgram* at(ProgramId id) const { return programs_.at(id).shared; }

  /// Writes down the variable of the `place`th launch of a batch; null where its program has none.
  /// False when the memory is full.
  bool set_variable(const Launch& launch, std::size_t place, char*& variable);

  static Error too_large();

 private:
  struct Entry {
    SharedProgram* shared;
    std::string launch_variable;
  };
  /// Room for a variable, used again by the same place of the next batch.
  struct Slot {
    char* bytes = nullptr;
    std::size_t size = 0;
  };

  bool copy_words(const ProgramSpec& spec, SharedProgram& program);
  bool copy_environment(const ProgramSpec& spec, SharedProgram& program);
  bool copy_user(const User& user, SharedProgram& program);
  bool copy_cpus(const std::vector<std::uint32_t>& cpus, SharedProgram& program);
  char* copy_once(const std::string& text);

  Arena& arena_;
  std::vector<Entry> programs_;
  std::map<std::string, char*> texts_;  // hundreds of programs have the same variables
  std::array<Slot, Launcher::kMaxBatch> slots_{};
};

}  // namespace lauka::os
