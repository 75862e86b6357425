#pragma once

#include <string>
#include <vector>

#include "bet/model.h"
#include "runtime/bytes.h"
#include "runtime/model_file.h"

namespace bet {

// The weights section of ngcf by graph and of ncf. Their names and shapes follow from the header
// and from W, the columns of a row that the weights take (docs/format.md).

// W of a complete set of weights; throws if the matrix that tells it is missing or too large.
std::uint32_t weights_width(const FileHeader& header, const std::vector<DenseWeights>& weights);

// Takes the weights in any order. Throws unless they are exactly those of the header's model, all
// finite.
std::string encode_weights(std::vector<DenseWeights> weights, const FileHeader& header);
// Returns them by ascending name. Throws unless every rule of docs/format.md holds.
std::vector<DenseWeights> decode_weights(Bytes bytes, const FileHeader& header);
// The values of the matrix of this name, which must be there.
const std::vector<float>& named_weights(const std::vector<DenseWeights>& weights,
                                        std::string_view name);
// The bytes that a matrix takes in the section, by the weight_precision() of the file.
std::uint64_t weights_bytes(const DenseWeights& weights, Precision precision);

// The weights as they would be read back from a file of this weight_precision(): in fp32 as they
// are, else rounded to fp16.
void round_as_stored(DenseWeights& weights, Precision precision);

}  // namespace bet
