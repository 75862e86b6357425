#include "serve/event_index.h"

namespace bet {

void EventIndex::add(const std::vector<Event>& events) {
  const std::lock_guard lock(mutex_);
  for (const Event& event : events) {
    if (items_[event.user].emplace(event.item, last_ + 1).second) ++last_;
  }
}

bool EventIndex::has(const Event& event) const {
  const std::lock_guard lock(mutex_);
  const auto found = items_.find(event.user);
  return found != items_.end() && found->second.contains(event.item);
}

std::vector<std::string> EventIndex::items_of(std::string_view user) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> items;
  const auto found = items_.find(user);
  if (found == items_.end()) return items;
  for (const auto& [item, number] : found->second) items.push_back(item);
  return items;
}

std::uint64_t EventIndex::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::vector<Event> EventIndex::later_than(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> events;
  for (const auto& [user, items] : items_) {
    for (const auto& [item, number] : items) {
      if (number > after) events.push_back({user, item});
    }
  }
  return events;
}

void EventIndex::forget(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  for (auto user = items_.begin(); user != items_.end();) {
    std::erase_if(user->second, [&](const auto& item) { return item.second <= through; });
    user = user->second.empty() ? items_.erase(user) : std::next(user);
  }
}

}  // namespace bet
