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

struct UpdatedModel {
  std::string file;  // the bytes of the new file
  std::uint32_t new_users = 0;
  std::uint32_t new_items = 0;
  std::uint64_t new_interactions = 0;
  std::uint64_t known_interactions = 0;  // given, but in the file already or given before
  std::uint64_t table_bytes = 0;         // of the rows as stored: as many as before
};

// A model file by graph (lightgcn, ngcf) with these interactions added. Users and items that the
// file does not have are added with empty rows: their vectors come from their neighbours alone. All
// other rows stay as they are to the bit, so that the table takes as many bytes as before; ids,
// interactions, norms and checksums are made anew. Facts about quality (test.*, test_fp32.*,
// validation.*) are left out, because they were measured with another graph; updated.users, .items
// and .interactions count what was added since the training. The result does not depend on the
// order of the interactions. Takes as long as one request for each column of the vectors.
//
// Throws Error (kBadInput) on a file that is damaged or not by graph: the rows of other files do
// not depend on neighbours, so somebody new would have none.
BET_API UpdatedModel update_model(std::span<const std::byte> file,
                                  std::span<const NewInteraction> interactions);

// The same for a file, which stays as it is. Errors name it.
BET_API UpdatedModel update_model_file(const std::string& path,
                                       std::span<const NewInteraction> interactions);

}  // namespace bet

#endif
