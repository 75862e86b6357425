#include <algorithm>
#include <cmath>
#include <iterator>
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
#include "runtime/mean_rows.h"
#include "runtime/merged_rows.h"
#include "runtime/model_file.h"
#include "runtime/norm_section.h"

namespace bet {
namespace {

// The ids of a side: those of the file by row, then the new ones by ascending text.
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
  std::uint32_t size() const { return num_known_ + num_new(); }
  // By the rows of the new file.
  EncodedIds encode(const std::vector<std::uint32_t>& row_of) const {
    std::vector<std::string> ids(row_of.size());
    for (std::uint32_t row = 0; row < num_known_; ++row) ids[row_of[row]] = known_.name(row);
    for (const auto& [id, row] : rows_) ids[row_of[row]] = id;
    return encode_ids(ids);
  }

 private:
  const IdSection& known_;
  std::uint32_t num_known_;
  std::string_view what_;
  std::map<std::string_view, std::uint32_t> rows_;
};

float vector_length(std::span<const float> vector) {
  double squares = 0;
  for (const float value : vector) squares += double{value} * double{value};
  return static_cast<float>(std::sqrt(squares));
}

// The lengths of the vectors of all items.
std::vector<float> lengths_of_items(const Model& model) {
  const std::vector<float> vectors = model.item_vectors();
  const std::size_t size = model.dimension();
  std::vector<float> lengths;
  for (std::size_t item = 0; item < model.num_items(); ++item) {
    lengths.push_back(vector_length(std::span(vectors).subspan(item * size, size)));
  }
  return lengths;
}

Facts updated_facts(const Facts& before, const UpdatedModel& result) {
  const auto count_of = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  std::map<std::string, std::int64_t> counts = {
      {"updated.users", count_of(result.new_users)},
      {"updated.items", count_of(result.new_items)},
      {"updated.interactions", count_of(result.new_interactions)},
      {"updated.dropped", count_of(result.dropped_interactions)}};
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
                            name.starts_with("validation.") || name.starts_with("full_validation.");
    if (!is_quality) facts.emplace_back(name, fact);
  }
  for (const auto& [name, count] : counts) facts.emplace_back(name, count);
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return facts;
}

using Lists = std::vector<std::vector<std::uint32_t>>;  // the items of each user, ascending

// One side of the new file.
struct NewSide {
  std::string rows;
  std::vector<std::uint32_t> row_of;  // by the number in SideIds: the row in the new file
};

NewSide with_new_rows(Bytes before, const NewRows& added, const RowForm& form) {
  MergedRows merged = merge_rows(before, std::as_bytes(std::span(added.bytes)), form);
  NewSide side{std::move(merged.bytes), std::move(merged.first)};
  const std::size_t known = side.row_of.size();
  side.row_of.resize(known + added.order.size());
  for (std::size_t row = 0; row < added.order.size(); ++row) {
    side.row_of[known + added.order[row]] = merged.second[row];
  }
  return side;
}

// A file, and what it becomes.
class Update {
 public:
  Update(Bytes file, std::span<const NewInteraction> interactions)
      : parts_(read_parts(file, false)),
        header_(parts_.header),
        known_users_(parts_.section(SectionKind::kUserIds), header_.num_users, header_.user_ids,
                     "user ids"),
        known_items_(parts_.section(SectionKind::kItemIds), header_.num_items, header_.item_ids,
                     "item ids"),
        users_(known_users_, header_.num_users, "users"),
        items_(known_items_, header_.num_items, "items"),
        interactions_(interactions) {
    for (const auto& [user, item] : interactions) {
      users_.add(user);
      items_.add(item);
    }
    users_.number();
    items_.number();
  }

  UpdatedModel run(const UpdateOptions& options) {
    result_.new_users = users_.num_new();
    result_.new_items = items_.num_new();
    make_lists(options);
    make_sides();
    FileHeader header = header_;
    header.num_users = users_.size();
    header.num_items = items_.size();
    const EncodedIds user_ids = users_.encode(new_users_.row_of);
    const EncodedIds item_ids = items_.encode(new_items_.row_of);
    header.user_ids = user_ids.form;
    header.item_ids = item_ids.form;
    std::vector<std::pair<SectionKind, std::string>> sections = {
        {SectionKind::kFacts,
         encode_facts(updated_facts(decode_facts(parts_.section(SectionKind::kFacts)), result_))},
        {SectionKind::kUserIds, user_ids.bytes},
        {SectionKind::kItemIds, item_ids.bytes},
        {SectionKind::kUserRows, new_users_.rows},
        {SectionKind::kItemRows, new_items_.rows},
        {SectionKind::kItemNorms, encode_norms(std::vector<float>(items_.size()), header.score)}};
    if (has_interactions()) {
      EncodedInteractions lists = encode_interactions(lists_in_file(), items_.size());
      header.lists = lists.form;
      sections.emplace_back(SectionKind::kInteractions, std::move(lists.bytes));
    }
    if (parts_.has(SectionKind::kWeights)) {
      const Bytes weights = parts_.section(SectionKind::kWeights);
      sections.emplace_back(
          SectionKind::kWeights,
          std::string(reinterpret_cast<const char*>(weights.data()), weights.size()));
    }
    // The vectors, and so their lengths, are those of the file without lengths.
    const std::string without = assemble_file(header, sections);
    sections[5].second = encode_norms(
        norms(Model::from_bytes(std::as_bytes(std::span(without)), Verify::kStructure)),
        header.score);
    result_.file = assemble_file(header, sections);
    return std::move(result_);
  }

