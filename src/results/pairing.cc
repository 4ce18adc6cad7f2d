#include "results/pairing.h"

#include "core/function_table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace lauka {

namespace {

/// The most pairs of functions that are compared for an alignment, so that it takes little time.
constexpr std::size_t kMaxComparedPairs = 1'000'000;

/// Rows of both sides, which are numbered together: the candidate's rows follow the reference's.
class FunctionRows {
 public:
  FunctionRows(std::span<const FunctionToPair> reference, std::span<const FunctionToPair> candidate)
      : reference_(reference), candidate_(candidate), parents_(size()) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }

  std::size_t size() const { return reference_.size() + candidate_.size(); }
  bool is_of_candidate(std::size_t row) const { return row >= reference_.size(); }
  std::size_t index_on_side(std::size_t row) const {
    return is_of_candidate(row) ? row - reference_.size() : row;
  }
  const FunctionToPair& at(std::size_t row) const {
    return is_of_candidate(row) ? candidate_[index_on_side(row)] : reference_[row];
  }

  template <typename Take>
  void for_each_name(std::size_t row, const Take& take) const {
    take(at(row).name);
    for (const std::string& name : at(row).other_names) take(std::string_view(name));
  }

  /// Returns the row that stands for all rows that are the same function.
  std::size_t representative(std::size_t row) {
    while (parents_[row] != row) row = parents_[row] = parents_[parents_[row]];
    return row;
  }

  void unite(std::size_t row, std::size_t other) {
    const std::size_t of_row = representative(row);
    const std::size_t of_other = representative(other);
    parents_[std::max(of_row, of_other)] = std::min(of_row, of_other);
  }

 private:
  std::span<const FunctionToPair> reference_;
  std::span<const FunctionToPair> candidate_;
  std::vector<std::size_t> parents_;
};

/// Returns the names without numbers of which both sides have the same numbered names.
std::set<std::string> find_unchanged(const FunctionRows& rows) {
  std::map<std::string, std::pair<std::set<std::string_view>, std::set<std::string_view>>> names;
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows.for_each_name(row, [&](std::string_view name) {
      NumberedName split = split_numbers(name);
      if (split.numbers.empty()) return;
      auto& of_sides = names[std::move(split.without_numbers)];
      (rows.is_of_candidate(row) ? of_sides.second : of_sides.first).insert(name);
    });

  std::set<std::string> unchanged;
  for (const auto& [name, of_sides] : names)
    if (of_sides.first == of_sides.second) unchanged.insert(name);
  return unchanged;
}

void unite_by_names(FunctionRows& rows) {
  const std::set<std::string> unchanged = find_unchanged(rows);
  std::map<std::string_view, std::size_t> owners;
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows.for_each_name(row, [&](std::string_view name) {
      const NumberedName split = split_numbers(name);
      if (!split.numbers.empty() && !unchanged.contains(split.without_numbers)) return;
      const auto [owner, is_first] = owners.emplace(name, row);
      if (!is_first) rows.unite(row, owner->second);
    });
}

/// The rows of both sides that are the same function. There are several of one side if they have
/// names in common, or if the other side has one row with names of each.
struct Function {
  std::vector<std::size_t> reference_rows{};
  std::vector<std::size_t> candidate_rows{};
  NumberedName split{};  ///< of the most natural name
  std::string name{};    ///< the most natural name
  double mean = 0.0;

  bool is_one_sided() const { return reference_rows.empty() || candidate_rows.empty(); }
};

std::vector<Function> list_functions(FunctionRows& rows) {
  std::map<std::size_t, Function> functions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Function& function = functions[rows.representative(row)];
    (rows.is_of_candidate(row) ? function.candidate_rows : function.reference_rows).push_back(row);
    function.mean += rows.at(row).mean;
    if (function.name.empty() || is_more_natural(rows.at(row).name, function.name))
      function.name = rows.at(row).name;
  }

  std::vector<Function> list;
  list.reserve(functions.size());
  for (auto& [row, function] : functions) {
    function.split = split_numbers(function.name);
    list.push_back(std::move(function));
  }
  return list;
}

/// Functions of one side, in the order of their numbers.
using FunctionsInOrder = std::vector<const Function*>;

/// Returns how well two functions match: the ratio of their counts, at most 1. Equal names decide
/// among equal ratios, and any pair is better than none.
double resemblance(const Function& reference, const Function& candidate) {
  constexpr double bonus_of_any_pair = 1e-3;
  constexpr double bonus_of_equal_names = 1e-3;
  const auto [less, more] = std::minmax(reference.mean, candidate.mean);
  return (more == 0.0 ? 1.0 : less / more) + bonus_of_any_pair +
         (reference.name == candidate.name ? bonus_of_equal_names : 0.0);
}

