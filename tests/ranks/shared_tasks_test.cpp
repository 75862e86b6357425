#include "ranks/shared_tasks.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "base/error.h"
#include "support/expect_error.h"
#include "support/in_world.h"

namespace bet {
namespace {

using namespace std::chrono_literals;
using test::bind_any_port;
using test::error_of;
using test::free_port;
using test::in_world;
using test::place_of;

TEST(SharedTasks, AreDoneOnceAndHeardOfByAllInOrder) {
  constexpr std::size_t kTasks = 20;
  std::mutex mutex;
  std::multiset<std::size_t> done;
  std::set<std::uint32_t> workers;
  std::vector<std::vector<double>> heard(3);
  in_world(3, [&](World& world) {
    SharedTasks tasks(&world);
    for (int batch = 0; batch < 2; ++batch) {
      EXPECT_TRUE(tasks.run(
          {.count = kTasks,
           .work =
               [&](std::size_t task) {
                 std::this_thread::sleep_for(5ms);
                 const std::scoped_lock lock(mutex);
                 done.insert(task);
                 workers.insert(world.rank());
                 return std::vector<double>{static_cast<double>(task) / 3, 1};
               },
           .done =
               [&](std::size_t task, const std::vector<double>& result) {
                 EXPECT_EQ(result, (std::vector<double>{static_cast<double>(task) / 3, 1}));
                 heard[world.rank()].push_back(static_cast<double>(task));
               },
           .stop = {}}));
    }
  });
  EXPECT_EQ(workers.size(), 3U);
  EXPECT_EQ(done.size(), 2 * kTasks);
  std::vector<double> expected(2 * kTasks);
  std::iota(expected.begin(), expected.begin() + kTasks, 0);
  std::iota(expected.begin() + kTasks, expected.end(), 0);
  for (const std::vector<double>& one : heard) EXPECT_EQ(one, expected);
}

// Otherwise one rank does the longest at last, and the others wait for it.
TEST(SharedTasks, OfDifferentCostsAreTakenDearestFirst) {
  std::vector<std::size_t> taken;
  std::vector<std::size_t> heard;
  std::vector<std::size_t> done;
  in_world(1, [&](World& world) {
    SharedTasks tasks(&world);
    EXPECT_TRUE(tasks.run(
        {.count = 4,
         .costs = {2, 5, 5, 9},
         .work =
             [&](std::size_t task) {
               taken.push_back(task);
               return SharedTasks::Result{1};
             },
         .heard = [&](std::size_t task, const SharedTasks::Result&) { heard.push_back(task); },
         .done = [&](std::size_t task, const SharedTasks::Result&) { done.push_back(task); },
         .stop = {}}));
  });
  EXPECT_EQ(taken, (std::vector<std::size_t>{3, 1, 2, 0}));
  EXPECT_EQ(heard, taken) << "each is safe as soon as it is made";
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2, 3})) << "results have the order of tasks";
}

TEST(SharedTasks, EndEverywhereWhenOneRankIsStopped) {
  in_world(2, [&](World& world) {
    SharedTasks tasks(&world);
    std::size_t heard = 0;
    const bool complete =
        tasks.run({.count = 1000,
                   .work =
                       [&](std::size_t task) {
                         std::this_thread::sleep_for(1ms);
                         const bool stopped = world.rank() == 0 && task >= 10;
                         return stopped ? std::vector<double>() : std::vector<double>{1};
                       },
                   .done = [&](std::size_t, const std::vector<double>&) { ++heard; },
                   .stop = {}});
    EXPECT_FALSE(complete);
    EXPECT_GE(heard, 5U);
    EXPECT_LT(heard, 1000U);
  });
}

TEST(SharedTasks, OfARankThatGaveUpAreDoneByOthers) {
  std::vector<std::string> messages;
  std::size_t heard = 0;
  in_world(
      2,
      [&](World& world) {
        SharedTasks tasks(&world, [&](const std::string& text) { messages.push_back(text); });
        const auto work = [&](std::size_t task) {
          if (world.rank() == 1) fail("no memory");
          // The other has one as well.
          std::this_thread::sleep_for(100ms);
          return std::vector<double>{static_cast<double>(task)};
        };
        const auto done = [&](std::size_t, const std::vector<double>&) { ++heard; };
        try {
          EXPECT_TRUE(tasks.run({.count = 4, .work = work, .done = done, .stop = {}}));
        } catch (const Error& error) {
          world.give_up(error.what());
        }
      },
      5s);  // long enough to be heard of, also on a busy machine
  EXPECT_EQ(heard, 4U);
  EXPECT_EQ(messages, std::vector<std::string>{
                          "rank 1 gave up: no memory; other ranks do what it was doing"});
}

