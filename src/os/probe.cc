#include "os/probe.h"

#include "os/clock.h"
#include "os/machine.h"

namespace lauka::os {

MachineFacts machine_facts() {
  MachineFacts facts;
  if (const DarwinCalls* darwin_system = darwin_calls()) {
    facts = darwin_facts(*darwin_system);
  } else if (const LinuxCalls* linux_system = linux_calls()) {
    facts = linux_facts(*linux_system);
  }
  facts.machine = this_machine();
  facts.clock_step = MonotonicClock().resolution();
  return facts;
}

}  // namespace lauka::os
