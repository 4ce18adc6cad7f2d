#include "core/sha256.h"

#include <algorithm>

namespace lauka {
namespace {

constexpr std::size_t kBlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4,
// 4.2.2).
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::uint32_t rotate_right(std::uint32_t word, unsigned by) {
  return word >> by | word << (32U - by);
}

// The functions of the standard (4.1.2), of which Ch is choose() and Maj is majority(). The numbers
// of bits are those of the standard.

constexpr std::uint32_t choose(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return (x & y) ^ (~x & z);
}

constexpr std::uint32_t majority(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return (x & y) ^ (x & z) ^ (y & z);
}

constexpr std::uint32_t large_sigma0(std::uint32_t word) {
  return rotate_right(word, 2) ^ rotate_right(word, 13) ^ rotate_right(word, 22);
}

constexpr std::uint32_t large_sigma1(std::uint32_t word) {
  return rotate_right(word, 6) ^ rotate_right(word, 11) ^ rotate_right(word, 25);
}

constexpr std::uint32_t small_sigma0(std::uint32_t word) {
  return rotate_right(word, 7) ^ rotate_right(word, 18) ^ (word >> 3U);
}

constexpr std::uint32_t small_sigma1(std::uint32_t word) {
  return rotate_right(word, 17) ^ rotate_right(word, 19) ^ (word >> 10U);
}

std::uint32_t word_at(std::string_view block, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(block[4 * at + i])};
  };
  return byte(0) << 24U | byte(1) << 16U | byte(2) << 8U | byte(3);
}

/// Returns the message schedule: the 16 words of the block, and 48 words that are computed from
/// them.
std::array<std::uint32_t, 64> schedule_words(std::string_view block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t t = 0; t < 16; ++t) words[t] = word_at(block, t);
  for (std::size_t t = 16; t < words.size(); ++t)
    words[t] =
        words[t - 16] + small_sigma0(words[t - 15]) + words[t - 7] + small_sigma1(words[t - 2]);
  return words;
}

/// Updates the state of a hash with a block of 64 bytes (FIPS 180-4, 6.2.2). The names a to h
/// and t are those of the standard.
void mix_block(std::array<std::uint32_t, 8>& state, std::string_view block) {
  const std::array<std::uint32_t, 64> words = schedule_words(block);

  // One round of the compression, which changes only d and h. The standard then moves each variable
  // to the next place (h = g, g = f, ...). Here the next round takes them in shifted order instead,
  // which saves the moves. After eight rounds, the order is the first one again.
  const auto mix_round = [&words](std::size_t t, auto a0, auto b0, auto c0, auto& d0, auto e0,
                                  auto f0, auto g0, auto& h0) {
    const std::uint32_t t1 =
        h0 + large_sigma1(e0) + choose(e0, f0, g0) + kRoundConstants[t] + words[t];
    d0 += t1;
    h0 = t1 + large_sigma0(a0) + majority(a0, b0, c0);
  };

  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < words.size(); t += 8) {
    mix_round(t, a, b, c, d, e, f, g, h);
    mix_round(t + 1, h, a, b, c, d, e, f, g);
    mix_round(t + 2, g, h, a, b, c, d, e, f);
    mix_round(t + 3, f, g, h, a, b, c, d, e);
    mix_round(t + 4, e, f, g, h, a, b, c, d);
    mix_round(t + 5, d, e, f, g, h, a, b, c);
    mix_round(t + 6, c, d, e, f, g, h, a, b);
    mix_round(t + 7, b, c, d, e, f, g, h, a);
  }

  const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

void mix_blocks(std::array<std::uint32_t, 8>& state, std::string_view blocks) {
  for (; !blocks.empty(); blocks.remove_prefix(kBlockBytes))
    mix_block(state, blocks.substr(0, kBlockBytes));
}

}  // namespace

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!rest_.empty()) {
    const std::size_t taken = std::min(kBlockBytes - rest_.size(), bytes.size());
    rest_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (rest_.size() < kBlockBytes) return;
    mix_blocks(state_, rest_);
    rest_.clear();
  }
  const std::size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  mix_blocks(state_, bytes.substr(0, whole));
  rest_ = bytes.substr(whole);
}

std::string Sha256::hex_digest() const {
  Sha256 ended = *this;
  ended.pad();
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : ended.state_)
    for (unsigned shift = 32; shift > 0; shift -= 4) text += digits[word >> (shift - 4) & 0xfU];
  return text;
}

void Sha256::pad() {
  constexpr std::size_t length_bytes = 8;
  std::uint64_t bits = bytes_ * 8;
  std::string padding(1, '\x80');
  padding.append((2 * kBlockBytes - length_bytes - 1 - rest_.size()) % kBlockBytes, '\0');
  std::string length(length_bytes, '\0');
  for (std::size_t i = length_bytes; i > 0; --i, bits >>= 8U)
    length[i - 1] = static_cast<char>(bits & 0xffU);
  add(padding + length);
}

}  // namespace lauka
