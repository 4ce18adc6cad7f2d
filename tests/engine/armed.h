#pragma once

#include "core/event.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"
#include "must.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::engine {

using Counts = std::vector<std::optional<std::uint64_t>>;

/// An engine that has selected events, with one pass armed.
struct Armed {
  Armed(std::unique_ptr<CounterEngine> maker, const EventRequest& wanted, std::size_t pass = 0)
      : engine(std::move(maker)),
        set(must(engine->select(wanted))),
        counting(must(engine->arm(pass))),
        requests(counting->requests()) {}

  /// Counts a program that runs on the model.
  CountsOfRun count(fakes::FakePerf& perf, const fakes::FakeProgram& program) const {
    return counting->finish(perf.run(requests, program), 0);
  }

  std::unique_ptr<CounterEngine> engine;
  EventSet set;
  std::unique_ptr<ArmedPass> counting;
  std::vector<os::CounterRequest> requests;
};

}  // namespace lauka::engine

namespace lauka::engine::perf {

inline Armed armed(const fakes::FakePerf& perf, const std::vector<std::string>& names,
                   bool user_only = false, bool single_pass = false) {
  return {make_perf_engine(perf.calls(), user_only), {names, single_pass}};
}

}  // namespace lauka::engine::perf
