#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lauka::darwin {

/// The buffers of a call to sysctl or sysctlbyname.
struct Io {
  void* old_value = nullptr;
  std::size_t* old_length = nullptr;
  const void* new_value = nullptr;
  std::size_t new_length = 0;
};

/// A sysctl call as its handler sees it: the rules of lengths, of what is copied, and of the length
/// that is reported, which all handlers share. Each gives 0 or an errno.
class Request {
 public:
  explicit Request(const Io& io);

  bool has_old() const { return io_.old_value != nullptr; }
  bool has_new() const { return io_.new_value != nullptr && io_.new_length != 0; }
  std::size_t room() const { return room_; }
  std::size_t new_length() const { return io_.new_length; }
  void* old_bytes() const { return io_.old_value; }
  const void* new_bytes() const { return io_.new_value; }

  /// Gives `count` bytes, or ENOMEM where less is left; without a buffer it only counts them.
  int give(const void* bytes, std::size_t count);
  int give(const std::string& text) { return give(text.c_str(), text.size() + 1); }
  /// Takes `count` bytes of the new value, or EINVAL where less is left. Nothing without one.
  int take(void* bytes, std::size_t count);

  /// Gives the number, then takes a new one if there is one. `place` null: it is not to be set.
  int number(std::int64_t value, std::int32_t* place);
  int number(std::int64_t value, std::uint32_t* place);
  int number(std::int64_t value, std::uint64_t* place);

  /// For handlers that do their own copying: what is reported as length.
  void tell(std::size_t length) { told_ = length; }

  /// At the end: 0 and ENOMEM tell the length, any other errno leaves it alone.
  int finish(int error) const;

 private:
  template <typename T>
  int small_number(std::int64_t value, T* place);

  Io io_;
  std::size_t room_ = 0;
  std::size_t told_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace lauka::darwin
