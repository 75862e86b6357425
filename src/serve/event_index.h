#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bet {

// A user interacted with an item.
struct Event {
  std::string user, item;

  bool operator==(const Event&) const = default;
};

// The events that a model may not have yet, by user, each with the number under which it was
// accepted (1, 2, ..). Any thread may call anything.
class EventIndex {
 public:
  // Numbers the events; those that are there already keep their number.
  void add(const std::vector<Event>& events);
  bool has(const Event& event) const;
  // The items of a user, in the order of their ids.
  std::vector<std::string> items_of(std::string_view user) const;

  std::uint64_t last() const;  // the highest number so far, 0 if none
  // Those with a number above `after`, by user.
  std::vector<Event> later_than(std::uint64_t after) const;
  // Drops those with a number of at most `through`.
  void forget(std::uint64_t through);

 private:
  using Items = std::map<std::string, std::uint64_t, std::less<>>;

  mutable std::mutex mutex_;
  std::map<std::string, Items, std::less<>> items_;
  std::uint64_t last_ = 0;
};

}  // namespace bet
