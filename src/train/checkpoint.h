#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "train/metrics.h"

namespace bet {

// Named numbers, texts and float tensors in one checked file: what a run needs to resume to the
// same bits. The format is our own: LibTorch's depends on the file's name and on its version.
//
// Layout, little-endian: "BETCKPT1", u64 bytes of the JSON header, the header {"numbers", "texts",
// "tensors": {name: [rows, columns]}}, the tensors' floats in the order of their names, u64 XXH3 of
// all before it.
struct Checkpoint {
  std::map<std::string, double> numbers;  // integers up to 2^53 are exact
  std::map<std::string, std::string> texts;
  std::map<std::string, at::Tensor> tensors;  // float, two dimensions, on the CPU

  double number(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  const at::Tensor& tensor(const std::string& name) const;
  // Copies a tensor into `to`, on any device. Throws if the shapes differ.
  void copy_tensor(const std::string& name, const at::Tensor& to) const;
};

// Metrics under a name, and back.
void save_metrics(Checkpoint& checkpoint, const std::string& name, const Metrics& metrics);
Metrics read_metrics(const Checkpoint& checkpoint, const std::string& name);

// Replaces an older file as a whole: an interrupted write leaves the older one.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);

// Throws, naming the file, unless it is a complete and undamaged checkpoint.
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace bet
