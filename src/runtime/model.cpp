#include "bet/model.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "runtime/facts.h"
#include "runtime/half.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/mapped_file.h"
#include "runtime/model_file.h"
#include "runtime/row_section.h"
#include "runtime/top_items.h"
#include "runtime/unknown_id.h"

namespace bet {
namespace {

// What one request needs; kept for the next.
struct Scratch {
  // Of every row in the vector that is asked for. Only one side has some before they are spread.
  std::vector<float> user_weights, item_weights;
  std::vector<float> users, items, other_items, scores;
  std::vector<float> query;

  void reset_weights(std::uint32_t num_users, std::uint32_t num_items) {
    user_weights.assign(num_users, 0.0F);
    item_weights.assign(num_items, 0.0F);
  }
};

}  // namespace

class Model::Impl {
 public:
  Impl(std::unique_ptr<MappedFile> file, Bytes bytes, Trust trust)
      : file_(std::move(file)),
        file_bytes_(bytes.size()),
        parts_(read_parts(bytes, trust == Trust::kNothing)) {
    const FileHeader& header = parts_.header;
    facts_ = decode_facts(parts_.section(SectionKind::kFacts));
    user_ids_ = IdSection(parts_.section(SectionKind::kUserIds), header.num_users, "user ids");
    item_ids_ = IdSection(parts_.section(SectionKind::kItemIds), header.num_items, "item ids");
    user_rows_ = RowSection(parts_.section(SectionKind::kUserRows), header.num_users,
                            header.max_dim, header.precision, header.layout, "user rows");
    item_rows_ = RowSection(parts_.section(SectionKind::kItemRows), header.num_items,
                            header.max_dim, header.precision, header.layout, "item rows");
    norms_ = parts_.section(SectionKind::kItemNorms);
    BET_CHECK(norms_.size() == 2 * std::uint64_t{header.num_items}, "item norms: ", norms_.size(),
              " bytes for ", header.num_items, " items");
    for (std::uint32_t item = 0; item < header.num_items; ++item) {
      BET_CHECK((load<std::uint16_t>(norms_.data() + 2 * std::size_t{item}) & 0xfc00U) < 0x7c00U,
                "item norms: that of item row ", item, " is no length");
    }
    if (parts_.has(SectionKind::kInteractions)) {
      interactions_ = InteractionSection(parts_.section(SectionKind::kInteractions),
                                         header.num_users, header.num_items);
    }
    width_ = std::max(user_rows_.width(), item_rows_.width());
  }

  std::uint32_t user_row(std::string_view user) const {
    const std::optional<std::uint32_t> row = user_ids_.find(user);
    if (!row) throw UnknownId(join_text("unknown user ", in_quotes(user)));
    return *row;
  }
  std::uint32_t item_row(std::string_view item) const {
    const std::optional<std::uint32_t> row = item_ids_.find(item);
    if (!row) throw UnknownId(join_text("unknown item ", in_quotes(item)));
    return *row;
  }

  // A request on a scratch of its own.
  template <typename Request>
  auto with_scratch(const Request& request) const {
    std::unique_ptr<Scratch> scratch;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        scratch = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!scratch) scratch = std::make_unique<Scratch>();
    auto result = request(*scratch);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
    return result;
  }

  // The vector of a weighted sum of users or of items, into scratch.query. The weights are spent.
  void find_vector(Scratch& scratch) const {
    if (is_graph()) spread(scratch);
    scratch.query.assign(width_, 0.0F);
    user_rows_.add(scratch.user_weights, scratch.query);
    item_rows_.add(scratch.item_weights, scratch.query);
  }
  void user_query(std::uint32_t row, Scratch& scratch) const {
    if (!is_graph()) return decode_into(user_rows_, row, scratch);
    scratch.reset_weights(header().num_users, header().num_items);
    scratch.user_weights[row] = 1;
    find_vector(scratch);
  }
  void item_query(std::uint32_t row, Scratch& scratch) const {
    if (!is_graph()) return decode_into(item_rows_, row, scratch);
    scratch.reset_weights(header().num_users, header().num_items);
    scratch.item_weights[row] = 1;
    find_vector(scratch);
  }

