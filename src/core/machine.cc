#include "core/machine.h"

#include "core/sha256.h"

#include <fmt/format.h>

namespace lauka {

std::string class_of(const Machine& machine) {
  constexpr std::size_t digits = 16;
  Sha256 hash;
  // A part's name and end are in it, so that no part can be taken for a piece of another.
  for (const auto& [name, part] :
       {std::pair("system", machine.system), std::pair("architecture", machine.architecture),
        std::pair("cpu_model", machine.cpu_model), std::pair("kernel", machine.kernel),
        std::pair("governor", machine.governor), std::pair("hypervisor", machine.hypervisor)})
    hash.add(fmt::format("{}={}\n", name, part));
  hash.add(fmt::format("cpus={}\n", machine.cpus));
  return hash.digest().substr(0, digits);
}

}  // namespace lauka
