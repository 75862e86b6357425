#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/rank_group.h"
#include "model/model_parameters.h"
#include "train/checkpoint.h"

namespace bet {

// Checkpoints of a training by ranks that have the columns of one table (plan/column_slice.h): in
// memory each rank has the tensors of its columns, in the file they are those of one process, so
// that any number of ranks can continue. Rank 0 reads and writes, some rows at a time. All calls
// are collective, and throw on every rank if rank 0 cannot read or write.

// Every tensor is a table of `width` columns in all, in parts of this plan. Numbers and texts are
// those of rank 0.
void write_joined_checkpoint(const Checkpoint& own, std::uint32_t width, RankGroup& ranks,
                             const std::filesystem::path& path);

// None if rank 0 finds no such file.
std::optional<Checkpoint> read_joined_checkpoint(std::uint32_t width, RankGroup& ranks,
                                                 const std::filesystem::path& path);

// The whole table of a plan, on rank 0, which needs the memory for it; without values on others.
ModelParameters joined_parameters(const ModelParameters& own, const SizePlan& plan,
                                  RankGroup& ranks);

}  // namespace bet
