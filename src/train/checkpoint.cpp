#include "train/checkpoint.h"

#include <ATen/ops/empty.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "BETCKPT1";

template <typename Map>
const auto& find(const Map& map, const std::string& name) {
  const auto it = map.find(name);
  BET_CHECK(it != map.end(), "the checkpoint has no ", in_quotes(name));
  return it->second;
}

std::string_view bytes_of(const at::Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data_ptr<float>()),
          static_cast<std::size_t>(tensor.numel()) * sizeof(float)};
}

void append_u64(std::string& text, std::uint64_t value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::uint64_t u64_at(const std::string& text, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, text.data() + offset, sizeof(value));
  return value;
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
  Json header = {{"numbers", checkpoint.numbers}, {"texts", checkpoint.texts}, {"tensors", {}}};
  for (const auto& [name, tensor] : checkpoint.tensors) {
    BET_CHECK(tensor.is_cpu() && tensor.dim() == 2 && tensor.is_contiguous(), "tensor ",
              in_quotes(name), " cannot be kept in a checkpoint");
    header["tensors"][name] = {tensor.size(0), tensor.size(1)};
  }
  const std::string text = header.dump();
  std::string head(kMagic);
  append_u64(head, text.size());
  head += text;

  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  AtomicFile file(path);
  const auto write = [&](std::string_view bytes) {
    XXH3_64bits_update(&state, bytes.data(), bytes.size());
    file.write(bytes);
  };
  write(head);
  for (const auto& [name, tensor] : checkpoint.tensors) write(bytes_of(tensor));
  std::string tail;
  append_u64(tail, XXH3_64bits_digest(&state));
  file.write(tail);
  file.commit();
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
  std::ostringstream stream;
  stream << in.rdbuf();
  const std::string bytes = std::move(stream).str();
  constexpr std::size_t kHead = kMagic.size() + sizeof(std::uint64_t);
  constexpr std::size_t kTail = sizeof(std::uint64_t);
  BET_CHECK(bytes.size() >= kHead + kTail && bytes.starts_with(kMagic), path.string(),
            ": not a checkpoint");
  BET_CHECK(u64_at(bytes, bytes.size() - kTail) == XXH3_64bits(bytes.data(), bytes.size() - kTail),
            path.string(), ": damaged checkpoint (wrong checksum)");
  const std::uint64_t header_bytes = u64_at(bytes, kMagic.size());
  BET_CHECK(header_bytes <= bytes.size() - kHead - kTail, path.string(), ": damaged checkpoint");
  Checkpoint checkpoint;
  std::size_t offset = kHead + header_bytes;
  try {
    const Json header =
        Json::parse(bytes.begin() + kHead, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    checkpoint.numbers = header.at("numbers").get<std::map<std::string, double>>();
    checkpoint.texts = header.at("texts").get<std::map<std::string, std::string>>();
    for (const auto& [name, shape] : header.at("tensors").items()) {
      const at::Tensor tensor =
          at::empty({shape.at(0).get<std::int64_t>(), shape.at(1).get<std::int64_t>()}, at::kFloat);
      const std::size_t size = static_cast<std::size_t>(tensor.numel()) * sizeof(float);
      BET_CHECK(size <= bytes.size() - kTail - offset, path.string(), ": damaged checkpoint");
      std::memcpy(tensor.data_ptr<float>(), bytes.data() + offset, size);
      offset += size;
      checkpoint.tensors[name] = tensor;
    }
  } catch (const Json::exception& error) {
    fail(path.string(), ": damaged checkpoint: ", error.what());
  }
  return checkpoint;
}

}  // namespace bet
