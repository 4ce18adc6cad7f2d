#include "fakes/darwin/region.h"

#include "region_header/as_on_macos.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <lauka/region.h>
#include <sys/mman.h>

namespace lauka::darwin {

std::shared_ptr<Region> Region::of(const os::SpawnRequest& request) {
  constexpr std::string_view variable = "LAUKA_REGION=";
  int descriptor = -1;
  if (request.environment == nullptr) return nullptr;
  for (char* const* word = request.environment; *word != nullptr; ++word)
    if (std::string_view(*word).starts_with(variable))
      descriptor = std::atoi(*word + variable.size());  // NOLINT: as the header does
  const bool is_inherited =
      std::count(request.inherited, request.inherited + request.inherited_count, descriptor) > 0;
  if (descriptor < 0 || !is_inherited) return nullptr;
  void* memory = mmap(nullptr, sizeof(lauka_region_memory_), PROT_READ | PROT_WRITE, MAP_SHARED,
                      descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::make_shared<Region>(static_cast<lauka_region_memory_*>(memory));
}

Region::~Region() {
  munmap(memory_, sizeof *memory_);
}

void Region::call(bool begins, const Calling& calling) {
  set_calling(calling);
  if (begins)
    lauka_region_enter_(&memory_->page);
  else
    lauka_region_leave_(&memory_->page);
}

}  // namespace lauka::darwin
