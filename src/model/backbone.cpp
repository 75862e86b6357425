#include "model/backbone.h"

#include "base/error.h"
#include "model/lightgcn.h"
#include "model/mf.h"

namespace bet {

std::unique_ptr<Backbone> make_backbone(std::string_view name, const Graph& graph,
                                        RowPrecision precision) {
  if (name == "mf") return std::make_unique<Mf>();
  if (name == "lightgcn") return std::make_unique<LightGcn>(graph, precision);
  fail("unknown backbone ", in_quotes(name), "; there are mf and lightgcn");
}

}  // namespace bet
