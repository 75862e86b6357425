#include "serve/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bet {
namespace {

constexpr std::string_view kMagic =
    "\x89"
    "BEV\r\n\x1a\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMarker = 0x43455242;  // "BREC"
constexpr std::size_t kFileHead = 16;
constexpr std::size_t kRecordHead = 24;
constexpr std::size_t kChecksummedFrom = 4;  // behind the marker
constexpr std::size_t kChecksumAt = 16;

std::string file_head() {
  std::string head(kMagic);
  append(head, kVersion);
  append(head, std::uint32_t{0});
  return head;
}

std::uint64_t checksum(Bytes head, Bytes events, std::uint64_t offset) {
  std::string bytes(reinterpret_cast<const char*>(head.data()) + kChecksummedFrom,
                    kChecksumAt - kChecksummedFrom);
  bytes.append(reinterpret_cast<const char*>(events.data()), events.size());
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), offset);
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string encoded_record(const std::vector<Event>& events, std::uint64_t offset,
                           std::uint64_t synced) {
  std::string payload;
  for (const Event& event : events) {
    for (const std::string* const id : {&event.user, &event.item}) {
      append_base128(payload, id->size());
      payload += *id;
    }
  }
  BET_CHECK(payload.size() <= 0xffffffffU, "a record of ", payload.size(), " bytes");
  std::string record;
  append(record, kMarker);
  append(record, static_cast<std::uint32_t>(payload.size()));
  append(record, synced);
  append(record, checksum(bytes_of(record), bytes_of(payload), offset));
  return record + payload;
}

struct Record {
  Bytes events;
  std::uint64_t synced = 0;
  std::uint64_t end = 0;
};

// The record at this offset; nothing if there is none that is whole and has the right checksum.
std::optional<Record> record_at(Bytes file, std::uint64_t offset) {
  if (file.size() - offset < kRecordHead) return std::nullopt;
  const Bytes head = file.subspan(offset, kRecordHead);
  if (load<std::uint32_t>(head.data()) != kMarker) return std::nullopt;
  const auto size = load<std::uint32_t>(head.data() + kChecksummedFrom);
  if (size > file.size() - offset - kRecordHead) return std::nullopt;
  const Bytes events = file.subspan(offset + kRecordHead, size);
  if (load<std::uint64_t>(head.data() + kChecksumAt) != checksum(head, events, offset)) {
    return std::nullopt;
  }
  return Record{events, load<std::uint64_t>(head.data() + 8), offset + kRecordHead + size};
}

// Whether a good record behind this offset says that more than it was on the disk before.
bool was_on_disk(Bytes file, std::uint64_t offset) {
  for (std::uint64_t at = offset + 1; at + kRecordHead <= file.size(); ++at) {
    if (load<std::uint32_t>(file.data() + at) != kMarker) continue;
    const std::optional<Record> record = record_at(file, at);
    if (record && record->synced > offset) return true;
  }
  return false;
}

void decode_events(Bytes payload, std::vector<Event>& events) {
  ByteReader reader(payload, "events");
  while (!reader.rest().empty()) {
    Event event;
    event.user = reader.text(reader.base128());
    event.item = reader.text(reader.base128());
    events.push_back(std::move(event));
  }
}

std::string read_all(const FileHandle& file, const std::string& path) {
  struct ::stat status {};
  BET_CHECK(::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode), path,
            ": is not a regular file");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                                  static_cast<off_t>(filled));
    BET_CHECK(count >= 0 || errno == EINTR, path, ": ", system_message());
    if (count == 0) break;
    filled += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

LoggedEvents read_event_log(Bytes bytes) {
  LoggedEvents logged;
  const std::string head = file_head();
  const std::size_t begin = std::min(bytes.size(), head.size());
  BET_CHECK(std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                       bytes_of(head).begin()),
            "is not a log of events, or one of another version");
  if (begin < head.size()) return logged;  // not even its head was written to the end
  logged.good_bytes = head.size();
  while (logged.good_bytes < bytes.size()) {
    const std::optional<Record> record = record_at(bytes, logged.good_bytes);
    if (!record) {
      BET_CHECK(!was_on_disk(bytes, logged.good_bytes), "damaged: the record at byte ",
                logged.good_bytes, " has a wrong checksum, and events that it had are lost");
      break;
    }
    decode_events(record->events, logged.events);
    logged.good_bytes = record->end;
  }
  return logged;
}

EventLog::EventLog(std::string path) : path_(std::move(path)) {
  const std::string lock_path = path_ + ".lock";
  lock_ = FileLock::take(lock_path);
  BET_CHECK(lock_.has_value(), path_, ": is in use by ", FileLock::holder(lock_path));
  open();
}

