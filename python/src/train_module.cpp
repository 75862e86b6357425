// bet._train: the library that trains. Needs LibTorch.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

#include "base/nearest_word.h"
#include "data/column_names.h"
#include "errors.h"
#include "fit_events.h"
#include "id_column.h"
#include "run/compare.h"
#include "run/option_table.h"
#include "run/report_json.h"
#include "run/run_groups.h"

namespace py = pybind11;

namespace bet::python {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;  // names of the table, and texts

const char* type_name(OptionType type) {
  switch (type) {
    case OptionType::kText:
      return "str";
    case OptionType::kUnsigned:
      return "int";
    case OptionType::kReal:
      return "float";
    case OptionType::kFlag:
      return "bool";
  }
  return "";
}

py::list option_table() {
  py::list rows;
  for (const Option<FitOptions>& option : fit_option_table()) {
    if (option.name == "data") continue;  // the argument, which has no default
    using py::operator""_a;
    rows.append(py::dict("name"_a = option.name, "group"_a = option.group,
                         "type"_a = type_name(option.type), "help"_a = option.help,
                         "choices"_a = option.choices, "range"_a = option.range,
                         "default"_a = option.get(FitOptions{})));
  }
  return rows;
}

FitOptions options_of(const Settings& settings) {
  FitOptions options;
  const std::vector<Option<FitOptions>>& table = fit_option_table();
  for (const auto& [name, value] : settings) {
    const auto option =
        std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.name == name; });
    BET_CHECK(option != table.end(), "unknown option ", in_quotes(name));
    try {
      option->set(options, value);
    } catch (const Error& error) {
      fail_as(error.kind(), name, ": ", error.what());
    }
  }
  return options;
}

// A column of numbers, or nothing.
class Numbers {
 public:
  explicit Numbers(const py::object& column) {
    if (!column.is_none()) values_ = column.cast<Array>();
    if (values_) data_ = values_->data();
  }
  bool has_size(std::size_t size) const {
    return !values_ || static_cast<std::size_t>(values_->size()) == size;
  }
  double at(std::size_t row) const { return data_ == nullptr ? 0 : data_[row]; }

 private:
  using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;
  std::optional<Array> values_;
  const double* data_ = nullptr;
};

using SharedData = std::shared_ptr<const RunData>;

// The pairs go into the log in blocks: with the GIL as long as objects of Python's are read, and
// without it for the rest.
void add_pairs(MemoryData& data, IdColumn& users, IdColumn& items, const Numbers& ratings,
               const Numbers& times, const ReadOptions& options) {
  constexpr std::size_t kBlock = 65'536;
  std::vector<std::uint32_t> user_indices, item_indices;
  std::vector<std::uint8_t> left_out;
  for (std::size_t begin = 0; begin < users.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, users.size() - begin);
    users.read(begin, count);
    items.read(begin, count);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const py::gil_scoped_release release;
    left_out.assign(options.min_rating ? count : 0, 0);
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      left_out[i] = static_cast<std::uint8_t>(data.leaves_out(ratings.at(begin + i)));
    }
    user_indices.resize(count);
    item_indices.resize(count);
    users.add_to(data, left_out, user_indices);
    items.add_to(data, left_out, item_indices);
    for (std::size_t i = 0; i < count; ++i) {
      if (!left_out.empty() && left_out[i] != 0) continue;
      const double time = times.at(begin + i);
      BET_CHECK(!options.with_times || std::isfinite(time), "the time of row ", begin + i,
                " is missing");
      data.add(user_indices[i], item_indices[i], time);
    }
  }
}

struct GivenIds {
  py::array values;
  py::object categories;  // None: the values are ids
};

// Interactions from memory, split as the settings say.
SharedData make_data(const std::string& name, const GivenIds& given_users,
                     const GivenIds& given_items, const py::object& given_ratings,
                     const py::object& given_times, const Settings& settings) {
  DataOptions options = options_of(settings).data;
  const auto users = make_id_column(given_users.values, given_users.categories, Side::kUsers);
  const auto items = make_id_column(given_items.values, given_items.categories, Side::kItems);
  const Numbers ratings(given_ratings);
  const Numbers times(given_times);
  BET_CHECK(users->size() == items->size() && ratings.has_size(users->size()) &&
                times.has_size(users->size()),
            name, ": users, items, ratings and times are not as many: ", users->size(), " users, ",
            items->size(), " items");
  options.read.with_times = options.split == SplitKind::kTime;
  BET_CHECK(!options.read.min_rating || !given_ratings.is_none(), "min_rating needs ratings");
  BET_CHECK(!options.read.with_times || !given_times.is_none(), "a split by time needs times");
  MemoryData data(options.read);
  add_pairs(data, *users, *items, ratings, times, options.read);
  const MemoryData::GivenAsTexts texts = {users->is_text(), items->is_text()};
  const py::gil_scoped_release release;
  return std::make_shared<const RunData>(make_run_data(data.finish(name, texts), options));
}

