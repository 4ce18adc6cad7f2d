#include "engine/kperf/plist.h"

namespace lauka::engine::kperf {

const PlistValue* PlistValue::find(std::string_view key) const {
  const auto* dict = get<PlistDict>();
  if (dict == nullptr) return nullptr;
  const auto found = dict->find(key);
  return found == dict->end() ? nullptr : &found->second;
}

}  // namespace lauka::engine::kperf