  // query . vector of every item, into scratch.scores.
  void score_items(Scratch& scratch) const {
    scratch.scores.resize(header().num_items);
    item_rows_.dots(scratch.query, scratch.scores);
    if (!is_graph()) return;
    scratch.users.resize(header().num_users);
    user_rows_.dots(scratch.query, scratch.users);
    gather_from_graph(scratch);
  }

  float norm(std::uint32_t item) const {
    return half_to_float(load<std::uint16_t>(norms_.data() + 2 * std::size_t{item}));
  }

  std::vector<ScoredItem> named(const std::vector<RankedItem>& items) const {
    std::vector<ScoredItem> result;
    result.reserve(items.size());
    for (const RankedItem& item : items) result.push_back({item_ids_.name(item.row), item.score});
    return result;
  }

  bool is_graph() const { return header().serving == Serving::kGraph; }
  const FileHeader& header() const { return parts_.header; }

  std::unique_ptr<MappedFile> file_;
  std::uint64_t file_bytes_;
  FileParts parts_;
  Facts facts_;
  IdSection user_ids_, item_ids_;
  RowSection user_rows_, item_rows_;
  Bytes norms_;
  InteractionSection interactions_;
  std::uint32_t width_ = 0;

 private:
  void decode_into(const RowSection& rows, std::uint32_t row, Scratch& scratch) const {
    scratch.query.assign(width_, 0.0F);
    rows.decode(row, scratch.query);
  }

  // weights <- (I + A + .. + A^L) weights / (L + 1), A the normalised adjacency: the share of every
  // row in the vector that is asked for. Users lead to items and items to users, so with weights on
  // one side only, one pass over the lists goes two layers: from items to users and on.
  void spread(Scratch& scratch) const {
    const std::vector<float>& root = interactions_.item_root();
    const int layers = header().layers;
    std::vector<float>& now = scratch.other_items;  // the items' part of A^layer weights
    int layer = 0;
    const auto is_zero = [](float weight) { return weight == 0; };
    if (std::all_of(scratch.item_weights.begin(), scratch.item_weights.end(), is_zero)) {
      to_items(scratch.user_weights, now);
      scratch.item_weights = now;
      layer = 1;
    } else {
      now = scratch.item_weights;
    }
    for (; layer < layers; layer += 2) {
      const bool goes_on = layer + 1 < layers;
      scale_by(root, now);
      scratch.items.assign(root.size(), 0.0F);
      interactions_.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
        if (items.empty()) return;
        float gathered = 0;
        for (const std::uint32_t item : items) gathered += now[item];
        const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
        scratch.user_weights[user] += gathered * user_root;
        if (!goes_on || gathered == 0) return;
        const float given = gathered * user_root * user_root;
        for (const std::uint32_t item : items) scratch.items[item] += given;
      });
      if (!goes_on) break;
      scale_by(root, scratch.items);
      std::swap(now, scratch.items);
      add(now, scratch.item_weights);
    }
    const float mean = 1.0F / static_cast<float>(layers + 1);
    for (float& weight : scratch.user_weights) weight *= mean;
    for (float& weight : scratch.item_weights) weight *= mean;
  }

  // scores <- the items' part of (I + A + .. + A^L) (users, scores) / (L + 1). By Horner's rule,
  // and only the side that the next layer needs: users, items, users, .., items.
  void gather_from_graph(Scratch& scratch) const {
    const std::vector<float>& root = interactions_.item_root();
    const int layers = header().layers;
    std::vector<float>& own = scratch.other_items;  // the items' own part
    own = scratch.scores;
    int layer = 0;
    if (layers % 2 != 0) {  // an odd way to the items begins with the users
      to_items(scratch.users, scratch.items);
      add(scratch.items, scratch.scores);
      layer = 1;
    }
    for (; layer < layers; layer += 2) {  // to the users and on to the items, in one pass
      scale_by(root, scratch.scores);
      scratch.items.assign(root.size(), 0.0F);
      interactions_.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
        if (items.empty()) return;
        const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
        float gathered = 0;
        for (const std::uint32_t item : items) gathered += scratch.scores[item];
        const float given = (scratch.users[user] + gathered * user_root) * user_root;
        for (const std::uint32_t item : items) scratch.items[item] += given;
      });
      scale_by(root, scratch.items);
      for (std::size_t i = 0; i < own.size(); ++i) scratch.scores[i] = own[i] + scratch.items[i];
    }
    const float mean = 1.0F / static_cast<float>(layers + 1);
    for (float& score : scratch.scores) score *= mean;
  }

  // items <- A users
  void to_items(const std::vector<float>& users, std::vector<float>& items_out) const {
    const std::vector<float>& root = interactions_.item_root();
    items_out.assign(root.size(), 0.0F);
    const auto give = [&](std::uint32_t user, std::span<const std::uint32_t> items) {
      if (items.empty()) return;
      const float given = users[user] / std::sqrt(static_cast<float>(items.size()));
      for (const std::uint32_t item : items) items_out[item] += given;
    };
    std::uint32_t only = 0;
    std::uint32_t nonzero = 0;
    for (std::uint32_t user = 0; user < users.size() && nonzero < 2; ++user) {
      if (users[user] != 0) {
        only = user;
        ++nonzero;
      }
    }
    if (nonzero == 1) {
      give(only, interactions_.items_of(only));
    } else if (nonzero > 1) {
      interactions_.for_each(give);
    }
    scale_by(root, items_out);
  }

  static void scale_by(const std::vector<float>& factors, std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i];
  }
  static void add(const std::vector<float>& values, std::vector<float>& sum) {
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> free_;
};

