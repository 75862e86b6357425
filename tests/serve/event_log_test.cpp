#include "serve/event_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "bet/error.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::read_file;
using test::TempFolder;

std::string log_in(const TempFolder& folder) { return (folder / "m.bet.events").string(); }

std::vector<Event> events_in(const std::string& path) {
  return EventLog(path).snapshot().events;  // by user and item
}

TEST(EventLog, HasWhatWasAddedWhenItIsOpenedAgain) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  {
    EventLog log(path);
    EXPECT_TRUE(log.snapshot().events.empty());
    EXPECT_EQ(log.add({{"b", "y"}, {"a", "x"}, {"b", "y"}}), 2U);
    EXPECT_EQ(log.add({{"a", "x"}, {"a", std::string("\0\xff\n", 3)}}), 1U);
    EXPECT_EQ(log.index().items_of("a"),
              (std::vector<std::string>{std::string("\0\xff\n", 3), "x"}));
    EXPECT_TRUE(log.index().items_of("nobody").empty());
    EXPECT_EQ(log.status().events, 3U);
    EXPECT_EQ(log.status().log_bytes, read_file(path).size());
  }
  const EventLog again(path);
  EXPECT_EQ(again.cut_bytes(), 0U);
  EXPECT_EQ(again.snapshot().events,
            (std::vector<Event>{{"a", std::string("\0\xff\n", 3)}, {"a", "x"}, {"b", "y"}}));
}

TEST(EventLog, KnownEventsTakeNoRoom) {
  const TempFolder folder;
  EventLog log(log_in(folder));
  log.add({{"a", "x"}});
  const std::uint64_t bytes = log.status().log_bytes;
  EXPECT_EQ(log.add({{"a", "x"}}), 0U);
  EXPECT_EQ(log.status().log_bytes, bytes);
}

// Wherever a crash cuts the file, whole records before are kept and later ones can be added.
TEST(EventLog, CutsOffWhatWasNotWrittenToItsEnd) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  std::vector<std::size_t> ends;
  {
    EventLog log(path);
    ends.push_back(log.status().log_bytes);
    for (const char* const user : {"first", "second", "third"}) {
      log.add({{user, "x"}, {user, "y"}});
      ends.push_back(log.status().log_bytes);
    }
  }
  const std::string whole = read_file(path);
  ASSERT_EQ(whole.size(), ends.back());
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    folder.write("m.bet.events", whole.substr(0, size));
    const auto records = static_cast<std::size_t>(
        std::count_if(ends.begin() + 1, ends.end(), [&](std::size_t end) { return end <= size; }));
    {
      EventLog log(path);
      EXPECT_EQ(log.snapshot().events.size(), 2 * records) << size;
      const std::size_t good = size < ends[0] ? 0 : ends[records];
      EXPECT_EQ(log.cut_bytes(), size - good) << size;
      EXPECT_EQ(log.add({{"later", "z"}}), 1U);
    }
    EXPECT_EQ(events_in(path).size(), 2 * records + 1) << size;
  }
}

// After a loss of power the last pages may have anything in them.
TEST(EventLog, CutsOffALastRecordOfOtherBytes) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  { EventLog(path).add({{"a", "x"}}); }
  const std::string good = read_file(path);
  { EventLog(path).add({{"b", "y"}, {"c", "z"}}); }
  const std::string whole = read_file(path);
  for (std::size_t at = good.size(); at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    folder.write("m.bet.events", bytes);
    EXPECT_EQ(events_in(path), (std::vector<Event>{{"a", "x"}})) << at;
  }
  folder.write("m.bet.events", good + std::string(5000, '\0'));
  EXPECT_EQ(events_in(path), (std::vector<Event>{{"a", "x"}}));
}

TEST(EventLog, RefusesToLoseWhatWasAcknowledged) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  std::size_t first_end = 0;
  {
    EventLog log(path);
    log.add({{"a", "x"}});
    first_end = log.status().log_bytes;
    log.add({{"b", "y"}});
  }
  const std::string whole = read_file(path);
  for (std::size_t at = 16; at < first_end; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x01);
    folder.write("m.bet.events", bytes);
    EXPECT_NE(error_of([&] {
                EventLog log(path);
              }).find(path + ": damaged: the record at byte 16 has a wrong checksum"),
              std::string::npos)
        << at;
    EXPECT_EQ(read_file(path), bytes) << "it is left as it is";
  }
}

