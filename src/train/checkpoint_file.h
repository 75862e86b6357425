#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace bet {

// What a checkpoint file (train/checkpoint.h) has, without the values of its tensors.
struct CheckpointHeader {
  struct Shape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };

  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, Shape> tensors;

  // As in the file, and back; parse() throws on other texts.
  std::string text() const;
  static CheckpointHeader parse(const std::string& text);
};

// Writes a checkpoint whose tensors are never in memory as a whole. Replaces an older file, by
// commit(), or leaves it.
class CheckpointWriter {
 public:
  CheckpointWriter(const CheckpointHeader& header, const std::filesystem::path& path);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // The next values of the tensors, in the order of their names.
  void write(std::span<const float> values);
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

// Reads one in the same way.
class CheckpointReader {
 public:
  // Reads the file once: throws, naming it, unless it is a complete and undamaged checkpoint.
  explicit CheckpointReader(const std::filesystem::path& path);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  const CheckpointHeader& header() const { return header_; }
  // The next values of the tensors, in the order of their names.
  void read(std::span<float> values);

 private:
  struct File;
  std::unique_ptr<File> file_;
  CheckpointHeader header_;
};

}  // namespace bet
