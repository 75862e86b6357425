#include "train/checkpoint_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "BETCKPT1";
constexpr std::uint64_t kHead = kMagic.size() + sizeof(std::uint64_t);
constexpr std::uint64_t kTail = sizeof(std::uint64_t);

std::string_view bytes_of(const std::uint64_t& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

std::string CheckpointHeader::text() const {
  Json header = {{"numbers", numbers}, {"texts", texts}, {"tensors", {}}};
  for (const auto& [name, shape] : tensors) header["tensors"][name] = {shape.rows, shape.columns};
  return header.dump();
}

CheckpointHeader CheckpointHeader::parse(const std::string& text) {
  CheckpointHeader header;
  try {
    const Json json = Json::parse(text);
    header.numbers = json.at("numbers").get<std::map<std::string, double>>();
    header.texts = json.at("texts").get<std::map<std::string, std::string>>();
    for (const auto& [name, shape] : json.at("tensors").items()) {
      header.tensors[name] = {shape.at(0).get<std::int64_t>(), shape.at(1).get<std::int64_t>()};
    }
  } catch (const Json::exception& error) {
    fail("damaged checkpoint: ", error.what());
  }
  return header;
}

struct CheckpointWriter::File {
  explicit File(const std::filesystem::path& path) : file(path) { XXH3_64bits_reset(&hash); }

  void write(std::string_view bytes) {
    XXH3_64bits_update(&hash, bytes.data(), bytes.size());
    file.write(bytes);
  }

  AtomicFile file;
  XXH3_state_t hash;
};

CheckpointWriter::CheckpointWriter(const CheckpointHeader& header,
                                   const std::filesystem::path& path)
    : file_(std::make_unique<File>(path)) {
  const std::string text = header.text();
  file_->write(kMagic);
  file_->write(bytes_of(text.size()));
  file_->write(text);
}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::write(std::span<const float> values) {
  file_->write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void CheckpointWriter::commit() {
  file_->file.write(bytes_of(XXH3_64bits_digest(&file_->hash)));
  file_->file.commit();
}

struct CheckpointReader::File {
  explicit File(std::filesystem::path of) : path(std::move(of)), in(path, std::ios::binary) {
    BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
    in.seekg(0, std::ios::end);
    size = static_cast<std::uint64_t>(in.tellg());
    in.seekg(0);
  }

  void read(void* out, std::uint64_t bytes) {
    in.read(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
    BET_CHECK(in.good(), path.string(), ": cannot read: ", system_message());
  }

  std::uint64_t read_number() {
    std::uint64_t value = 0;
    read(&value, sizeof(value));
    return value;
  }

  // The file begins as a checkpoint does, and its last bytes are the hash of all others.
  void check() {
    std::string magic(kMagic.size(), 0);
    if (size >= kHead + kTail) read(magic.data(), magic.size());
    BET_CHECK(magic == kMagic, path.string(), ": not a checkpoint");
    in.seekg(0);
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    std::vector<char> block(std::size_t{1} << 20);
    for (std::uint64_t left = size - kTail; left > 0;) {
      const std::uint64_t bytes = std::min<std::uint64_t>(left, block.size());
      read(block.data(), bytes);
      XXH3_64bits_update(&hash, block.data(), bytes);
      left -= bytes;
    }
    BET_CHECK(read_number() == XXH3_64bits_digest(&hash), path.string(),
              ": damaged checkpoint (wrong checksum)");
  }

  std::filesystem::path path;
  std::ifstream in;
  std::uint64_t size = 0;
};

CheckpointReader::CheckpointReader(const std::filesystem::path& path)
    : file_(std::make_unique<File>(path)) {
  file_->check();
  file_->in.seekg(kMagic.size());
  const std::uint64_t header_bytes = file_->read_number();
  BET_CHECK(header_bytes <= file_->size - kHead - kTail, path.string(), ": damaged checkpoint");
  std::string text(header_bytes, 0);
  file_->read(text.data(), text.size());
  try {
    header_ = CheckpointHeader::parse(text);
  } catch (const Error& error) {
    fail(path.string(), ": ", error.what());
  }
  std::uint64_t left = file_->size - kHead - header_bytes - kTail;
  for (const auto& [name, shape] : header_.tensors) {
    const bool fits = shape.rows >= 0 && shape.columns >= 0 &&
                      (shape.columns == 0 || static_cast<std::uint64_t>(shape.rows) <=
                                                 left / sizeof(float) / shape.columns);
    BET_CHECK(fits, path.string(), ": damaged checkpoint");
    left -= sizeof(float) * static_cast<std::uint64_t>(shape.rows * shape.columns);
  }
}

CheckpointReader::~CheckpointReader() = default;

void CheckpointReader::read(std::span<float> values) {
  file_->read(values.data(), values.size_bytes());
}

}  // namespace bet
