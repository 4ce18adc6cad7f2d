#include "fakes/darwin/host.h"

#include <cerrno>
#include <utility>

// ktrace's sysctls: facts, section 0 and 3.3.

namespace lauka::darwin {

Caller caller_of(const Process& process) {
  return {process.pid, process.unique_id, process.name, process.user == 0};
}

void Host::call_as(std::optional<Caller> who) {
  caller_ = std::move(who);
  Process* process = caller_ ? kernel.find(caller_->pid) : nullptr;
  if (process != nullptr) kernel.make_buffers(*process);
}

Caller Host::caller() const {
  return caller_ ? *caller_ : caller_of(*kernel.processes().at(1));
}

int Host::ktrace_by_name(const std::string& name, Request& request) {
  Ktrace& ktrace = kernel.ktrace;
  if (name == "ktrace.init_background") {
    if (request.has_new() && !caller().is_root) return EPERM;
    return request.has_new() ? ktrace.register_background(caller()) : EINVAL;
  }
  const bool is_text = name == "ktrace.configured_by";
  std::int64_t number = 0;
  if (name == "ktrace.state")
    number = static_cast<std::int64_t>(ktrace.state());
  else if (name == "ktrace.active_mask")
    number = ktrace.active();
  else if (name == "ktrace.owning_pid")
    number = ktrace.owner();
  else if (name == "ktrace.background_pid")
    number = ktrace.background();
  else if (!is_text)
    return ENOENT;
  if (request.has_new()) return EPERM;
  return is_text ? request.give(ktrace.configured_by())
                 : request.number(number, static_cast<std::int32_t*>(nullptr));
}

}  // namespace lauka::darwin