EventLog::~EventLog() = default;

void EventLog::open() {
  file_ = FileHandle(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  BET_CHECK(file_.is_open(), path_, ": cannot open: ", system_message());
  const std::string bytes = read_all(file_, path_);
  LoggedEvents logged;
  try {
    logged = read_event_log(bytes_of(bytes));
  } catch (const Error& error) {
    fail_as(error.kind(), path_, ": ", error.what());
  }
  cut_bytes_ = bytes.size() - logged.good_bytes;
  index_.add(logged.events);
  if (logged.good_bytes < kFileHead) {
    write_file(path_, file_head());  // its name and head are on the disk before any event is
    file_ = FileHandle(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    BET_CHECK(file_.is_open(), path_, ": cannot open: ", system_message());
    size_ = kFileHead;
    return;
  }
  size_ = logged.good_bytes;
  BET_CHECK(::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0 && ::fsync(file_.get()) == 0,
            path_, ": cannot cut off what was not written to its end: ", system_message());
}

std::size_t EventLog::add(const std::vector<Event>& events) {
  std::vector<Event> unknown;
  for (const Event& event : events) {
    const bool again = std::find(unknown.begin(), unknown.end(), event) != unknown.end();
    if (!again && !index_.has(event)) unknown.push_back(event);
  }
  std::unique_lock lock(mutex_);
  if (!refused_.empty()) fail_as(ErrorKind::kBudget, refused_);
  if (unknown.empty()) return 0;
  const std::size_t count = unknown.size();
  const std::shared_ptr<Batch> batch = filling_;
  batch->records.push_back(std::move(unknown));
  while (!batch->done) {
    if (writing_) {
      changed_.wait(lock);
    } else {
      write_batch(lock);
    }
  }
  if (!batch->error.empty()) fail_as(ErrorKind::kInternal, batch->error);
  return count;
}

// Writes what threads have put into the batch so far; more can fill the next one meanwhile.
void EventLog::write_batch(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Batch> batch = std::exchange(filling_, std::make_shared<Batch>());
  writing_ = true;
  std::string bytes;
  std::string error = broken_ ? path_ + ": could not be written before" : "";
  lock.unlock();
  try {
    for (const std::vector<Event>& record : batch->records) {
      bytes += encoded_record(record, size_ + bytes.size(), size_);
    }
    if (error.empty()) {
      write_and_sync(bytes);
      for (const std::vector<Event>& record : batch->records) index_.add(record);
    }
  } catch (const std::exception& problem) {
    error = problem.what();
  }
  lock.lock();
  if (error.empty()) size_ += bytes.size();
  batch->error = error;
  batch->done = true;
  writing_ = false;
  changed_.notify_all();
}

// Only the thread that writes calls it, and reads size_.
void EventLog::write_and_sync(const std::string& bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data() + written, bytes.size() - written,
                                   static_cast<off_t>(size_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const std::string text = str_cat(path_, ": cannot write: ", system_message());
      broken_ = ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0;
      fail_as(ErrorKind::kInternal, text);
    }
    written += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_.get()) == 0) return;
  broken_ = true;  // what failed once may seem to succeed the next time
  fail_as(ErrorKind::kInternal, path_, ": cannot be synced: ", system_message());
}

EventLog::Snapshot EventLog::snapshot() const {
  std::uint64_t after = 0;
  {
    const std::lock_guard lock(mutex_);
    after = in_file_;
  }
  // The number first: what comes in between is in both this snapshot and the next one.
  Snapshot snapshot;
  snapshot.last = index_.last();
  snapshot.events = index_.later_than(after);
  return snapshot;
}

void EventLog::set_served(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  served_ = std::max(served_, through);
}

void EventLog::restart(std::uint64_t through) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !writing_; });
  std::string bytes = file_head();
  const std::vector<Event> left = index_.later_than(through);
  if (!left.empty()) bytes += encoded_record(left, bytes.size(), 0);
  write_file(path_, bytes);
  FileHandle file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  BET_CHECK(file.is_open(), path_, ": cannot open: ", system_message());
  file_ = std::move(file);
  size_ = bytes.size();
  broken_ = false;
  in_file_ = through;
  ++compactions_;
}

void EventLog::refuse(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  refused_ = reason;
}

EventLog::Status EventLog::status() const {
  const std::uint64_t last = index_.last();
  const std::lock_guard lock(mutex_);
  return {size_, last, last - std::min(last, served_), compactions_, refused_};
}

}  // namespace bet
