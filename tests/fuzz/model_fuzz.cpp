// Arbitrary bytes as a model file (libFuzzer; tools/fuzz.sh runs it). Checksums are not
// checked, so that mutated files reach the checks of their structure. A file must be refused with
// an Error, or every call must return with a possible answer (exercise_model.h).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/exercise_model.h"
#include "runtime/model_file.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bet::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  std::optional<bet::Model> model;
  try {
    model.emplace(bet::Model::from_bytes(bytes, bet::Verify::kStructure));
  } catch (const bet::Error&) {
    return 0;
  }
  bet::test::exercise(*model, bytes, 12);
  return 0;
}

// Every second time one section, or the numbers of the header, are mutated and the file is
// assembled again: otherwise a section that grows would never have a directory that fits.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  const auto plainly = [&] { return LLVMFuzzerMutate(data, size, max_size); };
  if (seed % 2 == 0) return plainly();
  std::string file;
  try {
    const bet::FileParts parts =
        bet::read_parts({reinterpret_cast<const std::byte*>(data), size}, false);
    bet::FileHeader header = parts.header;
    std::vector<std::pair<bet::SectionKind, std::string>> sections;
    for (const bet::FileSection& section : parts.sections) {
      sections.emplace_back(
          section.kind,
          std::string(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()));
    }
    if (sections.empty()) return plainly();
    const std::size_t choice = seed / 2 % (sections.size() + 1);
    if (choice == sections.size()) {
      std::uint32_t numbers[] = {header.num_users, header.num_items, header.max_dim};
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(numbers), sizeof(numbers), sizeof(numbers));
      header.num_users = numbers[0];
      header.num_items = numbers[1];
      header.max_dim = numbers[2];
    } else {
      std::string& bytes = sections[choice].second;
      const std::size_t before = bytes.size();
      bytes.resize(before + 64);
      bytes.resize(
          LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), before, bytes.size()));
    }
    file = bet::assemble_file(header, sections);
  } catch (const bet::Error&) {
    return plainly();
  }
  if (file.size() > max_size) return plainly();
  std::memcpy(data, file.data(), file.size());
  return file.size();
}
