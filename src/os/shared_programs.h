#pragma once

#include "os/launcher_shared.h"
#include "os/process.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace lauka::os {

/// Shared memory that is only ever added to; what lies in it has the same address in the launcher.
class Arena {
 public:
  Arena(std::byte* begin, std::size_t bytes) : next_(begin), end_(begin + bytes) {}

  /// Null when it is full.
  template <typename T>
  T* make(std::size_t count) {
    void* place = next_;
    auto left = static_cast<std::size_t>(end_ - next_);
    if (std::align(alignof(T), sizeof(T) * count, place, left) == nullptr) return nullptr;
    auto* first = static_cast<T*>(place);
    for (std::size_t i = 0; i < count; ++i) new (first + i) T{};
    next_ = reinterpret_cast<std::byte*>(first + count);
    return first;
  }

  char* copy(const std::string& text) {
    char* place = make<char>(text.size() + 1);
    if (place != nullptr) std::memcpy(place, text.c_str(), text.size() + 1);
    return place;
  }

 private:
  std::byte* next_;
  std::byte* end_;
};

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
