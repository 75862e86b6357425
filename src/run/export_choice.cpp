#include "run/export_choice.h"

#include "model/backbone.h"

namespace bet {

ExportChoice export_choice(const FitOptions& options, const TablePrecision& trained) {
  const BackboneKind& kind = find_backbone(options.backbone);
  return {.precision = options.precision ? TablePrecision(*options.precision) : trained,
          .materialised = serves_vectors(options),
          .layers_in_vector = kind.layers_in_vector};
}

std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice) {
  if (!choice.materialised) return plan.stored_bytes(choice.precision);
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
