#include "fuzz/targets.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// One program for all: LAUKA_FUZZ names the target.

namespace lauka::fuzz {
namespace {

struct Target {
  std::string_view name;
  void (*feed)(std::string_view bytes);
};

constexpr auto kTargets = std::to_array<Target>({
    {"words", &words},
    {"numbers", &numbers},
    {"options", &options},
    {"gates", &gates},
    {"metrics", &metrics},
    {"formulas", &formulas},
    {"reported", &reported},
    {"suite", &suite},
    {"baseline", &baseline},
    {"plist-xml", &plist},
    {"plist-binary", &plist},
    {"events", &events},
    {"sysfs", &sysfs},
    {"cachegrind", &cachegrind},
    {"dhat", &dhat},
    {"records", &records},
});

const Target& chosen() {
  const char* wanted = std::getenv("LAUKA_FUZZ");  // NOLINT(concurrency-mt-unsafe): one thread
  for (const Target& target : kTargets)
    if (wanted != nullptr && target.name == wanted) return target;
  std::fputs("LAUKA_FUZZ has to name one of:", stderr);
  for (const Target& target : kTargets)
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  std::fputs("\n", stderr);
  std::exit(2);  // NOLINT(concurrency-mt-unsafe): one thread
}

}  // namespace
}  // namespace lauka::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lauka::fuzz::Target& target = lauka::fuzz::chosen();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  target.feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
