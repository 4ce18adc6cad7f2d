#pragma once

#include "core/result.h"
#include "engine/choose.h"

namespace lauka::engine {

/// `choose` where `here.calls` is not null. Without root, or where the counters cannot be had,
/// `Auto` takes what the kernel accounts to each process by itself.
Result<Chosen> choose_on_macos(Choice choice, bool user_only, const OnMacos& here);

}  // namespace lauka::engine
