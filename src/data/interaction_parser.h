#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/id_table.h"
#include "data/interaction_log.h"
#include "data/line_blocks.h"
#include "data/table_format.h"

namespace bet {

// Where parsed interactions go, and which are left out.
struct InteractionSink {
  IdBuilder& users;
  IdBuilder& items;
  InteractionLog& log;
  std::optional<double> min_rating;  // lines rated below are skipped and counted
  std::optional<double> since;       // lines of an earlier time are skipped and counted
  bool with_times = false;           // the time column is read; it must hold numbers or dates
  bool in_test = false;              // the file that is read now is the test part
  std::uint64_t below_min_rating = 0;
  std::uint64_t before_since = 0;
};

// Ids longer than this are refused.
constexpr std::size_t kMaxIdBytes = 4096;

// Reads `block`, which lines.next() returned, and all blocks after it. Ids and pairs go to the sink
// in file order. Throws an Error that names file, line and value.
void parse_interactions(LineBlocks& lines, std::string_view block, const TableFormat& format,
                        InteractionSink& sink);

}  // namespace bet
