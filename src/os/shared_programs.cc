#include "os/shared_programs.h"

#include <algorithm>
#include <utility>

namespace lauka::os {

Error SharedPrograms::too_large() {
  return Error{"the arguments of the commands take more than 64 MB", "compare fewer at once"};
}

Result<ProgramId> SharedPrograms::add(const ProgramSpec& spec) {
  const Result<std::string> path = find_program_of(spec);
  if (!path) return path.error();
  auto* program = arena_.make<SharedProgram>(1);
  if (program == nullptr || !copy_words(spec, *program)) return too_large();
  program->path = arena_.copy(*path);
  program->sink = spec.output.heard ? Sink::Pipe : spec.output.sink;
  program->is_kept = spec.output.kept;
  program->jobs = spec.jobs;
  program->jobs_outlive_failure = spec.jobs_outlive_failure;
  program->timeout_ns = spec.timeout ? spec.timeout->count() : 0;
  bool whole = program->path != nullptr && copy_environment(spec, *program);
  whole = whole && copy_cpus(spec.cpus, *program);
  if (spec.user) whole = whole && copy_user(*spec.user, *program);
  if (spec.input.path)
    whole = whole && (program->input_path = arena_.copy(*spec.input.path)) != nullptr;
  if (program->sink == Sink::File)
    whole = whole && (program->output_path = arena_.copy(spec.output.path)) != nullptr;
  if (!spec.folder.empty())
    whole = whole && (program->folder = arena_.copy(spec.folder)) != nullptr;
  if (!whole) return too_large();
  programs_.push_back({program, spec.launch_variable});
  return static_cast<ProgramId>(programs_.size() - 1);
}

bool SharedPrograms::set_variable(const Launch& launch, std::size_t place, char*& variable) {
  const std::string& name = programs_.at(launch.program).launch_variable;
  variable = nullptr;
  if (name.empty()) return true;
  const std::string text = name + "=" + launch.value;
  Slot& slot = slots_.at(place);
  if (text.size() >= slot.size) {
    constexpr std::size_t roomy = 64;
    slot.size = std::max(roomy, text.size() + 1);
    slot.bytes = arena_.make<char>(slot.size);
    if (slot.bytes == nullptr) return false;
  }
  std::copy(text.c_str(), text.c_str() + text.size() + 1, slot.bytes);
  variable = slot.bytes;
  return true;
}

bool SharedPrograms::copy_words(const ProgramSpec& spec, SharedProgram& program) {
  auto** argv = arena_.make<char*>(spec.words.size() + 1);
  if (argv == nullptr) return false;
  for (std::size_t i = 0; i < spec.words.size(); ++i) {
    argv[i] = arena_.copy(spec.words[i]);
    if (argv[i] == nullptr) return false;
  }
  program.argv = argv;
  return true;
}

/// Where nothing is to be changed, programs get lauka's own as it is: its size shifts the stack,
/// and thereby times.
bool SharedPrograms::copy_environment(const ProgramSpec& spec, SharedProgram& program) {
  if (is_own_environment(spec)) return true;
  const std::vector<std::string> all = environment_of(spec, "");
  auto** environment = arena_.make<char*>(all.size() + 1);
  if (environment == nullptr) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    environment[i] = copy_once(all[i]);
    if (environment[i] == nullptr) return false;
    const auto is = [&](const std::string& name) {
      return !name.empty() && all[i].starts_with(name + "=");
    };
    if (is(spec.launch_variable)) program.variable = environment + i;
    if (spec.has_region && is(kRegionVariable)) program.region = environment + i;
    if (spec.jobs > 1 && all[i].starts_with(kJobVariable))
      program.job_digits = environment[i] + kJobVariable.size();
  }
  program.environment = environment;
  return true;
}

bool SharedPrograms::copy_user(const User& user, SharedProgram& program) {
  auto* shared = arena_.make<SharedUser>(1);
  auto* groups = arena_.make<std::uint32_t>(std::max<std::size_t>(user.groups.size(), 1));
  if (shared == nullptr || groups == nullptr) return false;
  std::ranges::copy(user.groups, groups);
  *shared = SharedUser{user.id, user.group, user.groups.size(), groups};
  program.user = shared;
  return true;
}

bool SharedPrograms::copy_cpus(const std::vector<std::uint32_t>& cpus, SharedProgram& program) {
  if (cpus.empty()) return true;
  constexpr std::size_t bits_of_word = 8 * sizeof(unsigned long);
  const std::size_t words = *std::ranges::max_element(cpus) / bits_of_word + 1;
  auto* bits = arena_.make<unsigned long>(words);
  if (bits == nullptr) return false;
  for (const std::uint32_t cpu : cpus) bits[cpu / bits_of_word] |= 1UL << cpu % bits_of_word;
  program.cpus = bits;
  program.cpus_bytes = words * sizeof(unsigned long);
  return true;
}

char* SharedPrograms::copy_once(const std::string& text) {
  const auto found = texts_.find(text);
  if (found != texts_.end()) return found->second;
  char* copy = arena_.copy(text);
  if (copy != nullptr) texts_.emplace(text, copy);
  return copy;
}

}  // namespace lauka::os