TEST(SharedTasks, AreDoneByOneProcessAlone) {
  SharedTasks tasks(nullptr);
  std::vector<std::size_t> heard;
  const auto work = [](std::size_t task) {
    return task < 2 ? std::vector<double>{1} : std::vector<double>();
  };
  const auto done = [&](std::size_t task, const std::vector<double>&) { heard.push_back(task); };
  EXPECT_TRUE(tasks.run({.count = 2, .work = work, .done = done, .stop = {}}));
  EXPECT_FALSE(tasks.run({.count = 3, .work = work, .done = done, .stop = {}}));
  EXPECT_EQ(heard, (std::vector<std::size_t>{0, 1, 0, 1}));
}

TEST(World, GivesAllWhatTheFirstRankHas) {
  in_world(3, [&](World& world) {
    SharedTasks tasks(&world);
    const double own = world.rank();
    EXPECT_EQ(tasks.from_first_rank({own, 7}), (std::vector<double>{0, 7}));
    EXPECT_EQ(tasks.from_first_rank({}), std::vector<double>());
  });
}

TEST(World, NamesTheLineThatRanksDoNotAgreeOn) {
  std::vector<std::string> errors(3);
  in_world(3, [&](World& world) {
    const std::string budget = world.rank() == 2 ? "10%" : "5%";
    errors[world.rank()] =
        error_of([&] { world.agree("version = 1\nbudget = " + budget + "\nseed = 1"); });
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error,
              "the ranks of a run need the same data, options and version: rank 2 has 'budget = "
              "10%' where rank 0 has 'budget = 5%'");
  }
}

TEST(World, NamesRanksThatDoNotCome) {
  const std::uint16_t port = free_port();
  const std::string where = str_cat("127.0.0.1:", port, " (MASTER_ADDR, MASTER_PORT)");
  EXPECT_EQ(error_of([&] { World world(place_of(0, 3, port), 300ms); }),
            "of 3 ranks these did not come to " + where + " within 0.3 s: 1, 2");
}

TEST(World, RefusesAPortThatIsTaken) {
  const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
  const std::uint16_t port = bind_any_port(handle, INADDR_ANY);
  ASSERT_EQ(::listen(handle, 1), 0);
  EXPECT_TRUE(error_of([&] {
                World world(place_of(0, 2, port), 300ms);
              }).starts_with(str_cat("rank 0 cannot listen at 127.0.0.1:", port)));
  ::close(handle);
}

TEST(World, NamesWhomItCannotReach) {
  const std::uint16_t port = free_port();
  EXPECT_TRUE(error_of([&] {
                World world(place_of(1, 2, port), 1s);
              }).starts_with(str_cat("rank 1 cannot reach rank 0 at 127.0.0.1:", port)));
}

// A rank that is cut off within a message: the store waits for the rest and answers nobody. That
// ends in an error, and in an end.
TEST(World, EndsWhereItsStoreNoLongerAnswers) {
  const std::uint16_t port = free_port();
  std::promise<std::string> error;
  std::future<std::string> ended = error.get_future();
  int handle = -1;
  std::thread([&, port] {
    std::string text;
    {
      World world(place_of(0, 1, port), 1s);
      handle = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in place = {};
      place.sin_family = AF_INET;
      place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      place.sin_port = htons(port);
      EXPECT_EQ(::connect(handle, reinterpret_cast<const sockaddr*>(&place), sizeof(place)), 0);
      const char beginning = 0;
      EXPECT_EQ(::send(handle, &beginning, 1, 0), 1);
      std::this_thread::sleep_for(100ms);
      text = error_of([&] {
        world.set("key", "value");
        world.has("key");
      });
    }
    error.set_value(text);
  }).detach();
  ASSERT_EQ(ended.wait_for(30s), std::future_status::ready);
  EXPECT_NE(ended.get().find("does not answer"), std::string::npos);
  ::close(handle);
}

TEST(World, RefusesTwoProcessesOfOneRank) {
  const std::uint16_t port = free_port();
  std::thread first([&] { World world(place_of(0, 2, port), 5s); });
  {
    World world(place_of(1, 2, port), 5s);
    const std::string error = error_of([&] { World same(place_of(1, 2, port), 1s); });
    EXPECT_TRUE(error.starts_with("two processes are rank 1 of 2")) << error;
  }
  first.join();
}

}  // namespace
}  // namespace bet
