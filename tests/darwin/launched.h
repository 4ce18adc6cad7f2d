#pragma once

#include "darwin/driver.h"
#include "darwin/folder.h"
#include "fakes/darwin/kernel.h"
#include "must.h"
#include "os/process.h"
#include "os/spawning_launcher.h"

#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::darwin {

/// The launcher of macOS on the model, with a folder for programs.
struct Launched {
  explicit Launched(Setup setup = machine("m1"), CallRules rules = {})
      : driver(std::move(setup), std::move(rules)) {
    driver.host.kernel.load = loader_of_files();
    launcher = must(os::start_spawning_launcher(driver.calls));
  }

  /// Returns a program of the model.
  os::ProgramSpec program(const std::string& script) {
    return {.words = {folder.program("work" + std::to_string(programs++), script)}};
  }

  /// Runs a program once, with what `launch` has besides it.
  os::Ended run_once(const os::ProgramSpec& spec, os::Launch launch = {},
                     const os::ProgressCallback& tick = {}) const {
    launch.program = must(launcher->add_program(spec));
    const auto all = must(launcher->run({&launch, 1}, os::AfterFailure::Stop, tick));
    REQUIRE(all.size() == 1);
    return all.front();
  }

  Driver driver;
  Folder folder;
  std::unique_ptr<os::Launcher> launcher;
  int programs = 0;
};

}  // namespace lauka::darwin
