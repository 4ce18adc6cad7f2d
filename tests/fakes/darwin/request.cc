#include "fakes/darwin/request.h"

#include <cerrno>
#include <cstring>

namespace lauka::darwin {

Request::Request(const Io& io) : io_(io), room_(io.old_length == nullptr ? 0 : *io.old_length) {}

int Request::give(const void* bytes, std::size_t count) {
  if (has_old()) {
    if (room_ - told_ < count) return ENOMEM;
    std::memcpy(static_cast<char*>(io_.old_value) + told_, bytes, count);
  }
  told_ += count;
  return 0;
}

int Request::take(void* bytes, std::size_t count) {
  if (!has_new()) return 0;
  if (io_.new_length - taken_ < count) return EINVAL;
  std::memcpy(bytes, static_cast<const char*>(io_.new_value) + taken_, count);
  taken_ += count;
  return 0;
}

/// Eight bytes are taken for a number of four as well, if it fits.
template <typename T>
int Request::small_number(std::int64_t value, T* place) {
  const auto small = static_cast<std::int32_t>(value);
  if (const int error = give(&small, sizeof small); error != 0 || !has_new()) return error;
  if (place == nullptr) return EPERM;
  if (io_.new_length != sizeof(std::int64_t)) return take(place, sizeof *place);
  std::int64_t wide = 0;
  if (const int error = take(&wide, sizeof wide); error != 0) return error;
  if (wide != static_cast<std::int32_t>(wide)) return ERANGE;
  *place = static_cast<T>(wide);
  return 0;
}

int Request::number(std::int64_t value, std::int32_t* place) {
  return small_number(value, place);
}

int Request::number(std::int64_t value, std::uint32_t* place) {
  return small_number(value, place);
}

/// Four bytes are given and taken for a number of eight as well, if it fits.
int Request::number(std::int64_t value, std::uint64_t* place) {
  const auto small = static_cast<std::int32_t>(value);
  const bool gives_small = room_ == sizeof small;
  if (gives_small && small != value) return ERANGE;
  const int error = gives_small ? give(&small, sizeof small) : give(&value, sizeof value);
  if (error != 0 || !has_new()) return error;
  if (place == nullptr) return EPERM;
  if (io_.new_length != sizeof small) return take(place, sizeof *place);
  std::int32_t taken = 0;
  if (const int wrong = take(&taken, sizeof taken); wrong != 0) return wrong;
  *place = static_cast<std::uint64_t>(taken);
  return 0;
}

int Request::finish(int error) const {
  const bool is_told = error == 0 || error == ENOMEM;
  if (is_told && io_.old_length != nullptr) *io_.old_length = told_;
  return error;
}

}  // namespace lauka::darwin
