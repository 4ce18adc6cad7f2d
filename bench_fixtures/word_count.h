#pragma once

#include "arguments.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The task of `old` and `new`: count how often each word occurs in a text which they make
/// themselves, and print the most frequent ones. Only the counting is each program's own.
namespace fixture {

/// Words that are printed.
inline constexpr std::size_t kShown = 10;

/// Bytes of text unless --size says otherwise.
inline constexpr std::uint64_t kUsualSize = 3'500'000;

struct WordCount {
  std::string word;
  std::size_t count = 0;
};

/// What is asked for on the command line of `old` and `new`.
struct Task {
  std::uint64_t size = kUsualSize;
  int level = 2;  ///< of `new`: how well it is done, 0 to 3
};

/// Steele and Vigna's splitmix64: the same text on every system.
class Random {
 public:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

 private:
  std::uint64_t state_ = 1;
};

/// Appends the word of this rank: syllables, so that every rank has a word of its own and the
/// frequent ones are short.
inline void append_word(std::string& text, std::uint64_t rank) {
  static constexpr std::string_view kConsonants = "bcdfghjklmnprstvwxyz";
  static constexpr std::string_view kVowels = "aeiou";
  for (++rank; rank > 0; rank /= 100) {
    --rank;
    text += kConsonants[rank % 20];
    text += kVowels[rank % 100 / 20];
  }
}

/// A rank below 2^13, about as Zipf has it: every power of two holds as many occurrences as the
/// next, so rank r comes up about 1/r as often as the first. Whole numbers only: no system's
/// logarithm has a say in the text.
inline std::uint64_t zipf_rank(std::uint64_t random) {
  static constexpr std::uint64_t kPowers = 13;
  const std::uint64_t power = (random & 0xffffU) % kPowers;
  const std::uint64_t first = std::uint64_t{1} << power;
  return first - 1 + ((random >> 16U) & (first - 1));
}

/// `bytes` bytes of text: lines of twelve words, some with a capital, a comma or a full stop.
inline std::string make_text(std::uint64_t bytes) {
  std::string text;
  text.reserve(bytes + 32);
  Random random;
  for (std::uint64_t words = 1; text.size() < bytes; ++words) {
    const std::uint64_t drawn = random.next();
    const std::size_t begin = text.size();
    append_word(text, zipf_rank(drawn));
    if ((drawn >> 60U) == 0) {
      text[begin] = static_cast<char>(text[begin] - 'a' + 'A');
    }
    if ((drawn >> 56U & 0xfU) < 2) {
      text += (drawn >> 56U & 1U) == 0 ? ',' : '.';
    }
    text += words % 12 == 0 ? '\n' : ' ';
  }
  text.resize(bytes);
  return text;
}

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// A letter as it is counted: small.
inline char folded(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The order of the result: frequent words first, equally frequent ones by the alphabet.
inline bool comes_before(std::size_t count, std::string_view word, std::size_t other_count,
                         std::string_view other) {
  return count != other_count ? count > other_count : word < other;
}

/// The task's answer on standard output. `top`: the kShown most frequent words, in order.
inline void print_result(const std::vector<WordCount>& top, std::size_t distinct) {
  static_cast<void>(std::printf("%zu different words\n", distinct));
  for (const WordCount& entry : top) {
    static_cast<void>(std::printf("%8zu %s\n", entry.count, entry.word.c_str()));
  }
}

/// Reads `[-O0|-O1|-O2|-O3] [--size BYTES]`; -O only where the program `has_levels`.
inline Task task_of(int argc, char** argv, bool has_levels, const char* usage) {
  Task task;
  const auto arguments = arguments_of(argc, argv);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (has_levels && argument.size() == 3 && argument.substr(0, 2) == "-O" && argument[2] >= '0' &&
        argument[2] <= '3') {
      task.level = argument[2] - '0';
      continue;
    }
    if (argument != "--size" || i + 1 == arguments.size()) {
      refuse(usage);
    }
    const auto size = to_bytes(arguments[++i]);
    if (!size || *size > 1'000'000'000) {
      refuse(usage);
    }
    task.size = *size;
  }
  return task;
}

}  // namespace fixture
