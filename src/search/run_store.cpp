#include "search/run_store.h"

#include <ATen/ops/empty.h>
#include <sqlite3.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "base/error.h"
#include "base/precision_text.h"

namespace bet {
namespace {

constexpr const char* kSchema = R"(
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS run (identity TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS trial (
    iteration INTEGER PRIMARY KEY, strategy TEXT NOT NULL, candidate INTEGER NOT NULL,
    user_share REAL NOT NULL, user_family TEXT NOT NULL, item_family TEXT NOT NULL,
    user_shape REAL NOT NULL, item_shape REAL NOT NULL,
    user_kept REAL NOT NULL, item_kept REAL NOT NULL,
    predicted REAL, fitness REAL NOT NULL, seconds REAL NOT NULL,
    steps INTEGER NOT NULL, fold INTEGER NOT NULL, sizes BLOB NOT NULL,
    loss TEXT NOT NULL, temperature REAL NOT NULL, score TEXT NOT NULL, precision TEXT NOT NULL,
    form TEXT NOT NULL, rate REAL NOT NULL, predictor_loss REAL, checksum INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS predictor (
    id INTEGER PRIMARY KEY CHECK (id = 1), iteration INTEGER NOT NULL, state BLOB NOT NULL,
    checksum INTEGER NOT NULL);
  PRAGMA user_version = 6;
  COMMIT;
)";

// That of the tables above, which are there with it or not at all.
constexpr std::int64_t kVersion = 6;

class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* sql)
      : database_(database), path_(path) {
    check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int place, double value) { check(sqlite3_bind_double(statement_, place, value)); }
  void bind(int place, std::int64_t value) { check(sqlite3_bind_int64(statement_, place, value)); }
  void bind(int place, std::string_view text) {
    check(sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
  }
  void bind_blob(int place, const void* data, std::size_t size) {
    check(sqlite3_bind_blob64(statement_, place, data, size, SQLITE_TRANSIENT));
  }
  // True while there is a row.
  bool step() {
    const int status = sqlite3_step(statement_);
    if (status == SQLITE_ROW) return true;
    BET_CHECK(status == SQLITE_DONE, path_, ": ", sqlite3_errmsg(database_));
    return false;
  }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const {
    const auto* found = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return found != nullptr ? found : "";
  }
  std::string_view blob(int column) const {
    return {static_cast<const char*>(sqlite3_column_blob(statement_, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  void check(int status) const {
    BET_CHECK(status == SQLITE_OK, path_, ": ", sqlite3_errmsg(database_));
  }

  sqlite3* database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
};

void execute(sqlite3* database, const std::string& path, const char* sql) {
  char* message = nullptr;
  const int status = sqlite3_exec(database, sql, nullptr, nullptr, &message);
  const std::string text = message != nullptr ? message : "";
  sqlite3_free(message);
  BET_CHECK(status == SQLITE_OK, path, ": ", text);
}

std::string sizes_blob(const SizePlan& plan) {
  std::string bytes;
  for (const auto sizes : {plan.user_sizes(), plan.item_sizes()}) {
    bytes.append(reinterpret_cast<const char*>(sizes.data()), sizes.size_bytes());
  }
  return bytes;
}

std::string_view bytes_of(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

SizePlan plan_of(std::string_view bytes, const TableShape& shape, const std::string& path) {
  BET_CHECK(bytes.size() == 2 * shape.num_rows(), path, ": a plan of ", bytes.size() / 2,
            " rows for data of ", shape.num_rows());
  std::vector<std::uint16_t> sizes(shape.num_rows());
  std::memcpy(sizes.data(), bytes.data(), bytes.size());
  return {shape, sizes};
}

template <typename Value, typename Name>
Value value_named(const std::string& text, std::initializer_list<Value> values, const Name& name_of,
                  const std::string& path) {
  for (const Value value : values) {
    if (name_of(value) == text) return value;
  }
  fail(path, ": unknown value ", in_quotes(text));
}

// XXH3 over values in a fixed order.
class Checksum {
 public:
  void add(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(double value) {
    value += 0.0;  // SQLite does not keep the sign of zero
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
  }

  std::int64_t value() const {
    return static_cast<std::int64_t>(XXH3_64bits(bytes_.data(), bytes_.size()));
  }

 private:
  std::string bytes_;
};

std::int64_t checksum_of(const Trial& trial, std::string_view sizes) {
  const PlanOrigin& origin = trial.sampled.origin;
  Checksum sum;
  sum.add(std::int64_t{trial.iteration});
  sum.add(strategy_name(trial.strategy));
  sum.add(static_cast<std::int64_t>(trial.candidate));
  sum.add(origin.user_share);
  sum.add(family_name(origin.user_family));
  sum.add(family_name(origin.item_family));
  sum.add(origin.user_shape);
  sum.add(origin.item_shape);
  sum.add(origin.user_kept);
  sum.add(origin.item_kept);
  sum.add(std::int64_t{trial.predicted ? 1 : 0});
  sum.add(trial.predicted.value_or(0));
  sum.add(trial.fitness);
  sum.add(trial.seconds);
  sum.add(static_cast<std::int64_t>(trial.steps));
  sum.add(std::int64_t{trial.fold});
  sum.add(sizes);
  sum.add(loss_name(trial.loss.kind));
  sum.add(trial.loss.temperature);
  sum.add(score_name(trial.loss.score));
  sum.add(precision_text(origin.precision));
  sum.add(form_name(origin.form));
  sum.add(trial.loss.rate);
  sum.add(std::int64_t{trial.predictor_loss ? 1 : 0});
  sum.add(trial.predictor_loss.value_or(0));
  return sum.value();
}

std::int64_t checksum_of(std::int64_t iteration, std::string_view predictor_state) {
  Checksum sum;
  sum.add(iteration);
  sum.add(predictor_state);
  return sum.value();
}

Strategy parse_strategy(const std::string& text, const std::string& path) {
  return value_named(
      text, {Strategy::kPredictedBest, Strategy::kRandom, Strategy::kNearBest, Strategy::kRule},
      strategy_name, path);
}

SizeFamily parse_family(const std::string& text, const std::string& path) {
  return value_named(text,
                     {SizeFamily::kPowerLaw, SizeFamily::kTruncatedExponential,
                      SizeFamily::kTruncatedNormal, SizeFamily::kLogNormal, SizeFamily::kFrequency},
                     family_name, path);
}

}  // namespace

void RunStore::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

RunStore::RunStore(const std::filesystem::path& path, const std::string& identity)
    : path_(path.string()) {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open(path_.c_str(), &handle);
  database_.reset(handle);
  BET_CHECK(status == SQLITE_OK, path_,
            ": cannot open: ", handle != nullptr ? sqlite3_errmsg(handle) : "out of memory");
  make_tables();
  Statement find(handle, path_, "SELECT identity FROM run");
  if (find.step()) {
    BET_CHECK(find.text(0) == identity, path_, ": was written for other data or options");
    return;
  }
  Statement insert(handle, path_, "INSERT INTO run VALUES (?)");
  insert.bind(1, identity);
  insert.step();
}

void RunStore::make_tables() {
  sqlite3* const handle = database_.get();
  const auto number = [&](const char* sql) {
    Statement row(handle, path_, sql);
    row.step();
    return row.integer(0);
  };
  const bool is_new = number("SELECT count(*) FROM sqlite_master") == 0;
  BET_CHECK(is_new || number("PRAGMA user_version") == kVersion, path_,
            ": the search of another version of bet, which this one cannot continue");
  execute(handle, path_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  execute(handle, path_, kSchema);
}

void RunStore::check(std::int64_t stored, std::int64_t expected, const std::string& what) const {
  BET_CHECK(stored == expected, path_, ": ", what,
            " was changed after it was written (wrong checksum)");
}

RunStore::~RunStore() = default;

std::vector<Trial> RunStore::trials(const TableShape& shape) const {
  std::vector<Trial> trials;
  Statement rows(
      database_.get(), path_,
      "SELECT iteration, strategy, candidate, user_share, user_family, item_family, "
      "user_shape, item_shape, user_kept, item_kept, predicted, fitness, seconds, "
      "steps, fold, sizes, loss, temperature, score, precision, form, rate, predictor_loss, "
      "checksum FROM trial ORDER BY iteration");
  while (rows.step()) {
    const std::optional<TablePrecision> precision = parse_table_precision(rows.text(19));
    BET_CHECK(precision, path_, ": unknown value ", in_quotes(rows.text(19)));
    const PlanOrigin origin = {
        .user_share = rows.real(3),
        .user_family = parse_family(rows.text(4), path_),
        .item_family = parse_family(rows.text(5), path_),
        .user_shape = rows.real(6),
        .item_shape = rows.real(7),
        .user_kept = rows.real(8),
        .item_kept = rows.real(9),
        .precision = *precision,
        .form = value_named(rows.text(20), {StoredForm::kTable, StoredForm::kVectors}, form_name,
                            path_)};
    const LossOptions loss = {
        value_named(rows.text(16), {LossKind::kBpr, LossKind::kSoftmax}, loss_name, path_),
        rows.real(17),
        value_named(rows.text(18), {ScoreKind::kDot, ScoreKind::kCosine}, score_name, path_),
        rows.real(21)};
    const auto real_or_none = [&](int column) {
      return rows.is_null(column) ? std::nullopt : std::optional(rows.real(column));
    };
    trials.push_back(
        {static_cast<std::uint32_t>(rows.integer(0)),
         parse_strategy(rows.text(1), path_),
         static_cast<std::uint64_t>(rows.integer(2)),
         {plan_of(rows.blob(15), shape, path_).with_precision(*precision).with_form(origin.form),
          origin},
         real_or_none(10),
         rows.real(11),
         rows.real(12),
         static_cast<std::uint64_t>(rows.integer(13)),
         static_cast<std::uint32_t>(rows.integer(14)),
         loss,
         real_or_none(22)});
    check(rows.integer(23), checksum_of(trials.back(), rows.blob(15)),
          str_cat("trial ", trials.back().iteration));
  }
  return trials;
}

std::vector<double> RunStore::predictor_state() const {
  Statement row(database_.get(), path_, "SELECT state, iteration, checksum FROM predictor");
  if (!row.step()) return {};
  const std::string_view bytes = row.blob(0);
  check(row.integer(2), checksum_of(row.integer(1), bytes), "the predictor's state");
  std::vector<double> state(bytes.size() / sizeof(double));
  std::memcpy(state.data(), bytes.data(), state.size() * sizeof(double));
  return state;
}

void RunStore::add(std::span<const Trial> trials, std::span<const double> predictor_state) {
  execute(database_.get(), path_, "BEGIN IMMEDIATE");
  try {
    for (const Trial& trial : trials) insert(trial);
    if (!predictor_state.empty()) {
      Statement state(database_.get(), path_,
                      "INSERT OR REPLACE INTO predictor VALUES (1, ?, ?, ?)");
      state.bind(1, std::int64_t{trials.back().iteration});
      state.bind_blob(2, predictor_state.data(), predictor_state.size_bytes());
      state.bind(3, checksum_of(trials.back().iteration, bytes_of(predictor_state)));
      state.step();
    }
    execute(database_.get(), path_, "COMMIT");
  } catch (...) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void RunStore::insert(const Trial& trial) {
  Statement row(
      database_.get(), path_,
      "INSERT OR REPLACE INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?)");
  const PlanOrigin& origin = trial.sampled.origin;
  row.bind(1, std::int64_t{trial.iteration});
  row.bind(2, strategy_name(trial.strategy));
  row.bind(3, static_cast<std::int64_t>(trial.candidate));
  row.bind(4, origin.user_share);
  row.bind(5, family_name(origin.user_family));
  row.bind(6, family_name(origin.item_family));
  row.bind(7, origin.user_shape);
  row.bind(8, origin.item_shape);
  row.bind(9, origin.user_kept);
  row.bind(10, origin.item_kept);
  if (trial.predicted) row.bind(11, *trial.predicted);
  row.bind(12, trial.fitness);
  row.bind(13, trial.seconds);
  row.bind(14, static_cast<std::int64_t>(trial.steps));
  row.bind(15, std::int64_t{trial.fold});
  const std::string sizes = sizes_blob(trial.sampled.plan);
  row.bind_blob(16, sizes.data(), sizes.size());
  row.bind(17, loss_name(trial.loss.kind));
  row.bind(18, trial.loss.temperature);
  row.bind(19, score_name(trial.loss.score));
  row.bind(20, precision_text(origin.precision));
  row.bind(21, form_name(origin.form));
  row.bind(22, trial.loss.rate);
  if (trial.predictor_loss) row.bind(23, *trial.predictor_loss);
  row.bind(24, checksum_of(trial, sizes));
  row.step();
}

}  // namespace bet
