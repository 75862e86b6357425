#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_handle.h"
#include "base/file_lock.h"
#include "runtime/bytes.h"
#include "serve/event_index.h"

namespace bet {

// The file (numbers are little-endian): 16 bytes, "\x89BEV\r\n\x1a\n", u32 version 1, u32 zero;
// then records, each u32 "BREC", u32 bytes of the events, u64 how much of the file was on the disk
// when it was written, u64 XXH3 of the two numbers before and the events, seeded with the record's
// offset; the events: for each the user and the item, as length in base-128 (docs/format.md) and
// bytes.

// What the bytes of a log say.
struct LoggedEvents {
  std::vector<Event> events;
  std::uint64_t good_bytes = 0;  // what follows was not written to its end: nobody relies on it
};

// Throws Error on a file that is not a log, and where a record that was on the disk before a later
// one was written is damaged: its events had been acknowledged.
LoggedEvents read_event_log(Bytes bytes);

// The log beside a model file and, in memory, the events in it. One process at a time has it open.
// Any thread may call anything.
class EventLog {
 public:
  // The log is PATH, which is made if missing, locked by PATH.lock. What a crash left behind the
  // last good record is cut off. Throws Error, with the path.
  explicit EventLog(std::string path);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Returns when the events are on the disk (fdatasync) and in index(); events of several threads
  // are written together. Returns how many were not in the log yet. Throws Error, and then none is
  // in the log: kBudget while events are refused, kInternal if they cannot be written.
  std::size_t add(const std::vector<Event>& events);

  const EventIndex& index() const { return index_; }
  // Bytes that were cut off at opening.
  std::uint64_t cut_bytes() const { return cut_bytes_; }

  // Events that are not in the model file yet, and the number of the last one.
  struct Snapshot {
    std::vector<Event> events;
    std::uint64_t last = 0;
  };
  Snapshot snapshot() const;

  // The served model has the events up to this number.
  void set_served(std::uint64_t through);
  // The model file has them: begins a log without them. index() keeps them until forget().
  void restart(std::uint64_t through);
  void forget(std::uint64_t through) { index_.forget(through); }

  // From now on events are refused, for this reason; empty: no more.
  void refuse(const std::string& reason);

  struct Status {
    std::uint64_t log_bytes = 0;
    std::uint64_t events = 0;   // accepted since the start, those of the log at the start included
    std::uint64_t waiting = 0;  // of them, not in the vectors of the served model yet
    std::uint64_t compactions = 0;  // restarts of the log
    std::string refused;            // why events are refused; empty: they are not
  };
  Status status() const;

 private:
  // Events of threads that are written together.
  struct Batch {
    std::vector<std::vector<Event>> records;
    bool done = false;
    std::string error;
  };

  void open();
  void write_batch(std::unique_lock<std::mutex>& lock);
  void write_and_sync(const std::string& bytes);

  const std::string path_;
  std::optional<FileLock> lock_;
  std::uint64_t cut_bytes_ = 0;
  EventIndex index_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  FileHandle file_;
  std::uint64_t size_ = 0;  // of the file, all on the disk
  std::shared_ptr<Batch> filling_ = std::make_shared<Batch>();
  bool writing_ = false;
  bool broken_ = false;  // nobody knows what is on the disk
  std::string refused_;
  std::uint64_t in_file_ = 0;  // events up to this number are in the model file
  std::uint64_t served_ = 0;
  std::uint64_t compactions_ = 0;
};

}  // namespace bet
