#include "run/export_choice.h"

#include "model/backbone.h"

namespace bet {

ExportChoice export_choice(const FitOptions& options, const TablePrecision& trained,
                           StoredForm form) {
  const BackboneKind& kind = find_backbone(options.backbone);
  return {
      .precision = options.precision ? TablePrecision(*options.precision) : trained,
      .materialised = options.materialised ? serves_vectors(options) : form == StoredForm::kVectors,
      .layers_in_vector = kind.layers_in_vector,
      .with_seen = options.seen != SeenItems::kDrop};
}

std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice) {
  const bool as_planned = choice.materialised == (plan.form() == StoredForm::kVectors);
  if (as_planned) return plan.stored_bytes(choice.precision);
  if (!choice.materialised) {
    // Rows of a table behind vectors have all columns.
    return equal_plan(plan.shape(), plan.shape().total_size(plan.width()))
        .stored_bytes(choice.precision);
  }
  TableShape vectors = plan.shape();
  vectors.max_dim *= 1 + choice.layers_in_vector;
  const std::uint64_t width =
      plan.width() + std::uint64_t{choice.layers_in_vector} * plan.shape().max_dim;
  const auto side_bytes = [&](std::uint64_t rows, Precision precision) {
    return rows * row_bytes(precision, width);
  };
  return vectors.directory_bytes() + side_bytes(vectors.num_users, choice.precision.users) +
         side_bytes(vectors.num_items, choice.precision.items);
}

}  // namespace bet
