// bet._runtime: model files, without LibTorch.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "errors.h"
#include "opened_model.h"
#include "serve/bulk_recommend.h"

namespace py = pybind11;

namespace bet::python {
namespace {

MissingUser missing_of(std::string_view name) {
  if (name == "raise") return MissingUser::kRaise;
  if (name == "empty") return MissingUser::kEmpty;
  if (name == "popular") return MissingUser::kPopular;
  fail("missing=", in_quotes(name), ": it is 'raise', 'empty' or 'popular'");
}

// An array that owns these values.
py::array_t<float> array_of(std::vector<float>&& values, std::vector<py::ssize_t> shape) {
  auto* const kept = new std::vector<float>(std::move(values));
  const py::capsule owner(kept,
                          [](void* pointer) { delete static_cast<std::vector<float>*>(pointer); });
  return py::array_t<float>(std::move(shape), kept->data(), owner);
}

// The vectors of a side, [rows, dimension]: a view of the file, which keeps it open, where it has
// them as they are.
py::array vectors_of(const std::shared_ptr<OpenedModel>& opened, bool of_users) {
  const Model& model = opened->model();
  const std::vector<py::ssize_t> shape = {of_users ? model.num_users() : model.num_items(),
                                          model.dimension()};
  const std::span<const float> stored =
      of_users ? model.stored_user_vectors() : model.stored_item_vectors();
  if (stored.empty()) {
    std::vector<float> values;
    {
      const py::gil_scoped_release release;
      values = of_users ? model.user_vectors() : model.item_vectors();
    }
    return array_of(std::move(values), shape);
  }
  py::array_t<float> view(shape, stored.data(), py::cast(opened));
  view.attr("flags").attr("writeable") = false;  // the mapped file can only be read
  return view;
}

py::dict facts_of(const Model& model) {
  py::dict facts;
  for (const auto& [name, fact] : model.facts()) {
    facts[py::str(name)] = std::visit([](const auto& value) { return py::cast(value); }, fact);
  }
  return facts;
}

py::dict summary_of(const OpenedModel& opened) {
  const Model& model = opened.model();
  const Model::Summary summary = model.summary();
  py::dict parts;
  for (const Model::Part& part : model.parts()) parts[py::str(part.name)] = part.bytes;
  using py::operator""_a;
  return py::dict("users"_a = model.num_users(), "items"_a = model.num_items(),
                  "interactions"_a = summary.interactions, "dimension"_a = model.dimension(),
                  "backbone"_a = summary.backbone, "serving"_a = summary.serving,
                  "score"_a = summary.score, "precision"_a = summary.precision,
                  "item_precision"_a = summary.item_precision, "params"_a = summary.params,
                  "file_bytes"_a = summary.file_bytes, "table_bytes"_a = summary.table_bytes,
                  "opened_bytes"_a = summary.opened_bytes, "parts"_a = parts,
                  "facts"_a = facts_of(model));
}

std::size_t write_all(const OpenedModel& opened, const std::string& path, std::size_t k,
                      const std::optional<std::vector<std::string>>& only,
                      const std::vector<std::string>& exclude, std::optional<float> min_score,
                      bool include_seen, std::size_t threads) {
  BET_CHECK(k > 0, "k is 0");
  const py::gil_scoped_release release;
  BulkOptions options;
  options.out = path;
  options.threads = threads;
  options.answer.k = k;
  options.answer.only = only;
  options.answer.exclude = exclude;
  options.answer.min_score = min_score;
  options.answer.include_seen = include_seen;
  return recommend_in_bulk({opened.shared(), {}}, options).users;
}

using Class = py::class_<OpenedModel, std::shared_ptr<OpenedModel>>;

void add_answers(Class& model) {
  model.def("recommend", [](const OpenedModel& self, py::handle user, std::size_t k,
                            py::object only, py::object exclude, std::optional<float> min_score,
                            bool include_seen, std::string_view missing) {
    return self.recommend(user, k, {std::move(only), std::move(exclude), min_score, include_seen},
                          missing_of(missing));
  });
  model.def(
      "recommend_many", [](const OpenedModel& self, py::handle users, std::size_t k,
                           py::object only, py::object exclude, std::optional<float> min_score,
                           bool include_seen, std::string_view missing, std::size_t threads) {
        return self.recommend_many(users, k,
                                   {std::move(only), std::move(exclude), min_score, include_seen},
                                   missing_of(missing), threads);
      });
  model.def("recommend_rows", [](const OpenedModel& self, std::uint32_t first, std::uint32_t count,
                                 std::size_t k, py::object only, py::object exclude,
                                 std::optional<float> min_score, bool include_seen,
                                 std::size_t threads) {
    return self.recommend_rows(
        first, count, k, {std::move(only), std::move(exclude), min_score, include_seen}, threads);
  });
  model.def("recommend_for", [](const OpenedModel& self, py::handle items, std::size_t k,
                                py::object only, py::object exclude, std::optional<float> min_score,
                                bool include_seen, bool ignore_unknown) {
    return self.recommend_for(
        items, k, {std::move(only), std::move(exclude), min_score, include_seen}, ignore_unknown);
  });
  model.def("similar", [](const OpenedModel& self, py::handle item, std::size_t k, py::object only,
                          py::object exclude, std::optional<float> min_score) {
    return self.similar(item, k, {std::move(only), std::move(exclude), min_score, false});
  });
  model.def("popular",
            [](const OpenedModel& self, std::size_t k, py::object only, py::object exclude) {
              return self.popular(k, {std::move(only), std::move(exclude), std::nullopt, false});
            });
}

void add_values(Class& model) {
  model.def("scores", &OpenedModel::scores);
  model.def("seen", &OpenedModel::seen);
  model.def("user_ids", &OpenedModel::user_ids);
  model.def("item_ids", &OpenedModel::item_ids);
  model.def("has_user", [](const OpenedModel& self, py::handle user) {
    return self.model().has_user(id_text(user));
  });
  model.def("has_item", [](const OpenedModel& self, py::handle item) {
    return self.model().has_item(id_text(item));
  });
  model.def("user_vector", [](const OpenedModel& self, py::handle user) {
    std::vector<float> vector = self.model().user_vector(id_text(user));
    const auto size = static_cast<py::ssize_t>(vector.size());
    return array_of(std::move(vector), {size});
  });
  model.def("item_vector", [](const OpenedModel& self, py::handle item) {
    std::vector<float> vector = self.model().item_vector(id_text(item));
    const auto size = static_cast<py::ssize_t>(vector.size());
    return array_of(std::move(vector), {size});
  });
  model.def("user_vectors",
            [](const std::shared_ptr<OpenedModel>& self) { return vectors_of(self, true); });
  model.def("item_vectors",
            [](const std::shared_ptr<OpenedModel>& self) { return vectors_of(self, false); });
  model.def("summary", &summary_of);
  model.def("write_all",
            [](const OpenedModel& self, const std::string& path, std::size_t k,
               const py::object& only, const py::object& exclude, std::optional<float> min_score,
               bool include_seen, std::size_t threads) {
              const auto texts = [](const py::object& ids) {
                const IdTexts given(ids);
                return std::vector<std::string>(given.views().begin(), given.views().end());
              };
              std::optional<std::vector<std::string>> chosen;
              if (!only.is_none()) chosen = texts(only);
              return write_all(self, path, k, chosen,
                               exclude.is_none() ? std::vector<std::string>() : texts(exclude),
                               min_score, include_seen, threads);
            });
  model.def("item_set", [](const OpenedModel& self, py::handle items, bool often) {
    const IdTexts ids(items);
    const py::gil_scoped_release release;
    return self.model().item_set(ids.views(), often ? Model::Use::kOften : Model::Use::kOnce);
  });
}

}  // namespace
}  // namespace bet::python

PYBIND11_MODULE(_runtime, module) {
  using namespace bet::python;
  translate_errors();
  prepare_id_arrays();
  module.attr("__version__") = BET_VERSION;
  py::class_<bet::ItemSet>(module, "ItemSet", "Items that were looked up once, for many requests.")
      .def("__len__", &bet::ItemSet::size);
  Class model(module, "OpenedModel");
  model.def(py::init([](const std::string& path, bool verify) {
    return std::make_shared<OpenedModel>(path,
                                         verify ? bet::Verify::kAll : bet::Verify::kStructure);
  }));
  model.def_property_readonly("path", &OpenedModel::path);
  model.def_property_readonly("num_users",
                              [](const OpenedModel& self) { return self.model().num_users(); });
  model.def_property_readonly("num_items",
                              [](const OpenedModel& self) { return self.model().num_items(); });
  model.def_property_readonly("dimension",
                              [](const OpenedModel& self) { return self.model().dimension(); });
  add_answers(model);
  add_values(model);
}
