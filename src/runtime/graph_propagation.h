#pragma once

#include "runtime/interaction_section.h"
#include "runtime/scratch.h"

namespace bet {

// LightGCN for one request, without the vectors of all rows. A is the normalised adjacency.

// weights <- (I + A + .. + A^layers) weights / (layers + 1): the share of every row in the vector
// that is asked for. Only users or only items have weights before.
void spread_weights(const InteractionSection& interactions, int layers, Scratch& scratch);

// scores <- the items' part of (I + A + .. + A^layers) (users, scores) / (layers + 1)
void gather_scores(const InteractionSection& interactions, int layers, Scratch& scratch);

}  // namespace bet
