#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lauka {

/// Computes SHA-256 (FIPS 180-4) of bytes that are added in pieces.
class Sha256 {
 public:
  void add(std::string_view bytes);

  /// Returns the hash of all bytes added, as 64 lower-case hexadecimal digits.
  std::string hex_digest() const;

 private:
  void pad();

  // Initially the first 32 bits of the fractional parts of the square roots of the first eight
  // primes (FIPS 180-4, 5.3.3).
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;  // bytes that are not yet hashed, less than a block
  std::uint64_t bytes_ = 0;
};

}  // namespace lauka
