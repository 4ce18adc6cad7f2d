#include "engine/kperf/plist.h"

#include <algorithm>

namespace lauka::engine::kperf {

const PlistValue* PlistValue::find(std::string_view key) const {
  const auto* dict = get<PlistDict>();
  if (dict == nullptr) return nullptr;
  const auto found = std::find_if(dict->begin(), dict->end(),
                                  [key](const auto& item) { return item.first == key; });
  return found == dict->end() ? nullptr : &found->second;
}

}  // namespace lauka::engine::kperf
