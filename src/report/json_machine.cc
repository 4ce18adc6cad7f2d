#include "report/json_machine.h"

#include <nlohmann/json.hpp>

namespace lauka::report {

nlohmann::ordered_json json_of(const Machine& machine) {
  return {{"name", machine.name},
          {"system", machine.system},
          {"os", machine.os},
          {"kernel", machine.kernel},
          {"architecture", machine.architecture},
          {"cpu_model", machine.cpu_model},
          {"cpus", machine.cpus}};
}

}  // namespace lauka::report
