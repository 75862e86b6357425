#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bet/model.h"
#include "bet/update.h"
#include "runtime/facts.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/mapped_file.h"
#include "runtime/model_file.h"
#include "runtime/norm_section.h"

namespace bet {
namespace {

// The ids of a side by row: those of the file, then the new ones by ascending text.
class SideIds {
 public:
  SideIds(const IdSection& known, std::uint32_t num_known, std::string_view what)
      : known_(known), num_known_(num_known), what_(what) {}

  void add(std::string_view id) {
    if (!known_.find(id)) rows_.emplace(id, 0);
  }
  // After all have been added.
  void number() {
    BET_CHECK(rows_.size() <= 0xffffffffU - num_known_, "more than 2^32 - 1 ", what_);
    std::uint32_t next = num_known_;
    for (auto& [id, row] : rows_) row = next++;
  }
  std::uint32_t row(std::string_view id) const {
    const std::optional<std::uint32_t> row = known_.find(id);
    return row ? *row : rows_.at(id);
  }
  std::uint32_t num_new() const { return static_cast<std::uint32_t>(rows_.size()); }
  EncodedIds encode() const {
    std::vector<std::string> ids;
    for (std::uint32_t row = 0; row < num_known_; ++row) ids.emplace_back(known_.name(row));
    for (const auto& [id, row] : rows_) ids.emplace_back(id);
    return encode_ids(ids);
  }

 private:
  const IdSection& known_;
  std::uint32_t num_known_;
  std::string_view what_;
  std::map<std::string_view, std::uint32_t> rows_;
};

// The section with so many more rows of size 0, which come last and of which nothing is stored but
// their number, the first one of the section.
std::string with_empty_rows(Bytes section, std::uint32_t more) {
  std::string bytes(reinterpret_cast<const char*>(section.data()), section.size());
  const std::uint32_t empty = load<std::uint32_t>(section.data()) + more;
  std::string number;
  append(number, empty);
  return bytes.replace(0, number.size(), number);
}

std::vector<float> norms_of(const Model& model) {
  const std::vector<float> vectors = model.item_vectors();
  const std::size_t size = model.dimension();
  std::vector<float> norms(model.num_items());
  for (std::size_t item = 0; item < norms.size(); ++item) {
    double squares = 0;
    for (std::size_t j = 0; j < size; ++j) squares += std::pow(double{vectors[item * size + j]}, 2);
    norms[item] = static_cast<float>(std::sqrt(squares));
  }
  return norms;
}

Facts updated_facts(const Facts& before, const UpdatedModel& result) {
  std::map<std::string, std::int64_t> counts = {{"updated.users", result.new_users},
                                                {"updated.items", result.new_items},
                                                {"updated.interactions", result.new_interactions}};
  Facts facts;
  for (const auto& [name, fact] : before) {
    const auto counted = counts.find(name);
    if (counted != counts.end()) {
      const auto* const earlier = std::get_if<std::int64_t>(&fact);
      BET_CHECK(earlier != nullptr && *earlier >= 0 && *earlier <= std::int64_t{1} << 62U,
                "the fact ", in_quotes(name), " is not a number of additions");
      counted->second += *earlier;
      continue;
    }
    const bool is_quality = name.starts_with("test.") || name.starts_with("test_fp32.") ||
                            name.starts_with("validation.");
    if (!is_quality) facts.emplace_back(name, fact);
  }
  for (const auto& [name, count] : counts) facts.emplace_back(name, count);
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return facts;
}

}  // namespace

UpdatedModel update_model(std::span<const std::byte> file,
                          std::span<const NewInteraction> interactions) {
  { Model::from_bytes(file); }  // refuses what is damaged
  const FileParts parts = read_parts(file, false);
  FileHeader header = parts.header;
  BET_CHECK(header.serving == Serving::kGraph, "only files by graph can be updated: this one of ",
            header.traits().name, " is ", kServingNames[static_cast<std::size_t>(header.serving)]);
  const IdSection known_users(parts.section(SectionKind::kUserIds), header.num_users,
                              header.user_ids, "user ids");
  const IdSection known_items(parts.section(SectionKind::kItemIds), header.num_items,
                              header.item_ids, "item ids");
  SideIds users(known_users, header.num_users, "users");
  SideIds items(known_items, header.num_items, "items");
  for (const auto& [user, item] : interactions) {
    users.add(user);
    items.add(item);
  }
  users.number();
  items.number();

  UpdatedModel result;
  result.new_users = users.num_new();
  result.new_items = items.num_new();
  std::vector<std::vector<std::uint32_t>> lists;
  const InteractionSection before(parts.section(SectionKind::kInteractions), header.num_users,
                                  header.num_items);
  before.for_each([&](std::uint32_t, std::span<const std::uint32_t> list) {
    lists.emplace_back(list.begin(), list.end());
  });
  header.num_users += result.new_users;
  header.num_items += result.new_items;
  lists.resize(header.num_users);
  for (const auto& [user, item] : interactions) {
    lists[users.row(user)].push_back(items.row(item));
  }
  std::uint64_t after = 0;
  for (std::vector<std::uint32_t>& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    after += list.size();
  }
  result.new_interactions = after - before.num_interactions();
  result.known_interactions = interactions.size() - result.new_interactions;

  const EncodedIds user_ids = users.encode();
  const EncodedIds item_ids = items.encode();
  header.user_ids = user_ids.form;
  header.item_ids = item_ids.form;
  const auto assemble = [&](const std::vector<float>& norms) {
    std::vector<std::pair<SectionKind, std::string>> sections = {
        {SectionKind::kFacts,
         encode_facts(updated_facts(decode_facts(parts.section(SectionKind::kFacts)), result))},
        {SectionKind::kUserIds, user_ids.bytes},
        {SectionKind::kItemIds, item_ids.bytes},
        {SectionKind::kUserRows,
         with_empty_rows(parts.section(SectionKind::kUserRows), result.new_users)},
        {SectionKind::kItemRows,
         with_empty_rows(parts.section(SectionKind::kItemRows), result.new_items)},
        {SectionKind::kItemNorms, encode_norms(norms, header.score)},
        {SectionKind::kInteractions, encode_interactions(lists)}};
    if (parts.has(SectionKind::kWeights)) {
      const Bytes weights = parts.section(SectionKind::kWeights);
      sections.emplace_back(
          SectionKind::kWeights,
          std::string(reinterpret_cast<const char*>(weights.data()), weights.size()));
    }
    return assemble_file(header, sections);
  };
  // The vectors, and so their lengths, are those of the file without lengths.
  result.file = assemble(std::vector<float>(header.num_items));
  const std::vector<float> norms =
      norms_of(Model::from_bytes(std::as_bytes(std::span(result.file)), Verify::kStructure));
  result.file = assemble(norms);
  for (const SectionKind rows : {SectionKind::kUserRows, SectionKind::kItemRows}) {
    result.table_bytes += parts.section(rows).size();
  }
  return result;
}

UpdatedModel update_model_file(const std::string& path,
                               std::span<const NewInteraction> interactions) {
  const MappedFile file(path);
  try {
    return update_model(file.bytes(), interactions);
  } catch (const Error& error) {
    fail_as(error.kind(), path, ": ", error.what());
  }
}

}  // namespace bet
