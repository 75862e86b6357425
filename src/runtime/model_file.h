#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/backbone_traits.h"
#include "base/precision.h"
#include "base/score_kind.h"
#include "runtime/bytes.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/row_section.h"

namespace bet {

// Header and directory of docs/format.md: what the sections are and where.

enum class Serving : std::uint8_t { kVectors = 0, kGraph = 1 };

constexpr std::array<std::string_view, 2> kServingNames = {"materialised", "graph"};
constexpr std::array<std::string_view, 2> kLayoutNames = {"prefix", "masked"};

enum class SectionKind : std::uint32_t {
  kFacts = 1,
  kUserIds = 2,
  kItemIds = 3,
  kUserRows = 4,
  kItemRows = 5,
  kItemNorms = 6,
  kInteractions = 7,
  kWeights = 8,
};
constexpr std::uint32_t kLastKind = 8;
std::string_view section_name(SectionKind kind);

// Of the dense weights of a file whose user and item rows have these.
constexpr Precision weight_precision(Precision users, Precision items) {
  const bool all_full = users == Precision::kFloat32 && items == Precision::kFloat32;
  return all_full ? Precision::kFloat32 : Precision::kFloat16;
}

struct FileHeader {
  std::uint32_t num_users = 0;
  std::uint32_t num_items = 0;
  std::uint32_t max_dim = 0;
  BackboneId backbone = BackboneId::kMf;
  Serving serving = Serving::kVectors;
  Precision precision = Precision::kFloat32;  // of the user rows
  Precision item_precision = Precision::kFloat32;
  RowLayout layout = RowLayout::kPrefix;
  std::uint8_t layers = 0;
  ScoreKind score = ScoreKind::kDot;
  IdForm user_ids = IdForm::kTexts;
  IdForm item_ids = IdForm::kTexts;
  ListForm lists = ListForm::kBytes;  // of the interactions

  const BackboneTraits& traits() const { return backbone_traits(backbone); }
  // The largest size that a row may have.
  std::uint32_t most_columns() const;
  // Values that a row has for each column.
  std::uint32_t values_per_column() const { return traits().tables; }
  // Whether the file has a section of dense weights: where its rows are not the final vectors.
  bool has_weights() const;
  Precision weight_precision() const { return bet::weight_precision(precision, item_precision); }
  // The version of docs/format.md that a file with this header has.
  std::uint32_t version() const;
  RowForm user_form() const { return form_of(precision); }
  RowForm item_form() const { return form_of(item_precision); }

 private:
  RowForm form_of(Precision side) const {
    return {most_columns(), values_per_column(), side, layout};
  }
};

struct FileSection {
  SectionKind kind = SectionKind::kFacts;
  Bytes bytes;
};

struct FileParts {
  FileHeader header;
  std::vector<FileSection> sections;
  std::uint64_t padding = 0;  // bytes between sections

  // Empty where the file does not have it; only `interactions` and `weights` may be missing.
  Bytes section(SectionKind kind) const;
  bool has(SectionKind kind) const;
  static std::uint64_t header_bytes() { return 64; }
  std::uint64_t directory_bytes() const { return 32 * sections.size(); }
};

// Checks magic, version and size of a file by its first header_bytes(), or all of its bytes if it
// has fewer. Throws Error.
void check_first_bytes(Bytes first, std::uint64_t file_bytes);

// Checks everything but the contents of sections, and with `checksums` all checksums.
FileParts read_parts(Bytes file, bool checksums);

// The whole file.
std::string assemble_file(const FileHeader& header,
                          const std::vector<std::pair<SectionKind, std::string>>& sections);

}  // namespace bet
