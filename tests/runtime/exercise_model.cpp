#include "runtime/exercise_model.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "runtime/facts.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/model_file.h"
#include "runtime/weight_section.h"

namespace bet::test {
namespace {

void need(bool good, const char* what) {
  if (!good) throw std::logic_error(what);
}

void check_answer(const Model& model, const std::vector<ScoredItem>& answer, std::size_t k) {
  need(answer.size() <= std::min<std::size_t>(k, model.num_items()), "too many items");
  for (std::size_t i = 0; i < answer.size(); ++i) {
    need(answer[i].score == answer[i].score, "a score that is no number");
    need(model.has_item(answer[i].item), "an item that is not in the model");
    need(i == 0 || answer[i - 1].score >= answer[i].score, "items out of order");
  }
}

// Ncf has none.
void check_vector(const Model& model, const std::function<std::vector<float>()>& vector) {
  if (model.summary().backbone != "ncf") {
    need(vector().size() == model.dimension(), "a vector of another size");
    return;
  }
  try {
    vector();
  } catch (const Error&) {
    return;
  }
  need(false, "a vector of ncf");
}

bool same(const std::string& written, Bytes bytes) {
  const auto* chars = reinterpret_cast<const char*>(bytes.data());
  return written == std::string_view(chars, bytes.size());
}

void check_ids(Bytes bytes, std::uint32_t num_rows, IdForm form) {
  const IdSection section(bytes, num_rows, form, "ids");
  std::vector<std::string> ids;
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    ids.emplace_back(section.name(row));
    need(section.find(ids.back()) == row, "an id that is not found");
  }
  const EncodedIds encoded = encode_ids(ids);
  if (encoded.form == IdForm::kTexts && form == IdForm::kTexts) {
    need(same(encoded.bytes, bytes), "ids in another form");
  }
  const IdSection again(std::as_bytes(std::span(encoded.bytes)), num_rows, encoded.form, "ids");
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    need(again.name(row) == ids[row], "ids change when they are written again");
  }
}

void check_sections(Bytes file) {
  const FileParts parts = read_parts(file, false);
  const Bytes facts = parts.section(SectionKind::kFacts);
  need(same(encode_facts(decode_facts(facts)), facts), "facts in another form");
  check_ids(parts.section(SectionKind::kUserIds), parts.header.num_users, parts.header.user_ids);
  check_ids(parts.section(SectionKind::kItemIds), parts.header.num_items, parts.header.item_ids);
  if (parts.has(SectionKind::kWeights)) {
    const Bytes weights = parts.section(SectionKind::kWeights);
    need(same(encode_weights(decode_weights(weights, parts.header), parts.header), weights),
         "weights in another form");
  }
  if (!parts.has(SectionKind::kInteractions)) return;
  const Bytes bytes = parts.section(SectionKind::kInteractions);
  const FileHeader& header = parts.header;
  const InteractionSection section(bytes, header.lists, header.num_users, header.num_items);
  std::vector<std::vector<std::uint32_t>> lists;
  section.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
    lists.emplace_back(items.begin(), items.end());
    need(section.items_of(user) == lists.back(), "a user's items differ");
  });
  const EncodedInteractions encoded = encode_interactions(lists, header.num_items);
  if (header.lists == ListForm::kBytes && encoded.form == ListForm::kBytes) {
    need(same(encoded.bytes, bytes), "interactions in another form");
  }
  // Parameters may differ from the writer's, and small lists may have either form.
  std::uint32_t next = 0;
  InteractionSection(std::as_bytes(std::span(encoded.bytes)), encoded.form, header.num_users,
                     header.num_items)
      .for_each([&](std::uint32_t, std::span<const std::uint32_t> items) {
        need(std::equal(items.begin(), items.end(), lists[next].begin(), lists[next].end()),
             "interactions change when they are written again");
        ++next;
      });
}

// Answers under filters, and what else names items by sets and lists.
void exercise_filters(const Model& model, std::uint32_t users, std::uint32_t items) {
  constexpr std::uint32_t kWidest = 64;  // preparing a set takes a request for each column
  std::vector<std::string_view> some;
  for (std::uint32_t row = 0; row < items; row += 2) some.push_back(model.item_id(row));
  some.push_back("what");
  const auto use = model.dimension() <= kWidest ? Model::Use::kOften : Model::Use::kOnce;
  const ItemSet set = model.item_set(some, use);
  need(set.size() == some.size() - 1 || model.has_item("what"), "a set of another size");
  for (std::uint32_t row = 0; row < users; ++row) {
    const std::string_view user = model.user_id(row);
    for (const ItemFilter& filter :
         {ItemFilter{.only = &set}, ItemFilter{.exclude = &set, .seen = Seen::kKeep},
          ItemFilter{.only = &set, .exclude = &set, .min_score = 0}}) {
      check_answer(model, model.recommend(user, 3, filter), 3);
    }
    need(model.scores(user, some).size() == some.size(), "another number of scores");
  }
  if (items > 0) check_answer(model, model.similar_items(some[0], 3, {.only = &set}), 3);
  try {
    check_answer(model, model.popular_items(5), 5);
  } catch (const Error& error) {
    need(model.summary().interactions == 0, error.what());
  }
}

}  // namespace

void exercise(const Model& model, std::span<const std::byte> file, std::uint32_t rows) {
  check_sections(file);
  const Model::Summary summary = model.summary();
  need(summary.file_bytes == file.size(), "another size");
  std::uint64_t bytes = 0;
  for (const Model::Part& part : model.parts()) bytes += part.bytes;
  need(bytes == file.size(), "the parts do not add up to the file");
  for (const auto& [name, fact] : model.facts()) need(model.fact(name) == &fact, "a lost fact");

  const std::uint32_t users = std::min(rows, model.num_users());
  const std::uint32_t items = std::min(rows, model.num_items());
  std::string_view last_item;
  for (std::uint32_t row = 0; row < items; ++row) {
    const std::string_view item = model.item_id(row);
    need(model.stored_item_row(row).size() == model.row_width(), "a row of another size");
    check_vector(model, [&] { return model.item_vector(item); });
    check_answer(model, model.similar_items(item, 3), 3);
    check_answer(model, model.similar_items(item, model.num_items() + std::size_t{1}),
                 model.num_items() - std::size_t{1});
    const std::string_view given[] = {item, row == 0 ? item : last_item};
    check_answer(model, model.recommend_for_items(given, 5), 5);
    std::vector<std::string_view> unknown;
    check_answer(model, model.recommend_for_known_items(given, 5, unknown), 5);
    need(unknown.empty(), "a known item is unknown");
    last_item = item;
  }
  exercise_filters(model, users, items);
  for (std::uint32_t row = 0; row < users; ++row) {
    const std::string_view user = model.user_id(row);
    need(model.stored_user_row(row).size() == model.row_width(), "a row of another size");
    check_vector(model, [&] { return model.user_vector(user); });
    const std::vector<std::string_view> seen = model.seen_items(user);
    const std::vector<ScoredItem> answer = model.recommend(user, model.num_items());
    check_answer(model, answer, model.num_items() - seen.size());
    for (const ScoredItem& found : answer) {
      need(std::find(seen.begin(), seen.end(), found.item) == seen.end(), "a seen item");
    }
    check_answer(model, model.recommend(user, 2, Model::Seen::kKeep), 2);
    for (const Model::BatchAnswer& one : model.recommend_batch(std::span(&user, 1), 2)) {
      check_answer(model, one.items, 2);
      need(one.error.empty(), "a known user is unknown");
    }
    if (items > 0) model.score(user, last_item);
  }
}

}  // namespace bet::test
