#include "os/descendants.h"

#include <algorithm>
#include <csignal>
#include <vector>

namespace lauka::os {
namespace {

/// A longer answer than the room given cannot be told from one that just fits, so it is asked
/// again.
std::vector<pid_t> children_of(const DarwinCalls& calls, pid_t parent) {
  for (std::size_t room = 64;; room *= 2) {
    std::vector<pid_t> children(room);
    const int bytes = static_cast<int>(room * sizeof(pid_t));
    const int count = calls.proc_listchildpids(parent, children.data(), bytes);
    if (count < static_cast<int>(room)) {
      children.resize(static_cast<std::size_t>(std::max(count, 0)));
      return children;
    }
  }
}

std::vector<pid_t> descendants_of(const DarwinCalls& calls, pid_t root) {
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const pid_t child : children_of(calls, found[i])) {
      if (std::find(found.begin(), found.end(), child) == found.end()) found.push_back(child);
    }
  }
  found.erase(found.begin());
  return found;
}

}  // namespace

void kill_with_descendants(const DarwinCalls& calls, pid_t leader) {
  // Looked up first: those whose parent is dead are nobody's descendants any more.
  const std::vector<pid_t> descendants = descendants_of(calls, leader);
  calls.kill(-leader, SIGKILL);
  calls.kill(leader, SIGKILL);
  for (const pid_t pid : descendants) calls.kill(pid, SIGKILL);
}

}  // namespace lauka::os
