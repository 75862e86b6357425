#ifndef BET_UPDATE_H
#define BET_UPDATE_H

// New users, items and interactions for a model file, without training.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bet/error.h"
#include "bet/export.h"

namespace bet {

struct NewInteraction {
  std::string_view user, item;
};

struct UpdateOptions {
  // The interactions of the file are dropped: those given take their place. Users, items and their
  // rows stay, also those without an interaction that is left.
  bool replace = false;
};

struct UpdatedModel {
  std::string file;  // the bytes of the new file
  std::uint32_t new_users = 0;
  std::uint32_t new_items = 0;
  std::uint64_t new_interactions = 0;
  std::uint64_t known_interactions = 0;    // given, but in the file already or given before
  std::uint64_t dropped_interactions = 0;  // of the file, by `replace`
  std::uint64_t table_bytes = 0;           // of the rows as stored
  std::uint64_t table_bytes_before = 0;
};

// A model file with these interactions added, without training. All rows of the file stay as they
// are to the bit; ids, interactions, norms and checksums are made anew.
//
// By graph (lightgcn, ngcf): users and items that the file does not have get empty rows, which take
// no bytes, and their vectors come from their neighbours alone; all vectors follow the new graph.
// The result does not depend on the order of the interactions. Takes as long as one request for
// each column of the vectors.
//
// Other files (mf, ncf, materialised): a new user gets the mean of the rows of its items, a new
// item that of its users (runtime/mean_rows.h; ncf: of the users of its items, of the items of its
// users), stored in the file's precision. Of users and items that the file has, the items that are
// seen change and nothing else. A file without interactions gets none: only new rows.
//
// Facts about quality (test.*, test_fp32.*, validation.*) are left out, because they were measured
// with another graph; updated.users, .items, .interactions and .dropped count what was added and
// dropped since the training. Whether a budget is still kept is for the caller to see.
//
// Throws Error (kBadInput) on a file that is damaged.
BET_API UpdatedModel update_model(std::span<const std::byte> file,
                                  std::span<const NewInteraction> interactions,
                                  const UpdateOptions& options = {});

// The same for a file, which stays as it is. Errors name it.
BET_API UpdatedModel update_model_file(const std::string& path,
                                       std::span<const NewInteraction> interactions,
                                       const UpdateOptions& options = {});

}  // namespace bet

#endif
