#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/trial.h"

struct sqlite3;

namespace bet {

// What a search has measured, on disk (run.db, SQLite): every measurement is safe before the next
// begins, and users can query it. Tables: `trial` (one row a training or a probe, with the plan's
// sizes as little-endian 16-bit numbers, users then items), `predictor` (its state after the last
// probe), `run` (identity). Rows have checksums: one that was changed is refused. One process at a
// time.
class RunStore {
 public:
  // Opens or makes the file. Throws if it was written for another `identity`.
  RunStore(const std::filesystem::path& path, const std::string& identity);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  // All trials, by iteration; plans are checked against the shape.
  std::vector<Trial> trials(const TableShape& shape) const;
  // Of the predictor after the last trial; empty if there is none.
  std::vector<double> predictor_state() const;

  // All or nothing; a trial of the same iteration is replaced. `predictor_state` may be empty.
  void add(std::span<const Trial> trials, std::span<const double> predictor_state = {});

 private:
  void make_tables();
  void insert(const Trial& trial);
  // Throws if a row is not as it was written.
  void check(std::int64_t stored, std::int64_t expected, const std::string& what) const;

  std::string path_;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace bet
