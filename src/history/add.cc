#include "history/add.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "history/read.h"
#include "os/files.h"

#include <algorithm>
#include <deque>
#include <future>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace lauka::history {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;  // of a file
constexpr std::size_t kMostOfBatch = 200;                  // sessions in a transaction
constexpr std::size_t kMostPoints = 4'000;                 // commands in one
constexpr unsigned kMostReaders = 4;                       // threads
constexpr std::size_t kFilesAhead = 16;                    // for each

std::vector<Result<SessionRecord>> records_in(std::span<const std::string> files) {
  std::vector<Result<SessionRecord>> records;
  records.reserve(files.size());
  for (const std::string& file : files) records.push_back(record_in(file));
  return records;
}

}  // namespace

Result<SessionRecord> record_in(const std::string& file) {
  const auto text = os::read_file(file, kMostBytes);
  return text ? record_of(*text) : Result<SessionRecord>(text.error());
}

// Reading takes longer than the database does: a few files for each processor are read ahead.
Result<Added> Adder::add(std::span<const std::string> files) {
  const std::size_t ahead = std::clamp(std::thread::hardware_concurrency(), 1U, kMostReaders) + 1;
  std::deque<std::future<std::vector<Result<SessionRecord>>>> reading;
  for (std::size_t begun = 0, next = 0; next < files.size();) {
    for (; begun < files.size() && reading.size() < ahead; begun += kFilesAhead) {
      const auto some = files.subspan(begun, std::min(kFilesAhead, files.size() - begun));
      try {
        reading.push_back(std::async(std::launch::async, records_in, some));
      } catch (const std::system_error&) {  // no thread is to be had: read when it is asked for
        reading.push_back(std::async(std::launch::deferred, records_in, some));
      }
    }
    auto records = reading.front().get();
    reading.pop_front();
    for (auto& record : records)
      if (auto done = take(files[next++], std::move(record)); !done) return done.error();
  }
  if (auto done = flush(); !done) return done.error();
  added_.there = files_ - added_.bad - added_.sessions;
  return added_;
}

Result<void> Adder::take(const std::string& file, Result<SessionRecord> record) {
  ++files_;
  if (!record) {
    ++added_.bad;
    tell_bad_(record.error().of(cited(file)));
    return {};
  }
  points_ += record->results.size();
  batch_.push_back(*std::move(record));
  return batch_.size() >= kMostOfBatch || points_ >= kMostPoints ? flush() : Result<void>();
}

Result<void> Adder::flush() {
  if (batch_.empty()) return {};
  const auto added = store_.add(batch_);
  if (!added)
    return Error{fmt::format("{}; {} of {} were added before that", added.error().line(),
                             added_.sessions, plural(files_, "file")),
                 "add them again"};
  added_.sessions += *added;
  batch_.clear();
  points_ = 0;
  return {};
}

}  // namespace lauka::history
