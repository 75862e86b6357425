#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rank_group.h"
#include "ranks/place_in_world.h"

namespace bet {

// The ranks of a run, joined by a store of keys and values (c10d's TCPStore) that rank 0 hosts.
// A thread of each tells the others once a second that it is alive, and notes who is. Nothing waits
// without end: a rank that is not heard of for the timeout is lost, and waits for it are over.
//
// Calls are made by one thread. Other ranks than 0 have nothing on disk: where rank 0 gave up or no
// longer answers they end at once, in whatever they are doing, with a message on stderr and exit
// code 1.
class World {
 public:
  // Waits for all ranks. Throws, naming them, if some do not come within the timeout, if rank 0
  // cannot be reached, or if its port is taken.
  World(PlaceInWorld place, std::chrono::milliseconds timeout);
  // Tells the others that this rank is done. Rank 0 waits until they are, or are lost.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const PlaceInWorld& place() const { return place_; }
  std::uint32_t rank() const { return place_.rank; }
  std::uint32_t size() const { return place_.size; }

  // Compares lines that must be the same on all ranks; throws on all of them, naming the rank and
  // the lines, where they are not.
  void agree(const std::string& lines);

  // The ranks as a group that trains one model together (ranks/gloo_ranks.h), whose calls have the
  // timeout of the world; called by all ranks, at most once. Throws in builds without Gloo.
  std::unique_ptr<RankGroup> join_group() const;

  // Values that ranks leave for each other; each key is set once.
  void set(const std::string& key, const std::string& value);
  bool has(const std::string& key);
  // Waits for a value that `rank` will set. Throws if that rank is lost before.
  std::string wait_for(const std::string& key, std::uint32_t rank);
  // Sets the key to `value` if it is `expected` now, where empty is not set; returns what it is
  // after that.
  std::string exchange(const std::string& key, const std::string& expected,
                       const std::string& value);

  // Whether a rank was not heard of for the timeout, or left. One that was only slow may come back.
  bool is_lost(std::uint32_t rank) const;
  // Sentences about ranks that were lost since the last call.
  std::vector<std::string> losses();
  // The same once there are some, or a rank's time to tell why it gave up is over. For a rank that
  // does not get an answer from others.
  std::vector<std::string> wait_for_losses();

  // Asks all ranks to end their common work, as rank 0 does when it is done.
  void ask_to_stop();
  bool asked_to_stop() const;

  // Tells the others why this rank cannot continue, instead of being done; then it leaves. Does not
  // throw.
  void give_up(const std::string& reason);

 private:
  class Pulse;
  struct Connection;

  template <typename Call>
  auto answer(const Call& call) const;  // of the store; throws an Error where it does not answer
  void wait_for_all();
  void leave();
  std::string meeting_place() const;

  PlaceInWorld place_;
  std::chrono::milliseconds timeout_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Pulse> pulse_;
  std::vector<bool> told_lost_;  // by rank
};

}  // namespace bet