FitMode mode_of(std::string_view name) {
  if (name == "new") return FitMode::kNew;
  if (name == "overwrite") return FitMode::kOverwrite;
  if (name == "resume") return FitMode::kResume;
  if (name == "continue-search") return FitMode::kContinueSearch;
  fail("unknown mode ", in_quotes(name));
}

// The folder of the run and its report as JSON.
std::pair<std::string, std::string> run_fit(const Settings& settings, const std::string& folder,
                                            std::string_view mode, const SharedData& data,
                                            py::object listener) {
  FitJob job = {options_of(settings), folder, mode_of(mode), data};
  if (data) job.options.data.path = kInMemory;
  FitEvents events(std::move(listener), FitEvents::AtInterrupt::kStop);
  try {
    const py::gil_scoped_release release;
    const FitResult result = fit(job, events.callbacks());
    return {result.folder.string(), json_text(report_json(result.report))};
  } catch (const Interrupted&) {
    events.rethrow();
    throw;
  }
}

py::dict cell_of(const RunGroup& group) {
  using py::operator""_a;
  const Spread validation = group.validation(kRecall20);
  const Spread recall = group.test(kRecall20);
  const Spread ndcg = group.test(kNdcg20);
  return py::dict("backbone"_a = group.backbone, "method"_a = group.method,
                  "budget"_a = group.budget, "runs"_a = group.runs.size(),
                  "bytes"_a = group.mean_bytes(), "file_bytes"_a = group.mean_file_bytes(),
                  "validation_recall"_a = validation.mean,
                  "validation_recall_std"_a = validation.deviation, "test_recall"_a = recall.mean,
                  "test_recall_std"_a = recall.deviation, "test_ndcg"_a = ndcg.mean,
                  "test_ndcg_std"_a = ndcg.deviation);
}

// The folder, the cells, the runs whose budget cannot be met with the reason, and what is within.
py::tuple run_compare(const Settings& settings, const std::vector<std::string>& budgets,
                      const std::vector<std::string>& methods,
                      const std::vector<std::string>& backbones, std::uint32_t seeds,
                      const std::optional<std::string>& within, const std::string& folder,
                      py::object listener) {
  CompareJob job;
  job.options = options_of(settings);
  for (const std::string& budget : budgets) {
    job.budgets.push_back(options_of({{"budget", budget}}).budget.value());
  }
  job.methods = methods;
  job.backbones = backbones;
  job.seeds = seeds;
  if (within) job.within = parse_percent(*within);
  job.folder = folder;
  FitEvents events(std::move(listener), FitEvents::AtInterrupt::kLeave);
  CompareResult result;
  try {
    const py::gil_scoped_release release;
    CompareCallbacks callbacks;
    callbacks.fit = events.callbacks();
    result = compare(job, callbacks);
  } catch (const Interrupted&) {
    events.rethrow();
    throw;
  }
  py::list cells, failed;
  for (const RunGroup& group : run_groups(result.runs)) cells.append(cell_of(group));
  for (const ComparedRun& run : result.runs) {
    if (!run.error.empty()) failed.append(py::make_tuple(run.folder.string(), run.error));
  }
  return py::make_tuple(result.folder.string(), cells, failed, result.within);
}

int column_of(const std::vector<std::string>& names, std::string_view role) {
  if (role == "user") return find_column(names, ColumnRole::kUser);
  if (role == "item") return find_column(names, ColumnRole::kItem);
  if (role == "rating") return find_column(names, ColumnRole::kRating);
  return find_column(names, ColumnRole::kTime);
}

}  // namespace
}  // namespace bet::python

PYBIND11_MODULE(_train, module) {
  using namespace bet::python;
  translate_errors();
  module.attr("IN_MEMORY") = bet::kInMemory;
  py::class_<bet::RunData, std::shared_ptr<bet::RunData>>(module, "Data")
      .def_property_readonly("hash", [](const bet::RunData& data) { return data.about.hash; });
  module.def("option_table", &option_table);
  module.def("nearest_word", [](std::string_view word, const std::vector<std::string>& words) {
    return bet::nearest_word(word, words);
  });
  module.def("find_column", &column_of);
  module.def("make_data", [](const std::string& name, py::array users, py::object user_categories,
                             py::array items, py::object item_categories, const py::object& ratings,
                             const py::object& times, const Settings& settings) {
    return std::const_pointer_cast<bet::RunData>(
        make_data(name, {std::move(users), std::move(user_categories)},
                  {std::move(items), std::move(item_categories)}, ratings, times, settings));
  });
  module.def("fit", [](const Settings& settings, const std::string& folder, std::string_view mode,
                       const std::shared_ptr<bet::RunData>& data, py::object listener) {
    return run_fit(settings, folder, mode, data, std::move(listener));
  });
  module.def("compare", &run_compare);
}
