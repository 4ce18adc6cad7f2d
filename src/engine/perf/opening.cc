#include "engine/perf/opening.h"

#include "os/perf_abi.h"

namespace lauka::engine::perf {
namespace {

/// The smallest structure that holds what is set: every kernel takes it that can count the event.
std::uint32_t size_for(const Code& code) {
  if (code.config3 != 0) return os::kPerfSizeWithConfig3;
  return code.config2 != 0 ? os::kPerfSizeWithConfig2 : os::kPerfSizeWithConfig1;
}

}  // namespace

OpenCounters::~OpenCounters() {
  // Members before their leaders: closing a leader first would make groups of its members.
  while (!descriptors_.empty()) {
    calls_.close_counter(descriptors_.back());
    descriptors_.pop_back();
  }
}

int OpenCounters::open(const os::PerfEventAttr& attributes, std::size_t leader) {
  const int group = leader < descriptors_.size() ? descriptors_[leader] : -1;
  const int descriptor = calls_.open_counter(attributes, {}, group);
  if (descriptor < 0) return -descriptor;
  descriptors_.push_back(descriptor);
  return 0;
}

os::PerfEventAttr attributes_of(const Code& code, const Rings& rings) {
  os::PerfEventAttr attributes;
  attributes.type = code.type;
  attributes.size = size_for(code);
  attributes.config = code.config;
  attributes.config1 = code.config1;
  attributes.config2 = code.config2;
  attributes.config3 = code.config3;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning | os::kPerfReadGroup;
  attributes.flags = os::kPerfInherit;
  if (!rings.user) attributes.flags |= os::kPerfExcludeUser;
  if (!rings.kernel) attributes.flags |= os::kPerfExcludeKernel;
  if (!rings.hypervisor) attributes.flags |= os::kPerfExcludeHypervisor;
  return attributes;
}

os::PerfEventAttr as_leader(os::PerfEventAttr attributes) {
  attributes.flags |= os::kPerfDisabled | os::kPerfEnableOnExec;
  return attributes;
}

int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes) {
  OpenCounters counters(calls);
  return counters.open(as_leader(attributes), 0);
}

}  // namespace lauka::engine::perf
