#include "fakes/darwin/scenario.h"
#include "os/darwin_calls.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <sstream>

// What the program lauka_on_model has in the place of darwin_calls_absent.cc: a macOS that is a
// model, described by the file that LAUKA_MODEL names.

namespace lauka::os {
namespace {

// What atexit calls gets no argument.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::unique_ptr<darwin::Host> host;
std::string report_file;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void write_report() {
  if (!report_file.empty()) std::ofstream(report_file) << darwin::make_report(*host);
}

const DarwinCalls* start_model() {
  const char* file = std::getenv("LAUKA_MODEL");  // NOLINT(concurrency-mt-unsafe): one thread
  if (file == nullptr) return nullptr;
  try {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    host = darwin::host_of(text.str());
    report_file = darwin::report_file_of(text.str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the model's scenario %s: %s\n", file, error.what());
    std::_Exit(99);
  }
  std::atexit(write_report);  // the first to be registered is the last to be called
  return &host->calls();
}

}  // namespace

const DarwinCalls* darwin_calls() {
  static const DarwinCalls* const kCalls = start_model();
  return kCalls;
}

}  // namespace lauka::os
