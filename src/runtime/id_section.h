#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/bytes.h"
#include "runtime/number_ids.h"

namespace bet {

// How the ids of a side are stored; docs/format.md has both forms.
enum class IdForm : std::uint8_t { kTexts = 0, kNumbers = 1 };
constexpr std::array<std::string_view, 2> kIdFormNames = {"texts", "numbers"};
constexpr std::string_view id_form_name(IdForm form) {
  return kIdFormNames[static_cast<std::size_t>(form)];
}

// The external ids of one side: from row to id and back. A view: the bytes must outlive it.
class IdSection {
 public:
  IdSection() = default;
  // Throws unless every rule of docs/format.md holds. `what` names the section.
  IdSection(Bytes bytes, std::uint32_t num_rows, IdForm form, std::string_view what);
  IdSection(IdSection&&) noexcept = default;
  IdSection& operator=(IdSection&&) noexcept = default;

  std::uint32_t size() const { return num_rows_; }
  // Lives as long as the section and the bytes.
  std::string_view name(std::uint32_t row) const;
  std::optional<std::uint32_t> find(std::string_view id) const;

  // Memory in addition to the section's bytes.
  std::uint64_t opened_bytes() const { return numbers_.texts.size() + numbers_.order.size(); }

 private:
  void read_texts(Bytes bytes, std::string_view what);
  // The row whose id is the rank-th in ascending order: of texts, or of numbers.
  std::uint32_t row_of_rank(std::uint32_t rank) const;
  bool is_before(std::string_view a, std::string_view b) const;

  std::uint32_t num_rows_ = 0;
  unsigned bits_ = 1;
  IdForm form_ = IdForm::kTexts;
  Bytes packed_;
  const std::byte* begins_ = nullptr;  // u32 each; texts only
  const std::byte* texts_ = nullptr;   // texts only
  NumberIds numbers_;                  // numbers only
};

struct EncodedIds {
  IdForm form = IdForm::kTexts;
  std::string bytes;
};

// Takes the ids by row and the smaller form. Throws on equal ids and on ids that are too long.
EncodedIds encode_ids(std::span<const std::string> ids);

// The most bytes that encode_ids() needs for these ids in any order of rows, which depends on sizes
// and so is not known before a plan is.
std::uint64_t most_id_bytes(std::span<const std::string> ids);

}  // namespace bet
