// The word-frequency count of `old`, done well, and better with each level:
//   -O0  one pass over the text, letter by letter, and a tree of strings
//   -O1  a hash table of views of the text, which is folded to small letters first
//   -O2  a flat table of our own instead of the standard one's nodes; only the words shown are
//   sorted -O3  folding, finding the words and hashing them in a single pass
#include "word_count.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct Entry {
  std::string_view word;  ///< empty: the place is free
  std::size_t count = 0;
  std::uint32_t hash = 0;
};

struct Answer {
  std::vector<fixture::WordCount> top;
  std::size_t distinct = 0;
};

/// FNV-1a, one letter at a time.
constexpr std::uint32_t kEmptyHash = 2166136261U;
constexpr std::uint32_t hash_with(std::uint32_t hash, char letter) {
  return (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
}

/// Counts of words in one flat array, open addressing, at most half full.
class FlatTable {
 public:
  void count(std::string_view word, std::uint32_t hash) {
    Entry& entry = place_of(entries_, word, hash);
    if (entry.count++ == 0) {
      entry.word = word;
      entry.hash = hash;
      if (++used_ * 2 > entries_.size()) {
        grow();
      }
    }
  }

  std::size_t size() const { return used_; }
  const std::vector<Entry>& places() const { return entries_; }

 private:
  static Entry& place_of(std::vector<Entry>& entries, std::string_view word, std::uint32_t hash) {
    const std::size_t mask = entries.size() - 1;
    std::size_t index = (hash ^ (hash >> 15U)) & mask;
    while (entries[index].count != 0 &&
           (entries[index].hash != hash || entries[index].word != word)) {
      index = (index + 1) & mask;
    }
    return entries[index];
  }

  void grow() {
    std::vector<Entry> larger(entries_.size() * 2);
    for (const Entry& entry : entries_) {
      if (entry.count != 0) {
        place_of(larger, entry.word, entry.hash) = entry;
      }
    }
    entries_ = std::move(larger);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  std::size_t used_ = 0;
};

/// The answer from any range of things with `.first`/`.second`, all of it sorted.
template <typename Counts>
Answer answer_by_sorting_all(const Counts& counts) {
  std::vector<std::pair<std::string_view, std::size_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return fixture::comes_before(a.second, a.first, b.second, b.first);
  });
  Answer answer{{}, sorted.size()};
  for (std::size_t i = 0; i < std::min(fixture::kShown, sorted.size()); ++i) {
    answer.top.push_back({std::string(sorted[i].first), sorted[i].second});
  }
  return answer;
}

/// The answer from a flat table: only the words shown are put in order.
Answer answer_of(const FlatTable& table) {
  std::vector<Entry> top(std::min(fixture::kShown, table.size()));
  std::partial_sort_copy(table.places().begin(), table.places().end(), top.begin(), top.end(),
                         [](const Entry& a, const Entry& b) {
                           return fixture::comes_before(a.count, a.word, b.count, b.word);
                         });
  Answer answer{{}, table.size()};
  for (const Entry& entry : top) {
    answer.top.push_back({std::string(entry.word), entry.count});
  }
  return answer;
}

Answer count_in_tree(const std::string& text) {
  std::map<std::string, std::size_t> counts;
  std::string word;
  for (const char c : text + ' ') {
    if (fixture::is_letter(c)) {
      word += fixture::folded(c);
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
  }
  return answer_by_sorting_all(counts);
}

void fold(std::string& text) {
  for (char& c : text) {
    c = fixture::folded(c);
  }
}

/// Gives each word of `folded_text` to `count`.
template <typename Count>
void for_each_word(std::string_view folded_text, const Count& count) {
  std::size_t begin = 0;
  while (begin < folded_text.size()) {
    std::size_t end = begin;
    while (end < folded_text.size() && fixture::is_letter(folded_text[end])) {
      ++end;
    }
    if (end > begin) {
      count(folded_text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
}

Answer count_views(std::string& text) {
  fold(text);
  std::unordered_map<std::string_view, std::size_t> counts;
  for_each_word(text, [&](std::string_view word) { ++counts[word]; });
  return answer_by_sorting_all(counts);
}

Answer count_flat(std::string& text) {
  fold(text);
  FlatTable table;
  for_each_word(text, [&](std::string_view word) {
    std::uint32_t hash = kEmptyHash;
    for (const char c : word) {
      hash = hash_with(hash, c);
    }
    table.count(word, hash);
  });
  return answer_of(table);
}

Answer count_in_one_pass(std::string& text) {
  FlatTable table;
  text += ' ';
  std::uint32_t hash = kEmptyHash;
  const char* begin = text.data();
  for (char& c : text) {
    // Setting this bit makes a capital small and leaves no other character of the text a letter.
    const char small = static_cast<char>(c | 0x20);
    if (small >= 'a' && small <= 'z') {
      c = small;
      hash = hash_with(hash, small);
      continue;
    }
    if (&c != begin) {
      table.count({begin, static_cast<std::size_t>(&c - begin)}, hash);
      hash = kEmptyHash;
    }
    begin = &c + 1;
  }
  return answer_of(table);
}

Answer count_words(std::string& text, int level) {
  switch (level) {
    case 0:
      return count_in_tree(text);
    case 1:
      return count_views(text);
    case 2:
      return count_flat(text);
    default:
      return count_in_one_pass(text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const fixture::Task task =
      fixture::task_of(argc, argv, true, "new [-O0|-O1|-O2|-O3] [--size BYTES]");
  std::string text = fixture::make_text(task.size);
  const Answer answer = count_words(text, task.level);
  fixture::print_result(answer.top, answer.distinct);
  return 0;
}
