#include "engine/kperf/plist.h"

namespace lauka::engine::kperf {

PlistReader plist_reader() {
  return nullptr;
}

}  // namespace lauka::engine::kperf
