#include "runtime/model_writer.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/norm_section.h"
#include "runtime/row_section.h"

namespace bet {
namespace {

// Larger sizes first, then more interactions (which puts popular items close together, so that the
// distances in the lists are short), then the order of the data.
std::vector<std::uint32_t> file_order(const SideToWrite& side,
                                      const std::vector<std::uint32_t>& degrees) {
  std::vector<std::uint32_t> order(side.ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (side.sizes[a] != side.sizes[b]) return side.sizes[a] > side.sizes[b];
    return degrees[a] > degrees[b];
  });
  return order;
}

EncodedIds encode_side_ids(const SideToWrite& side, std::span<const std::uint32_t> order) {
  std::vector<std::string> ids;
  for (const std::uint32_t index : order) ids.push_back(side.ids[index]);
  return encode_ids(ids);
}

std::string encode_side_rows(const SideToWrite& side, std::span<const std::uint32_t> order,
                             const RowForm& form) {
  RowsToStore rows;
  rows.stride = side.stride;
  std::vector<float> values(order.size() * side.stride);
  for (std::size_t row = 0; row < order.size(); ++row) {
    const std::uint32_t index = order[row];
    std::copy_n(side.values.begin() + static_cast<std::ptrdiff_t>(index * side.stride), side.stride,
                values.begin() + static_cast<std::ptrdiff_t>(row * side.stride));
    rows.sizes.push_back(side.sizes[index]);
    if (form.layout == RowLayout::kMasked) rows.columns.push_back(side.columns[index]);
  }
  rows.values = values;
  return encode_rows(rows, form);
}

void check_side(const SideToWrite& side, const RowForm& form) {
  const bool masked = form.layout == RowLayout::kMasked;
  const std::size_t most =
      std::min<std::size_t>(form.max_columns, side.stride / form.values_per_column);
  BET_CHECK(side.sizes.size() == side.ids.size() &&
                side.values.size() == side.ids.size() * side.stride &&
                side.columns.size() == (masked ? side.ids.size() : 0),
            "a side of ", side.ids.size(), " ids has ", side.sizes.size(), " sizes, ",
            side.values.size(), " values and columns of ", side.columns.size());
  for (std::size_t i = 0; i < side.sizes.size(); ++i) {
    BET_CHECK(side.sizes[i] <= most, in_quotes(side.ids[i]), " has size ", side.sizes[i], " of ",
              form.max_columns, " in rows of ", side.stride);
    if (!masked) continue;
    const std::vector<std::uint32_t>& columns = side.columns[i];
    const bool ascend =
        std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end();
    BET_CHECK(
        columns.size() == side.sizes[i] && ascend && (columns.empty() || columns.back() < most),
        in_quotes(side.ids[i]), " has size ", side.sizes[i], " and ", columns.size(),
        " columns, which must ascend and be below ", form.max_columns);
  }
}

FileHeader header_of(const ModelToWrite& model) {
  FileHeader header;
  header.num_users = static_cast<std::uint32_t>(model.users.ids.size());
  header.num_items = static_cast<std::uint32_t>(model.items.ids.size());
  header.max_dim = model.max_dim;
  header.backbone = model.backbone;
  header.serving = model.serving;
  header.precision = model.precision;
  header.item_precision = model.item_precision.value_or(model.precision);
  header.layout = model.layout;
  header.layers = model.layers;
  header.score = model.score;
  return header;
}

std::string encode_side_norms(const ModelToWrite& model, std::span<const std::uint32_t> order) {
  std::vector<float> norms;
  for (const std::uint32_t index : order) norms.push_back(model.item_norms[index]);
  return encode_norms(norms, model.score);
}

// The interactions, by the rows of the file.
EncodedInteractions encode_lists(const ModelToWrite& model,
                                 std::span<const std::uint32_t> user_order,
                                 std::span<const std::uint32_t> item_order) {
  std::vector<std::uint32_t> row_of(item_order.size());
  for (std::uint32_t row = 0; row < item_order.size(); ++row) row_of[item_order[row]] = row;
  std::vector<std::vector<std::uint32_t>> lists(user_order.size());
  for (std::size_t row = 0; row < model.items_of.size(); ++row) {
    for (const std::uint32_t item : model.items_of[user_order[row]]) {
      lists[row].push_back(row_of[item]);
    }
    std::sort(lists[row].begin(), lists[row].end());
    BET_CHECK(std::adjacent_find(lists[row].begin(), lists[row].end()) == lists[row].end(), "user ",
              in_quotes(model.users.ids[user_order[row]]), " has an item twice");
  }
  return encode_interactions(lists, static_cast<std::uint32_t>(item_order.size()));
}

using Sections = std::vector<std::pair<SectionKind, std::string>>;

void check_model(const ModelToWrite& model, const FileHeader& header) {
  check_side(model.users, header.user_form());
  check_side(model.items, header.item_form());
  const std::size_t num_users = model.users.ids.size();
  const std::size_t num_items = model.items.ids.size();
  BET_CHECK(model.item_norms.size() == num_items && num_users <= 0xffffffffU &&
                (model.items_of.size() == num_users ||
                 (model.items_of.empty() && model.serving == Serving::kVectors)),
            "a model of ", num_users, " users and ", num_items, " items has norms of ",
            model.item_norms.size(), " and interactions of ", model.items_of.size());
  BET_CHECK(header.has_weights() || model.weights.empty(), "a model with weights, among them ",
            in_quotes(model.weights.empty() ? "" : model.weights[0].name),
            ", of a kind that is served without weights");
}

// The indices of the data in the order of the file's rows.
struct FileOrder {
  std::vector<std::uint32_t> users, items;
};

FileOrder order_of(const ModelToWrite& model) {
  const std::size_t num_items = model.items.ids.size();
  std::vector<std::uint32_t> user_degrees(model.users.ids.size());
  std::vector<std::uint32_t> item_degrees(num_items);
  for (std::size_t user = 0; user < model.items_of.size(); ++user) {
    user_degrees[user] = static_cast<std::uint32_t>(model.items_of[user].size());
    for (const std::uint32_t item : model.items_of[user]) {
      BET_CHECK(item < num_items, "user ", in_quotes(model.users.ids[user]), " has item ", item,
                " of ", num_items);
      ++item_degrees[item];
    }
  }
  return {file_order(model.users, user_degrees), file_order(model.items, item_degrees)};
}

// Sets the forms of the ids and of the interactions in the header.
Sections encode_sections(const ModelToWrite& model, FileHeader& header) {
  const FileOrder order = order_of(model);
  Sections sections;
  sections.emplace_back(SectionKind::kFacts, encode_facts(model.facts));
  EncodedIds user_ids = encode_side_ids(model.users, order.users);
  EncodedIds item_ids = encode_side_ids(model.items, order.items);
  header.user_ids = user_ids.form;
  header.item_ids = item_ids.form;
  sections.emplace_back(SectionKind::kUserIds, std::move(user_ids.bytes));
  sections.emplace_back(SectionKind::kItemIds, std::move(item_ids.bytes));
  sections.emplace_back(SectionKind::kUserRows,
                        encode_side_rows(model.users, order.users, header.user_form()));
  sections.emplace_back(SectionKind::kItemRows,
                        encode_side_rows(model.items, order.items, header.item_form()));
  sections.emplace_back(SectionKind::kItemNorms, encode_side_norms(model, order.items));
  if (!model.items_of.empty() || model.serving == Serving::kGraph) {
    EncodedInteractions lists = encode_lists(model, order.users, order.items);
    header.lists = lists.form;
    sections.emplace_back(SectionKind::kInteractions, std::move(lists.bytes));
  }
  if (header.has_weights()) {
    sections.emplace_back(SectionKind::kWeights, encode_weights(model.weights, header));
  }
  return sections;
}

}  // namespace

std::string encode_model(const ModelToWrite& model) {
  FileHeader header = header_of(model);
  check_model(model, header);
  const Sections sections = encode_sections(model, header);
  std::string file = assemble_file(header, sections);
  // A file that a reader would refuse must not be written.
  Model::from_bytes(std::as_bytes(std::span(file)), Verify::kStructure);
  return file;
}

}  // namespace bet