Model::Model(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::open(const std::string& path, Trust trust) {
  auto file = std::make_unique<MappedFile>(path);
  const Bytes bytes = file->bytes();
  try {
    return Model(std::make_unique<const Impl>(std::move(file), bytes, trust));
  } catch (const Error& error) {
    fail(path, ": ", error.what());
  }
}

Model Model::from_bytes(std::span<const std::byte> bytes, Trust trust) {
  return Model(std::make_unique<const Impl>(nullptr, bytes, trust));
}

std::uint32_t Model::num_users() const { return impl_->header().num_users; }
std::uint32_t Model::num_items() const { return impl_->header().num_items; }
bool Model::has_user(std::string_view user) const {
  return impl_->user_ids_.find(user).has_value();
}
bool Model::has_item(std::string_view item) const {
  return impl_->item_ids_.find(item).has_value();
}

std::string_view Model::user_id(std::uint32_t row) const {
  BET_CHECK(row < num_users(), "user row ", row, " of ", num_users());
  return impl_->user_ids_.name(row);
}
std::string_view Model::item_id(std::uint32_t row) const {
  BET_CHECK(row < num_items(), "item row ", row, " of ", num_items());
  return impl_->item_ids_.name(row);
}

std::vector<ScoredItem> Model::recommend(std::string_view user, std::size_t k, Seen seen) const {
  const std::uint32_t row = impl_->user_row(user);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->user_query(row, scratch);
    impl_->score_items(scratch);
    std::vector<std::uint32_t> left_out;
    if (seen == Seen::kLeaveOut && impl_->parts_.has(SectionKind::kInteractions)) {
      left_out = impl_->interactions_.items_of(row);
    }
    return impl_->named(top_items(scratch.scores, k, left_out));
  });
}

std::vector<ScoredItem> Model::recommend_for_items(std::span<const std::string_view> items,
                                                   std::size_t k) const {
  BET_CHECK(!items.empty(), "recommendations for an empty list of items");
  std::vector<std::uint32_t> rows;
  for (const std::string_view item : items) rows.push_back(impl_->item_row(item));
  return impl_->with_scratch([&](Scratch& scratch) {
    scratch.reset_weights(num_users(), num_items());
    for (const std::uint32_t row : rows) {
      scratch.item_weights[row] += 1.0F / static_cast<float>(rows.size());
    }
    impl_->find_vector(scratch);
    impl_->score_items(scratch);
    std::sort(rows.begin(), rows.end());
    return impl_->named(top_items(scratch.scores, k, rows));
  });
}

