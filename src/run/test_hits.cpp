#include "run/test_hits.h"

#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/option.h"
#include "train/metrics.h"

namespace bet {
namespace {

constexpr const char* kNames = "held_out,hits";

UserHits user_hits_of(const std::string& line) {
  const std::size_t comma = line.find(',');
  BET_CHECK(comma != std::string::npos, "has no comma");
  UserHits user;
  const std::uint64_t held_out = parse_unsigned(line.substr(0, comma));
  BET_CHECK(held_out > 0 && held_out <= 0xffffffffU, held_out, " items");
  user.held_out = static_cast<std::uint32_t>(held_out);
  std::istringstream ranks(line.substr(comma + 1));
  for (std::string text; ranks >> text;) {
    const std::uint64_t rank = parse_unsigned(text);
    BET_CHECK(rank >= 1 && rank <= kCutoffs.back(), "rank ", rank);
    user.hits |= 1U << (rank - 1);
  }
  return user;
}

}  // namespace

void write_test_hits(std::span<const UserHits> users, const std::filesystem::path& path) {
  std::string text = std::string(kNames) + "\n";
  for (const UserHits& user : users) {
    text += std::to_string(user.held_out) + ",";
    bool first = true;
    for (std::uint32_t position = 0; position < kCutoffs.back(); ++position) {
      if ((user.hits >> position & 1) == 0) continue;
      text += (first ? "" : " ") + std::to_string(position + 1);
      first = false;
    }
    text += "\n";
  }
  write_file(path, text);
}

std::vector<UserHits> read_test_hits(const std::filesystem::path& path) {
  std::ifstream in(path);
  BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
  std::string line;
  std::getline(in, line);
  BET_CHECK(line == kNames, path.string(), ": line 1 is not ", in_quotes(kNames));
  std::vector<UserHits> users;
  while (std::getline(in, line)) {
    try {
      users.push_back(user_hits_of(line));
    } catch (const Error& error) {
      fail(path.string(), ": line ", users.size() + 2, ": ", error.what());
    }
  }
  return users;
}

}  // namespace bet