TEST(EventLog, RefusesOtherFilesAndASecondProcess) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  folder.write("m.bet.events", "not a log of events");
  EXPECT_NE(error_of([&] { EventLog log(path); }).find("is not a log of events"),
            std::string::npos);
  const std::string other = (folder / "other").string();
  const EventLog open(other);
  EXPECT_NE(error_of([&] { EventLog log(other); }).find(other + ": is in use by process "),
            std::string::npos);
}

TEST(EventLog, BeginsAnewWithoutWhatTheModelFileHas) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  {
    EventLog log(path);
    log.add({{"a", "x"}, {"b", "y"}});
    const EventLog::Snapshot snapshot = log.snapshot();
    log.add({{"c", "z"}});
    const std::uint64_t before = log.status().log_bytes;
    log.restart(snapshot.last);
    EXPECT_LT(log.status().log_bytes, before);
    EXPECT_EQ(log.snapshot().events, (std::vector<Event>{{"c", "z"}}));
    EXPECT_EQ(log.index().items_of("a").size(), 1U) << "until nobody needs it";
    log.forget(snapshot.last);
    EXPECT_TRUE(log.index().items_of("a").empty());
    EXPECT_EQ(log.index().items_of("c").size(), 1U);
    EXPECT_EQ(log.add({{"d", "w"}}), 1U);
    EXPECT_EQ(log.status().compactions, 1U);
  }
  EXPECT_EQ(events_in(path), (std::vector<Event>{{"c", "z"}, {"d", "w"}}));
}

TEST(EventLog, WaitingEventsAreThoseThatAreNotServed) {
  const TempFolder folder;
  EventLog log(log_in(folder));
  log.add({{"a", "x"}, {"b", "y"}});
  EXPECT_EQ(log.status().waiting, 2U);
  log.set_served(1);
  EXPECT_EQ(log.status().waiting, 1U);
  log.set_served(2);
  EXPECT_EQ(log.status().waiting, 0U);
}

TEST(EventLog, RefusesEventsForAReason) {
  const TempFolder folder;
  EventLog log(log_in(folder));
  log.refuse("full");
  try {
    log.add({{"a", "x"}});
    ADD_FAILURE() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBudget);
    EXPECT_STREQ(error.what(), "full");
  }
  log.refuse("");
  EXPECT_EQ(log.add({{"a", "x"}}), 1U);
}

TEST(EventLog, TakesEventsOfManyThreadsWhileItBeginsAnew) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  constexpr int kThreads = 8;
  constexpr int kEach = 40;
  std::set<std::string> in_model;
  {
    EventLog log(path);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&log, thread] {
        for (int i = 0; i < kEach; ++i) {
          log.add({{std::to_string(thread), std::to_string(i)}});
        }
      });
    }
    for (int i = 0; i < 10; ++i) {
      const EventLog::Snapshot snapshot = log.snapshot();
      for (const Event& event : snapshot.events) in_model.insert(event.user + " " + event.item);
      log.restart(snapshot.last);
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const Event& event : events_in(path)) in_model.insert(event.user + " " + event.item);
  EXPECT_EQ(in_model.size(), std::size_t{kThreads * kEach}) << "each is in the model or in the log";
}

// A file that may not grow, as on a full disk: nothing is acknowledged, and nothing half written
// stays.
TEST(EventLog, SaysSoWhenItCannotWriteAndGoesOnAfterwards) {
  const TempFolder folder;
  const std::string path = log_in(folder);
  {
    EventLog log(path);
    log.add({{"a", "x"}});
    struct ::rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    struct ::rlimit small = before;
    small.rlim_cur = log.status().log_bytes + 30;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string error = error_of([&] { log.add({{"b", std::string(100, 'y')}}); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_NE(error.find(path + ": cannot write"), std::string::npos) << error;
    EXPECT_TRUE(log.index().items_of("b").empty());
    EXPECT_EQ(log.add({{"c", "z"}}), 1U);
  }
  const EventLog again(path);
  EXPECT_EQ(again.cut_bytes(), 0U);
  EXPECT_EQ(again.snapshot().events, (std::vector<Event>{{"a", "x"}, {"c", "z"}}));
}

}  // namespace
}  // namespace bet