using FunctionPairs = std::vector<std::pair<const Function*, const Function*>>;

/// Pairs first with first, and so on.
FunctionPairs pair_by_order(const FunctionsInOrder& reference, const FunctionsInOrder& candidate) {
  FunctionPairs pairs;
  for (std::size_t i = 0; i < std::min(reference.size(), candidate.size()); ++i)
    pairs.emplace_back(reference[i], candidate[i]);
  return pairs;
}

/// The alignment of Needleman and Wunsch (1970), with gaps that cost nothing.
class Alignment {
 public:
  Alignment(const FunctionsInOrder& reference, const FunctionsInOrder& candidate)
      : reference_(reference),
        candidate_(candidate),
        best_sums_((reference.size() + 1) * (candidate.size() + 1), 0.0) {
    // Backwards, because each sum needs those of the shorter rests of both lists.
    for (std::size_t i = reference.size(); i-- > 0;)
      for (std::size_t j = candidate.size(); j-- > 0;)
        best_from(i, j) =
            std::max({best_from(i + 1, j), best_from(i, j + 1), best_with_pair(i, j)});
  }

  /// Returns the pairs that lead to the highest sum.
  FunctionPairs list_pairs() {
    FunctionPairs pairs;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < reference_.size() && j < candidate_.size()) {
      if (best_with_pair(i, j) >= best_from(i, j)) {
        pairs.emplace_back(reference_[i++], candidate_[j++]);
      } else if (best_from(i + 1, j) >= best_from(i, j)) {
        ++i;
      } else {
        ++j;
      }
    }
    return pairs;
  }

 private:
  /// The highest sum of resemblances that pairs of reference[i...] and candidate[j...] can have. It
  /// is 0 where a list has ended.
  double& best_from(std::size_t i, std::size_t j) {
    return best_sums_[i * (candidate_.size() + 1) + j];
  }
  double best_with_pair(std::size_t i, std::size_t j) {
    return resemblance(*reference_[i], *candidate_[j]) + best_from(i + 1, j + 1);
  }

  const FunctionsInOrder& reference_;
  const FunctionsInOrder& candidate_;
  std::vector<double> best_sums_;
};

/// Returns the pairs that resemble each other most, of all lists of pairs that keep the order on
/// both sides. If an alignment would take too long, only the order counts.
FunctionPairs align(const FunctionsInOrder& reference, const FunctionsInOrder& candidate) {
  if (reference.size() * candidate.size() > kMaxComparedPairs)
    return pair_by_order(reference, candidate);
  return Alignment(reference, candidate).list_pairs();
}

/// The functions of one side alone whose names are alike but for numbers.
struct AlikeFunctions {
  FunctionsInOrder reference{};
  FunctionsInOrder candidate{};
  bool has_numbers = false;
};

/// Returns the functions of one side alone by the rest of their names.
std::map<std::string_view, AlikeFunctions> group_one_sided(const std::vector<Function>& functions) {
  std::map<std::string_view, AlikeFunctions> alike_by_name;
  for (const Function& function : functions) {
    if (!function.is_one_sided()) continue;
    AlikeFunctions& alike = alike_by_name[function.split.without_numbers];
    FunctionsInOrder& side = function.reference_rows.empty() ? alike.candidate : alike.reference;
    side.push_back(&function);
    alike.has_numbers = alike.has_numbers || !function.split.numbers.empty();
  }
  return alike_by_name;
}

void sort_by_numbers(FunctionsInOrder& functions) {
  std::ranges::stable_sort(functions, {}, [](const Function* function) {
    return std::tie(function->split.numbers, function->name);
  });
}

/// Unites each function that only the reference has with one that only the candidate has, if their
/// names differ only in a compiler's numbers. The result tells for each united function what showed
/// that both are the same. Its keys are the functions' first rows of the reference.
std::map<std::size_t, PairedBy> unite_functions_despite_numbers(FunctionRows& rows) {
  const std::vector<Function> functions = list_functions(rows);
  std::map<std::size_t, PairedBy> paired_by_first_row;
  for (auto& [name, alike] : group_one_sided(functions)) {
    if (!alike.has_numbers || alike.reference.empty() || alike.candidate.empty()) continue;

    // A compiler counts upwards through the source, so the order says more than the numbers.
    sort_by_numbers(alike.reference);
    sort_by_numbers(alike.candidate);

    // A name that each side has only once is enough. Else the order and the counts decide.
    const bool is_unique = alike.reference.size() == 1 && alike.candidate.size() == 1;
    const PairedBy paired_by = is_unique ? PairedBy::NameWithoutNumbers : PairedBy::OrderAndCounts;
    for (const auto& [before, after] : align(alike.reference, alike.candidate)) {
      const std::size_t first_row = before->reference_rows.front();
      rows.unite(first_row, after->candidate_rows.front());
      paired_by_first_row[first_row] = paired_by;
    }
  }
  return paired_by_first_row;
}

