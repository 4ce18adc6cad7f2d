#include "fakes/darwin/work.h"

namespace lauka::darwin {
namespace {

/// Hundredths of something in a nanosecond, by [level][mode].
using Rate = std::array<std::array<std::uint64_t, 2>, kLevels>;
constexpr Rate kCycles = {{{350, 350}, {200, 200}}};
constexpr Rate kInstructions = {{{1120, 315}, {220, 180}}};

std::uint64_t at_rate(const Work& work, Level level, Modes modes, const Rate& rate) {
  const auto kind = static_cast<std::size_t>(level);
  const std::uint64_t user = modes.user ? work.ns.at(kind).at(0) * rate.at(kind).at(0) / 100 : 0;
  const std::uint64_t kernel =
      modes.kernel ? work.ns.at(kind).at(1) * rate.at(kind).at(1) / 100 : 0;
  return user + kernel;
}

/// FNV-1a: any spread of the names will do, as long as it is the same on every system.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (std::size_t mode = 0; mode < 2; ++mode)
      ns.at(level).at(mode) += other.ns.at(level).at(mode);
  }
  return *this;
}

std::uint64_t cycles_of(const Work& work, Level level, Modes modes) {
  return at_rate(work, level, modes, kCycles);
}

std::uint64_t cycles_of(const Work& work, Modes modes) {
  return cycles_of(work, Level::Performance, modes) + cycles_of(work, Level::Efficiency, modes);
}

std::uint64_t instructions_of(const Work& work, Level level, Modes modes) {
  return at_rate(work, level, modes, kInstructions);
}

std::uint64_t instructions_of(const Work& work, Modes modes) {
  return instructions_of(work, Level::Performance, modes) +
         instructions_of(work, Level::Efficiency, modes);
}

std::uint64_t energy_nj_of(const Work& work, Level level) {
  const std::uint64_t ns = work.at(level, Mode::User) + work.at(level, Mode::Kernel);
  return level == Level::Performance ? ns * 34 / 10 : ns * 16 / 100;
}

std::uint64_t event_count(const ChipEvent& event, const Work& work, Modes modes) {
  if (event.name == "INST_ALL" || event.name == "FIXED_INSTRUCTIONS")
    return instructions_of(work, modes);
  if (event.name == "CORE_ACTIVE_CYCLE" || event.name == "FIXED_CYCLES")
    return cycles_of(work, modes);
  // Between 1 and 256 in a thousand instructions.
  return instructions_of(work, modes) * (1 + hash_of(event.name) % 256) / 1000;
}

}  // namespace lauka::darwin
