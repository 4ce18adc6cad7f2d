// The only file that includes libplist. Built where the library is there; else libplist_absent.cc
// is.

#include "engine/kperf/plist.h"

#include <cstdlib>
#include <limits>
#include <memory>

#include <plist/plist.h>

namespace lauka::engine::kperf {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc)
  void operator()(char* text) const { std::free(text); }      // NOLINT(cppcoreguidelines-no-malloc)
};

struct FreePlist {
  void operator()(void* plist) const { plist_free(plist); }
};

/// A database is five levels deep.
constexpr int kDeepest = 16;

PlistValue value_of(plist_t node, int depth);

std::string text_of(plist_t node) {
  char* text = nullptr;
  plist_get_string_val(node, &text);
  const std::unique_ptr<char, Free> owner(text);
  return text == nullptr ? std::string() : std::string(text);
}

// NOLINTNEXTLINE(misc-no-recursion): at most kDeepest
PlistArray array_of(plist_t node, int depth) {
  PlistArray array;
  for (std::uint32_t i = 0; i < plist_array_get_size(node); ++i)
    array.push_back(value_of(plist_array_get_item(node, i), depth));
  return array;
}

// NOLINTNEXTLINE(misc-no-recursion): at most kDeepest
PlistDict dict_of(plist_t node, int depth) {
  PlistDict dict;
  plist_dict_iter iterator = nullptr;
  plist_dict_new_iter(node, &iterator);
  const std::unique_ptr<void, Free> owner(iterator);
  for (;;) {
    char* key = nullptr;
    plist_t item = nullptr;
    plist_dict_next_item(node, iterator, &key, &item);
    const std::unique_ptr<char, Free> key_owner(key);
    if (key == nullptr || item == nullptr) return dict;
    dict.emplace(key, value_of(item, depth));
  }
}

// NOLINTNEXTLINE(misc-no-recursion): at most kDeepest
PlistValue value_of(plist_t node, int depth) {
  if (depth > kDeepest) return {};
  switch (plist_get_node_type(node)) {
    case PLIST_BOOLEAN: {
      std::uint8_t value = 0;
      plist_get_bool_val(node, &value);
      return {value != 0};
    }
    case PLIST_UINT: {
      std::uint64_t value = 0;
      plist_get_uint_val(node, &value);
      return {value};
    }
    case PLIST_STRING:
      return {text_of(node)};
    case PLIST_ARRAY:
      return {array_of(node, depth + 1)};
    case PLIST_DICT:
      return {dict_of(node, depth + 1)};
    default:
      return {};
  }
}

Result<PlistValue> read(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max())
    return Error{"is too large for a property list", ""};
  const auto size = static_cast<std::uint32_t>(bytes.size());
  plist_t plist = nullptr;
  // Not plist_from_memory, which has another parameter since libplist 2.3.
  if (plist_is_binary(bytes.data(), size) != 0)
    static_cast<void>(plist_from_bin(bytes.data(), size, &plist));
  else
    static_cast<void>(plist_from_xml(bytes.data(), size, &plist));
  const std::unique_ptr<void, FreePlist> owner(plist);
  if (plist == nullptr) return Error{"is no property list, or a damaged one", ""};
  return value_of(plist, 0);
}

}  // namespace

PlistReader plist_reader() {
  return &read;
}

}  // namespace lauka::engine::kperf
