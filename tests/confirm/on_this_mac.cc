#include "confirm/confirm.h"
#include "engine/kperf/kpep.h"

#include <cstdint>
#include <string>

// lauka_confirm FOLDER_OF_FIXTURES

namespace {

using namespace lauka;

std::uint32_t number(const os::DarwinCalls& calls, const char* name) {
  std::uint32_t value = 0;
  std::size_t length = sizeof value;
  return calls.sysctlbyname(name, &value, &length, nullptr, 0) == 0 ? value : 0;
}

Result<engine::kperf::KpepDatabase> database_of_this_processor(const os::DarwinCalls& calls) {
  const std::string cpu = engine::kperf::kpep_name_of_cpu(
      number(calls, "hw.cputype"), number(calls, "hw.cpusubtype"), number(calls, "hw.cpufamily"));
  return engine::kperf::load_kpep_for(cpu, engine::kperf::kpep_paths(cpu));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2)
    return confirm::refuse({"it wants one argument", "name the folder of the fixtures"});
  const os::DarwinCalls* calls = os::darwin_calls();
  if (calls == nullptr) return confirm::refuse({"this needs a Mac", "try it there"});
  return confirm::run(*calls, database_of_this_processor(*calls), argv[1]);
}
