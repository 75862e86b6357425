#pragma once

#include <span>
#include <utility>
#include <vector>

#include "data/split.h"
#include "train/metrics.h"
#include "train/user_hits.h"

namespace bet {

// The quality of a ranking by user.
struct UserQuality {
  std::vector<UserId> users;      // with held-out items, ascending
  std::vector<UserHits> hits;     // of each of them,
  std::vector<Metrics> measures;  // and what they come to by themselves

  UserQuality(std::span<const UserId> of_users, std::vector<UserHits> of_hits)
      : users(of_users.begin(), of_users.end()), hits(std::move(of_hits)) {
    measures.reserve(hits.size());
    for (const UserHits& user : hits) measures.push_back(user_metrics(user.hits, user.held_out));
  }
};

}  // namespace bet
