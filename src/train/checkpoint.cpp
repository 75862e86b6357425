#include "train/checkpoint.h"

#include <ATen/ops/empty.h>

#include <span>

#include "base/error.h"
#include "train/checkpoint_file.h"

namespace bet {
namespace {

template <typename Map>
const auto& find(const Map& map, const std::string& name) {
  const auto it = map.find(name);
  BET_CHECK(it != map.end(), "the checkpoint has no ", in_quotes(name));
  return it->second;
}

std::span<float> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

double Checkpoint::number(const std::string& name) const { return find(numbers, name); }
const std::string& Checkpoint::text(const std::string& name) const { return find(texts, name); }
const at::Tensor& Checkpoint::tensor(const std::string& name) const { return find(tensors, name); }

void Checkpoint::copy_tensor(const std::string& name, const at::Tensor& to) const {
  const at::Tensor& from = tensor(name);
  BET_CHECK(from.sizes() == to.sizes(), "checkpoint of another plan: ", in_quotes(name), " has ",
            from.size(0), " x ", from.size(1), " values, not ", to.size(0), " x ", to.size(1));
  to.copy_(from);
}

void save_metrics(Checkpoint& checkpoint, const std::string& name, const Metrics& metrics) {
  checkpoint.numbers[name + " users"] = static_cast<double>(metrics.num_users);
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    checkpoint.numbers[str_cat(name, " recall@", kCutoffs[i])] = metrics.recall[i];
    checkpoint.numbers[str_cat(name, " ndcg@", kCutoffs[i])] = metrics.ndcg[i];
  }
}

Metrics read_metrics(const Checkpoint& checkpoint, const std::string& name) {
  Metrics metrics;
  metrics.num_users = static_cast<std::uint64_t>(checkpoint.number(name + " users"));
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    metrics.recall[i] = checkpoint.number(str_cat(name, " recall@", kCutoffs[i]));
    metrics.ndcg[i] = checkpoint.number(str_cat(name, " ndcg@", kCutoffs[i]));
  }
  return metrics;
}

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  CheckpointHeader header{checkpoint.numbers, checkpoint.texts, {}};
  for (const auto& [name, tensor] : checkpoint.tensors) {
    BET_CHECK(tensor.is_cpu() && tensor.dim() == 2 && tensor.is_contiguous(), "tensor ",
              in_quotes(name), " cannot be kept in a checkpoint");
    header.tensors[name] = {tensor.size(0), tensor.size(1)};
  }
  CheckpointWriter writer(header, path);
  for (const auto& [name, tensor] : checkpoint.tensors) writer.write(values_of(tensor));
  writer.commit();
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  CheckpointReader reader(path);
  Checkpoint checkpoint{reader.header().numbers, reader.header().texts, {}};
  for (const auto& [name, shape] : reader.header().tensors) {
    const at::Tensor tensor = at::empty({shape.rows, shape.columns}, at::kFloat);
    reader.read(values_of(tensor));
    checkpoint.tensors[name] = tensor;
  }
  return checkpoint;
}

}  // namespace bet
