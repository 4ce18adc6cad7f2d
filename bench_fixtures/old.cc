// The word-frequency count, written without a thought for its cost: a stream for each line, a copy
// of each word, a tree of strings, and the whole table sorted anew for each word that is shown.
#include "word_count.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Counts = std::map<std::string, std::size_t>;

std::string small_letters_of(const std::string& word) {
  std::string letters;
  for (const char c : word) {
    if (fixture::is_letter(c)) {
      letters += fixture::folded(c);
    }
  }
  return letters;
}

Counts count_words(const std::string& text) {
  Counts counts;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    while (words >> word) {
      const std::string letters = small_letters_of(word);
      if (!letters.empty()) {
        counts[letters] = counts[letters] + 1;
      }
    }
  }
  return counts;
}

fixture::WordCount place(const Counts& counts, std::size_t index) {
  std::vector<fixture::WordCount> sorted;
  for (const auto& entry : counts) {
    sorted.push_back({entry.first, entry.second});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const fixture::WordCount& a, const fixture::WordCount& b) {
              return fixture::comes_before(a.count, a.word, b.count, b.word);
            });
  return sorted[index];
}

}  // namespace

int main(int argc, char** argv) {
  const fixture::Task task = fixture::task_of(argc, argv, false, "old [--size BYTES]");
  const Counts counts = count_words(fixture::make_text(task.size));
  std::vector<fixture::WordCount> top;
  for (std::size_t index = 0; index < std::min(fixture::kShown, counts.size()); ++index) {
    top.push_back(place(counts, index));
  }
  fixture::print_result(top, counts.size());
  return 0;
}
