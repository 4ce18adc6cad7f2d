#include "report/function_name.h"

#include "core/function_table.h"
#include "core/text.h"
#include "report/style.h"

#include <algorithm>
#include <array>

namespace lauka::report {

namespace {

bool is_of_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

/// Returns the bytes of an operator's name at `at`: 10 for "operator>>", 9 for "operator new", the
/// blank included. Returns 0 if no such name begins there.
std::size_t size_of_operator_name(std::string_view name, std::size_t at) {
  constexpr std::string_view word = "operator";
  // Signs without brackets need not be recognized. The longest sign comes first.
  constexpr auto signs = std::to_array<std::string_view>(
      {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">", " "});
  if (!name.substr(at).starts_with(word) || (at > 0 && is_of_word(name[at - 1]))) return 0;

  const std::string_view rest = name.substr(at + word.size());
  if (!rest.empty() && is_of_word(rest.front())) return 0;
  const auto* const sign =
      std::ranges::find_if(signs, [&](std::string_view text) { return rest.starts_with(text); });
  return word.size() + (sign == signs.end() ? 0 : sign->size());
}

/// Reads a demangled name from its beginning to its end, and knows what is inside of brackets.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {
    for (std::size_t at = 0; at < name_.size();) at += read_part_at(at);
  }

  /// Returns the name without the return type that it may begin with.
  std::string_view without_return_type() const { return name_.substr(begin_); }

  /// Returns the same with … in place of template arguments.
  const std::string& without_arguments() const { return text_; }

 private:
  /// Reads the name of an operator or one other character. Leaves out template arguments, and what
  /// turns out to be the return type before the function's own name. Returns the number of bytes
  /// read.
  std::size_t read_part_at(std::size_t at) {
    // The signs of an operator, as in operator<, are no brackets.
    if (const std::size_t size = size_of_operator_name(name_, at); size > 0) {
      if (is_outside_brackets()) is_after_operator_ = true;
      add_unless_argument(name_.substr(at, size));
      return size;
    }

    const char c = name_[at];
    if (c == '<') {
      open_angle_bracket(at);
      return 1;
    }
    const bool is_of_arrow = c == '>' && at > 0 && name_[at - 1] == '-';  // as in "->"
    if (c == '>' && angles_ > 0 && !is_of_arrow) {
      close_angle_bracket();
      return 1;
    }

    if (c == '(') ++parentheses_;
    if (c == ')' && parentheses_ > 0) --parentheses_;
    add_unless_argument(name_.substr(at, 1));

    // A blank may end the return type. A blank after an operator's name does not: the rest of
    // "operator unsigned int" is a part of the name.
    const bool may_end_return_type = c == ' ' && is_outside_brackets() && !is_after_operator_;
    if (may_end_return_type) drop_return_type_before(at);
    return 1;
  }

  bool is_outside_brackets() const { return angles_ == 0 && parentheses_ == 0; }

  void add_unless_argument(std::string_view text) {
    if (angles_ == 0 || is_path_) text_ += text;
  }

  /// The brackets in which a name of Rust begins, as in "<Vec<T> as Drop>::drop", are a part of it.
  void open_angle_bracket(std::size_t at) {
    if (angles_ == 0) {
      is_path_ = at == 0;
      text_ += is_path_ ? "<" : "<…>";
    } else {
      add_unless_argument("<");
    }
    ++angles_;
  }

  void close_angle_bracket() {
    add_unless_argument(">");
    --angles_;
  }

  /// Takes what ends at the blank `at` for the return type, unless the blank is one of those in
  /// "operator<< <char>" and "decltype (x)".
  void drop_return_type_before(std::size_t at) {
    const char next = at + 1 < name_.size() ? name_[at + 1] : ' ';
    if (next == '<' || next == '(' || next == ' ') return;
    begin_ = at + 1;
    text_.clear();
  }

  std::string_view name_;
  std::string text_{};
  std::size_t begin_ = 0;
  std::size_t angles_ = 0;
  std::size_t parentheses_ = 0;
  bool is_after_operator_ = false;  ///< true after the word "operator" outside of brackets
  bool is_path_ = false;            ///< true inside of the brackets with which the name begins
};

/// Returns the name without the parameters at its end, and what may follow them: " const".
std::string_view without_parameters_at_end(std::string_view name) {
  const std::size_t end = name.rfind(')');
  if (end == std::string_view::npos) return name;
  const std::string_view rest = name.substr(end + 1);
  if (!rest.empty() && !rest.starts_with(" const") && !rest.starts_with(" &")) return name;

  const std::string_view start = without_parameters(name);
  return start.ends_with("operator") ? name : start;
}

}  // namespace

std::string shortened_function(std::string_view name, std::size_t width) {
  if (display_width(name) <= width) return std::string(name);

  const NameReader reader(without_parameters_at_end(name));
  const std::string_view bare = reader.without_return_type();
  if (display_width(bare) <= width) return std::string(bare);
  return cut_middle(reader.without_arguments(), width);
}

}  // namespace lauka::report
