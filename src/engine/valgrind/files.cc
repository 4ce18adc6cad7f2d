#include "engine/valgrind/files.h"

#include "core/text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

namespace lauka::engine::valgrind {

namespace {

std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return line.substr(key.size());
}

bool read_numbers(std::string_view text, std::vector<std::uint64_t>& numbers) {
  numbers.clear();
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto number = parse_number(text.substr(0, end));
    if (!number) return false;
    numbers.push_back(*number);
    text.remove_prefix(end);
  }
  return true;
}

class CachegrindLines {
 public:
  CachegrindLines(const std::function<void(const std::vector<std::string>& events)>& begin,
                  const FunctionLineSink& sink)
      : begin_(begin), sink_(sink) {}

  bool take(std::string_view line) {
    if (has_summary_) return false;
    if (const auto name = after(line, "fn=")) {
      function_ = *name;
    } else if (!line.empty() && line.front() >= '0' && line.front() <= '9') {
      return take_counts(line);
    } else if (const auto command = after(line, "cmd:")) {
      command_ = std::string(trimmed(*command));
    } else if (const auto names = after(line, "events:"); names && events_.empty()) {
      for (const std::string_view event : blank_separated(*names)) events_.emplace_back(event);
      sums_.assign(events_.size(), 0);
      begin_(events_);
    } else if (const auto summary = after(line, "summary:")) {
      has_summary_ = read_numbers(*summary, numbers_) && numbers_ == sums_;
      return has_summary_;
    }
    return true;
  }

  std::optional<TotalsOfProcess> totals() const {
    if (!command_ || !has_summary_) return std::nullopt;
    TotalsOfProcess totals{*command_, {}};
    for (std::size_t i = 0; i < events_.size(); ++i) totals.values.emplace(events_[i], sums_[i]);
    return totals;
  }

 private:
  /// Reads a line number and a count for each event. Missing counts at the end are 0.
  bool take_counts(std::string_view line) {
    if (!read_numbers(line, numbers_) || numbers_.size() > events_.size() + 1) return false;
    numbers_.erase(numbers_.begin());
    numbers_.resize(events_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] += numbers_[i];
      if (sums_[i] < numbers_[i]) return false;
    }
    sink_(function_, numbers_);
    return true;
  }

  const std::function<void(const std::vector<std::string>& events)>& begin_;
  const FunctionLineSink& sink_;
  std::optional<std::string> command_;
  std::vector<std::string> events_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint64_t> numbers_;
  std::string function_;
  bool has_summary_ = false;
};

/// Iterates over the bytes of a text. All copies share one position.
class Bytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  /// A position in a text. A line longer than kMaxLine ends the text, which limits the memory for a
  /// value.
  struct Place {
    Pieces pieces;
    std::string_view piece{};
    std::size_t line = 0;

    bool has_more() {
      if (piece.empty() && pieces) piece = pieces();
      if (piece.empty() || line > kMaxLine) pieces = nullptr;
      return pieces != nullptr;
    }
    void advance() {
      line = piece.front() == '\n' ? 0 : line + 1;
      piece.remove_prefix(1);
    }
  };

  Bytes() = default;
  explicit Bytes(Place& place) : place_(&place) {}

  reference operator*() const { return place_->piece.front(); }
  Bytes& operator++() {
    place_->advance();
    return *this;
  }
  Bytes operator++(int) { return ++*this; }
  bool operator==(const Bytes& other) const { return is_at_end() == other.is_at_end(); }
  bool operator!=(const Bytes& other) const { return !(*this == other); }

 private:
  bool is_at_end() const { return place_ == nullptr || !place_->has_more(); }

  Place* place_ = nullptr;
};

class DhatEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != kPoint || !is_points_) return true;
    const auto sum = totals_.values.find(key_);
    if (sum == totals_.values.end()) return true;
    sum->second += value;
    return sum->second >= value;
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == 1 && key_ == "cmd") totals_.command = value;
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return open(); }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1 && value == "pps")
      has_points_ = is_points_ = true;
    else if (depth_ == 1)
      is_points_ = false;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  std::optional<TotalsOfProcess> totals() const {
    return has_points_ ? std::optional(totals_) : std::nullopt;
  }

 private:
  static constexpr std::size_t kPoint = 3;
  static constexpr std::size_t kMaxJsonDepth = 16;

  bool open() { return ++depth_ <= kMaxJsonDepth; }
  bool close() {
    --depth_;
    return true;
  }

  TotalsOfProcess totals_{{}, {{"tbk", 0}, {"tb", 0}, {"gbk", 0}, {"gb", 0}}};
  bool has_points_ = false;
  std::string key_;
  std::size_t depth_ = 0;
  bool is_points_ = false;
};

}  // namespace

Pieces pieces_of(std::string text) {
  return [text = std::move(text), is_taken = false]() mutable -> std::string_view {
    return std::exchange(is_taken, true) ? std::string_view() : std::string_view(text);
  };
}

std::optional<std::string_view> LineReader::next() {
  line_.clear();
  for (;;) {
    if (piece_.empty()) piece_ = pieces_();
    if (piece_.empty()) {
      has_read_all_ = line_.empty();
      return std::nullopt;
    }
    const std::size_t end = piece_.find('\n');
    const std::string_view part = piece_.substr(0, end);
    if (line_.size() + part.size() > kMaxLine) return std::nullopt;
    piece_.remove_prefix(end == std::string_view::npos ? piece_.size() : end + 1);
    if (end != std::string_view::npos && line_.empty()) return part;
    line_ += part;
    if (end != std::string_view::npos) return line_;
  }
}

std::optional<TotalsOfProcess> read_cachegrind(
    Pieces pieces, const std::function<void(const std::vector<std::string>& events)>& begin,
    const FunctionLineSink& sink) {
  LineReader lines(std::move(pieces));
  CachegrindLines file(begin, sink);
  while (const auto line = lines.next())
    if (!file.take(*line)) return std::nullopt;
  return lines.has_read_all() ? file.totals() : std::nullopt;
}

std::optional<TotalsOfProcess> read_dhat(Pieces pieces) {
  Bytes::Place place{std::move(pieces)};
  DhatEvents events;
  const bool is_whole = nlohmann::json::sax_parse(Bytes(place), Bytes(), &events);
  return is_whole ? events.totals() : std::nullopt;
}

}  // namespace lauka::engine::valgrind