/// True if `name` is one that a programmer writes, not a library for itself.
bool is_name_for_programmers(std::string_view name) {
  return !name.starts_with('_');
}

std::set<std::string> collect_names(const FunctionRows& rows,
                                    std::span<const std::size_t> rows_of_side) {
  std::set<std::string> names;
  for (const std::size_t row : rows_of_side)
    rows.for_each_name(row, [&](std::string_view name) { names.emplace(name); });
  return names;
}

/// Returns the names that are preferred for a function: those that both sides have. If a compiler's
/// numbers differ, there are none. The name is then the one without the numbers, or one of the
/// candidate.
std::vector<std::string> list_preferred_names(PairedBy paired_by,
                                              const std::set<std::string>& names_before,
                                              const std::set<std::string>& names_after) {
  if (paired_by == PairedBy::NameWithoutNumbers) {
    const std::string name = make_function_name({names_after.begin(), names_after.end()}).name;
    return {split_numbers(name).without_numbers};
  }
  if (paired_by == PairedBy::OrderAndCounts) return {names_after.begin(), names_after.end()};

  std::vector<std::string> common_names;
  std::ranges::set_intersection(names_before, names_after, std::back_inserter(common_names));
  return common_names;
}

/// Returns the most natural of the preferred names, or of all if no preferred one is suitable.
std::string choose_name(const std::vector<std::string>& all_names,
                        const std::vector<std::string>& preferred_names) {
  std::string name = make_function_name(all_names).name;
  if (preferred_names.empty()) return name;

  // A preferred name that a library uses only for itself, such as __memcpy_avx, does not replace
  // one that programmers write.
  std::string preferred = make_function_name(preferred_names).name;
  const bool may_replace = is_name_for_programmers(preferred) || !is_name_for_programmers(name);
  if (may_replace) return preferred;
  return name;
}

/// Sets the name of a function, and its other names. `rows_of`: its rows on each side.
void set_names(PairedFunction& function, const FunctionRows& rows, const Function& rows_of) {
  const std::set<std::string> names_before = collect_names(rows, rows_of.reference_rows);
  const std::set<std::string> names_after = collect_names(rows, rows_of.candidate_rows);
  std::vector<std::string> all_names;
  std::ranges::set_union(names_before, names_after, std::back_inserter(all_names));

  function.name =
      choose_name(all_names, list_preferred_names(function.paired_by, names_before, names_after));
  std::erase(all_names, function.name);
  function.other_names = std::move(all_names);
}

/// Returns a function with its names and with the indices of its rows on each side.
PairedFunction make_paired_function(const Function& function, const FunctionRows& rows,
                                    PairedBy paired_by) {
  PairedFunction pair{.paired_by = paired_by};
  set_names(pair, rows, function);

  // `rows` numbers the rows of both sides together, and the caller those of each side.
  for (const std::size_t row : function.reference_rows)
    pair.reference_rows.push_back(rows.index_on_side(row));
  for (const std::size_t row : function.candidate_rows)
    pair.candidate_rows.push_back(rows.index_on_side(row));
  return pair;
}

/// Returns how a function was paired: by name, unless its first row of the reference is in the map.
PairedBy find_pairing(const Function& function,
                      const std::map<std::size_t, PairedBy>& paired_by_first_row) {
  if (function.reference_rows.empty()) return PairedBy::Name;
  const auto entry = paired_by_first_row.find(function.reference_rows.front());
  return entry != paired_by_first_row.end() ? entry->second : PairedBy::Name;
}

}  // namespace

std::vector<PairedFunction> pair_functions(std::span<const FunctionToPair> reference,
                                           std::span<const FunctionToPair> candidate) {
  // Rows with a common name are united first. Of what is left over on both sides, rows may be the
  // same function although a compiler numbered them differently.
  FunctionRows rows(reference, candidate);
  unite_by_names(rows);
  const std::map<std::size_t, PairedBy> paired_by_first_row = unite_functions_despite_numbers(rows);

  std::vector<PairedFunction> paired;
  for (const Function& function : list_functions(rows))
    paired.push_back(
        make_paired_function(function, rows, find_pairing(function, paired_by_first_row)));
  return paired;
}

}  // namespace lauka
