#include "confirm/confirm.h"
#include "engine/kperf/kpep.h"
#include "fakes/darwin/host.h"
#include "fakes/darwin/kernel.h"
#include "places.h"

#include <string>

// lauka_confirm_on_model [CHIP]: scripts/confirm-on-mac on the model of a Mac with that chip (m1).
// Its fixtures are programs of the model.

int main(int argc, char** argv) {
  using namespace lauka;
  const std::string chip = argc > 1 ? argv[1] : "m1";
  const std::string data = std::string(places::kRepository) + "/tests/data";
  darwin::Setup setup;
  setup.chip = darwin::chip_named(chip, data + "/kpep");
  setup.trace.cpus = setup.chip.cpus();
  darwin::Host host(setup, {});
  host.kernel.load = darwin::loader_of_files();
  return confirm::run(host.calls(), engine::kperf::load_kpep(data + "/kpep/" + chip + ".plist"),
                      data + "/confirm");
}