std::vector<ScoredItem> Model::similar_items(std::string_view item, std::size_t k) const {
  const std::uint32_t row = impl_->item_row(item);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->item_query(row, scratch);
    impl_->score_items(scratch);
    const float own = impl_->norm(row);
    for (std::uint32_t other = 0; other < num_items(); ++other) {
      const float lengths = own * impl_->norm(other);
      scratch.scores[other] = lengths > 0 ? scratch.scores[other] / lengths : 0.0F;
    }
    return impl_->named(top_items(scratch.scores, k, std::span(&row, 1)));
  });
}

float Model::score(std::string_view user, std::string_view item) const {
  const std::vector<float> a = user_vector(user);
  const std::vector<float> b = item_vector(item);
  float sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

std::vector<std::string_view> Model::seen_items(std::string_view user) const {
  const std::uint32_t row = impl_->user_row(user);
  std::vector<std::string_view> names;
  if (!impl_->parts_.has(SectionKind::kInteractions)) return names;
  for (const std::uint32_t item : impl_->interactions_.items_of(row)) {
    names.push_back(impl_->item_ids_.name(item));
  }
  return names;
}

std::uint32_t Model::dimension() const { return impl_->width_; }

std::vector<float> Model::user_vector(std::string_view user) const {
  const std::uint32_t row = impl_->user_row(user);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->user_query(row, scratch);
    return scratch.query;
  });
}

std::vector<float> Model::item_vector(std::string_view item) const {
  const std::uint32_t row = impl_->item_row(item);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->item_query(row, scratch);
    return scratch.query;
  });
}

const std::vector<std::pair<std::string, Model::Fact>>& Model::facts() const {
  return impl_->facts_;
}

const Model::Fact* Model::fact(std::string_view name) const {
  for (const auto& [other, value] : impl_->facts_) {
    if (other == name) return &value;
  }
  return nullptr;
}

std::vector<Model::Part> Model::parts() const {
  std::vector<Part> parts = {{"header", FileParts::header_bytes()},
                             {"directory", impl_->parts_.directory_bytes()}};
  for (const FileSection& section : impl_->parts_.sections) {
    parts.push_back({std::string(section_name(section.kind)), section.bytes.size()});
  }
  parts.push_back({"padding", impl_->parts_.padding});
  return parts;
}

Model::Summary Model::summary() const {
  const FileHeader& header = impl_->header();
  Summary summary;
  summary.backbone = kBackboneNames[static_cast<std::size_t>(header.backbone)];
  summary.serving = kServingNames[static_cast<std::size_t>(header.serving)];
  summary.precision = precision_name(header.precision);
  summary.layout = kLayoutNames[static_cast<std::size_t>(header.layout)];
  summary.file_bytes = impl_->file_bytes_;
  summary.table_bytes = impl_->parts_.section(SectionKind::kUserRows).size() +
                        impl_->parts_.section(SectionKind::kItemRows).size();
  summary.params = impl_->user_rows_.num_params() + impl_->item_rows_.num_params();
  summary.max_dim = header.max_dim;
  summary.interactions = impl_->interactions_.num_interactions();
  summary.user_sizes = impl_->user_rows_.counts();
  summary.item_sizes = impl_->item_rows_.counts();
  return summary;
}

std::vector<float> Model::stored_user_row(std::uint32_t row) const {
  BET_CHECK(row < num_users(), "user row ", row, " of ", num_users());
  std::vector<float> values(impl_->width_);
  impl_->user_rows_.decode(row, values);
  return values;
}

std::vector<float> Model::stored_item_row(std::uint32_t row) const {
  BET_CHECK(row < num_items(), "item row ", row, " of ", num_items());
  std::vector<float> values(impl_->width_);
  impl_->item_rows_.decode(row, values);
  return values;
}

}  // namespace bet