 private:
  bool is_graph() const { return header_.serving == Serving::kGraph; }
  bool has_interactions() const { return parts_.has(SectionKind::kInteractions); }

  // Of the file before, with the new ones, and how many of them are new.
  void make_lists(const UpdateOptions& options) {
    Lists before(users_.size());
    if (has_interactions()) {
      InteractionSection(parts_.section(SectionKind::kInteractions), header_.lists,
                         header_.num_users, header_.num_items)
          .for_each([&](std::uint32_t user, std::span<const std::uint32_t> list) {
            before[user].assign(list.begin(), list.end());
          });
    }
    lists_ = options.replace ? Lists(users_.size()) : before;
    for (const auto& [user, item] : interactions_) {
      lists_[users_.row(user)].push_back(items_.row(item));
    }
    for (std::size_t user = 0; user < lists_.size(); ++user) {
      std::vector<std::uint32_t>& list = lists_[user];
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      std::vector<std::uint32_t> both;
      std::set_intersection(list.begin(), list.end(), before[user].begin(), before[user].end(),
                            std::back_inserter(both));
      result_.new_interactions += list.size() - both.size();
      result_.dropped_interactions += before[user].size() - both.size();
    }
    result_.known_interactions = interactions_.size() - result_.new_interactions;
  }

  void make_sides() {
    const Bytes user_rows = parts_.section(SectionKind::kUserRows);
    const Bytes item_rows = parts_.section(SectionKind::kItemRows);
    const RowForm user_form = header_.user_form();
    const RowForm item_form = header_.item_form();
    NewRows users = empty_rows(users_.num_new(), user_form);
    NewRows items = empty_rows(items_.num_new(), item_form);
    if (!is_graph()) {
      const RowSection known_users(user_rows, header_.num_users, user_form, "user rows");
      const RowSection known_items(item_rows, header_.num_items, item_form, "item rows");
      const RowsBefore before{header_, known_users, known_items, lists_};
      users = mean_user_rows(before, users_.num_new());
      items = mean_item_rows(before, items_.num_new());
    }
    new_users_ = with_new_rows(user_rows, users, user_form);
    new_items_ = with_new_rows(item_rows, items, item_form);
    result_.table_bytes = new_users_.rows.size() + new_items_.rows.size();
    result_.table_bytes_before = user_rows.size() + item_rows.size();
  }

  Lists lists_in_file() const {
    Lists lists(lists_.size());
    for (std::size_t user = 0; user < lists_.size(); ++user) {
      std::vector<std::uint32_t>& list = lists[new_users_.row_of[user]];
      for (const std::uint32_t item : lists_[user]) list.push_back(new_items_.row_of[item]);
      std::sort(list.begin(), list.end());
    }
    return lists;
  }

  // Without a graph the vectors of the file's items are as they were, and their norms stay.
  std::vector<float> norms(const Model& model) const {
    if (is_graph()) return lengths_of_items(model);
    const NormSection before(parts_.section(SectionKind::kItemNorms), header_.num_items,
                             header_.score);
    std::vector<float> norms(items_.size());
    for (std::uint32_t item = 0; item < norms.size(); ++item) {
      const std::uint32_t row = new_items_.row_of[item];
      norms[row] =
          item < header_.num_items ? before.of(item) : vector_length(model.stored_item_row(row));
    }
    return norms;
  }

  const FileParts parts_;
  const FileHeader& header_;  // before
  const IdSection known_users_, known_items_;
  SideIds users_, items_;
  std::span<const NewInteraction> interactions_;
  Lists lists_;  // by the numbers in SideIds
  NewSide new_users_, new_items_;
  UpdatedModel result_;
};

}  // namespace

UpdatedModel update_model(std::span<const std::byte> file,
                          std::span<const NewInteraction> interactions,
                          const UpdateOptions& options) {
  { Model::from_bytes(file); }  // refuses what is damaged
  return Update(file, interactions).run(options);
}

UpdatedModel update_model_file(const std::string& path,
                               std::span<const NewInteraction> interactions,
                               const UpdateOptions& options) {
  const MappedFile file(path);
  try {
    return update_model(file.bytes(), interactions, options);
  } catch (const Error& error) {
    fail_as(error.kind(), path, ": ", error.what());
  }
}

}  // namespace bet
