#include "cores/cores.h"

#include "cores/core_time.h"
#include "cores/kinds.h"
#include "cores/mac_threads.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

Error not_on_this_system(const Wanted& wanted) {
  if (!wanted.by_hand.empty())
    return {"--core-kinds is for Linux; here the system tells the kinds of core", "leave it out"};
  return {"this system does not tell kinds of core apart", "leave out --cores and --min-p-share"};
}

/// What cannot be measured cannot be demanded.
Error no_share(const std::string& note) {
  if (note.empty())
    return {"--min-p-share: this machine has one kind of core",
            "leave it out, or name the kinds with --core-kinds"};
  return {"--min-p-share: " + note, ""};
}

Result<Decided> decide_on_linux(const Wanted& wanted, const os::LinuxCalls& calls) {
  Decided decided;
  if (wanted.by_hand.empty()) {
    auto [kinds, why_none] = find_kinds(calls);
    decided.kinds = std::move(kinds);
    decided.note = std::move(why_none);
  } else {
    auto kinds = check_kinds(wanted.by_hand, calls);
    if (!kinds) return kinds.error();
    decided.kinds = *std::move(kinds);
  }
  auto cpus = cpus_of(wanted.prefer, decided.kinds, calls);
  if (!cpus) return cpus.error();
  decided.use.cpus = *std::move(cpus);
  decided.use.prefer = wanted.prefer;
  decided.use.min_share = wanted.min_share;
  if (decided.kinds.size() > 1) {
    if (const auto why = why_no_core_time(calls)) {
      decided.note =
          fmt::format("no time by kind of core: {}", Error{why->why, why->remedy}.line());
    } else {
      for (const CoreKind& kind : decided.kinds) decided.use.timed.push_back(kind.name);
    }
  }
  if (wanted.min_share && decided.use.timed.empty()) return no_share(decided.note);
  return decided;
}

Result<Decided> decide_on_mac(const Wanted& wanted, const os::DarwinCalls& calls) {
  if (!wanted.by_hand.empty()) return not_on_this_system(wanted);
  Decided decided;
  for (std::size_t level = level_names(calls).size(); level > 0; --level)
    decided.kinds.emplace_back();
  if (decided.kinds.size() < 2) {
    if (wanted.prefer != CorePreference::Any)
      return Error{"--cores: this machine has one kind of core", "leave it out"};
    return wanted.min_share ? no_share("") : Result<Decided>(Decided{});
  }
  name_by_rank(decided.kinds);
  for (const CoreKind& kind : decided.kinds) decided.use.timed.push_back(kind.name);
  decided.use.has_unsplit = true;
  decided.use.prefer = wanted.prefer;
  decided.use.min_share = wanted.min_share;
  return decided;
}

}  // namespace

Result<Decided> decide(const Wanted& wanted, const os::LinuxCalls* linux,
                       const os::DarwinCalls* darwin) {
  if (linux != nullptr) return decide_on_linux(wanted, *linux);
  if (darwin != nullptr) return decide_on_mac(wanted, *darwin);
  const bool wants_nothing =
      wanted.by_hand.empty() && !wanted.min_share && wanted.prefer == CorePreference::Any;
  return wants_nothing ? Result<Decided>(Decided{}) : not_on_this_system(wanted);
}

}  // namespace lauka::cores
