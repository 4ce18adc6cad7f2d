#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace lauka::os {

/// Shared memory that is only ever added to; what lies in it has the same address in the launcher.
class Arena {
 public:
  Arena(std::byte* begin, std::size_t bytes) : next_(begin), end_(begin + bytes) {}

  /// Null when it is full.
  template <typename T>
  T* make(std::size_t count) {
    void* place = next_;
    auto left = static_cast<std::size_t>(end_ - next_);
    if (std::align(alignof(T), sizeof(T) * count, place, left) == nullptr) return nullptr;
    auto* first = static_cast<T*>(place);
    for (std::size_t i = 0; i < count; ++i) new (first + i) T{};
    next_ = reinterpret_cast<std::byte*>(first + count);
    return first;
  }

  char* copy(const std::string& text) {
    char* place = make<char>(text.size() + 1);
    if (place != nullptr) std::memcpy(place, text.c_str(), text.size() + 1);
    return place;
  }

 private:
  std::byte* next_;
  std::byte* end_;
};

}  // namespace lauka::os
