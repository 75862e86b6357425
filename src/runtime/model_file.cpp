#include "runtime/model_file.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bet {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x89, 'B', 'E', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::uint64_t kHeader = 64;
constexpr std::uint64_t kEntry = 32;
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kChecksumAt = 24;
constexpr std::uint8_t kMostLayers = 16;
constexpr std::uint32_t kWithItemPrecision = 3;  // versions that have it in their header
constexpr std::uint32_t kWithIdForms = 4;
constexpr std::uint32_t kWithListForm = 5;
constexpr std::uint32_t kLastVersion = 5;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// Bytes `begin` to `end` - 1, which the file has.
Bytes part_of(Bytes file, std::uint64_t begin, std::uint64_t end) {
  return file.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

std::uint64_t hash(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// The checksum of header and directory, with its own bytes as zeros.
std::uint64_t head_hash(Bytes head) {
  std::string copy(reinterpret_cast<const char*>(head.data()), head.size());
  std::fill_n(copy.begin() + kChecksumAt, 8, '\0');
  return XXH3_64bits(copy.data(), copy.size());
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::uint8_t choice(ByteReader& reader, std::string_view what, std::size_t count) {
  const auto value = reader.number<std::uint8_t>();
  BET_CHECK(value < count, "header: unknown ", what, " ", int{value});
  return value;
}

FileHeader read_header(ByteReader& reader, std::uint32_t version) {
  FileHeader header;
  header.num_users = reader.number<std::uint32_t>();
  header.num_items = reader.number<std::uint32_t>();
  header.max_dim = reader.number<std::uint32_t>();
  header.backbone = BackboneId{choice(reader, "backbone", kBackboneTraits.size())};
  const BackboneTraits& traits = header.traits();
  BET_CHECK(header.max_dim >= 1 && header.max_dim <= largest_dim(traits.file_version),
            "header: impossible embedding size ", header.max_dim);
  header.serving = Serving{choice(reader, "serving", kServingNames.size())};
  header.precision = Precision{choice(reader, "precision", kPrecisionNames.size())};
  header.layout = RowLayout{choice(reader, "layout", kLayoutNames.size())};
  header.layers = reader.number<std::uint8_t>();
  const bool graph = header.serving == Serving::kGraph;
  BET_CHECK(!graph || traits.uses_graph, "header: serving by graph for ", traits.name);
  // Layers with weights of their own are as many as there are weights for.
  const bool fixed = header.has_weights();
  BET_CHECK(!graph  ? header.layers == 0
            : fixed ? header.layers == traits.layers
                    : header.layers >= 1 && header.layers <= kMostLayers,
            "header: impossible number of layers ", int{header.layers});
  header.score = ScoreKind{choice(reader, "score", kScoreNames.size())};
  BET_CHECK(header.score == ScoreKind::kDot || traits.dot_product, "header: cosines of ",
            traits.name, ", whose scores are not those of two vectors");
  header.item_precision = header.precision;
  if (version >= kWithItemPrecision) {
    header.item_precision = Precision{choice(reader, "item precision", kPrecisionNames.size())};
  }
  if (version >= kWithIdForms) {
    header.user_ids = IdForm{choice(reader, "form of user ids", kIdFormNames.size())};
    header.item_ids = IdForm{choice(reader, "form of item ids", kIdFormNames.size())};
  }
  if (version >= kWithListForm) {
    header.lists = ListForm{choice(reader, "form of interactions", kListFormNames.size())};
  }
  BET_CHECK(version == header.version(), "header: version ", version, " for ", traits.name,
            " with users in ", precision_name(header.precision), " and items in ",
            precision_name(header.item_precision), ", user ids as ", id_form_name(header.user_ids),
            ", item ids as ", id_form_name(header.item_ids), ", interactions as ",
            list_form_name(header.lists));
  BET_CHECK(is_zero(reader.rest()), "header: bytes that must be zero are not");
  return header;
}

// Reads the sections into `parts`.
void read_directory(Bytes file, std::uint32_t count, bool checksums, FileParts& parts) {
  std::uint64_t end = kHeader + kEntry * count;
  ByteReader directory(part_of(file, kHeader, end), "directory");
  std::uint32_t last_kind = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto kind = directory.number<std::uint32_t>();
    BET_CHECK(kind > last_kind && kind <= kLastKind, "directory: section of kind ", kind,
              " after one of kind ", last_kind);
    last_kind = kind;
    BET_CHECK(directory.number<std::uint32_t>() == 0, "directory: bytes that must be zero are not");
    const auto offset = directory.number<std::uint64_t>();
    const auto bytes = directory.number<std::uint64_t>();
    const auto expected = directory.number<std::uint64_t>();
    const std::string_view name = section_name(SectionKind{kind});
    BET_CHECK(offset == aligned(end) && offset <= file.size() && bytes <= file.size() - offset,
              name, ": ", bytes, " bytes at ", offset, " in a file of ", file.size());
    BET_CHECK(is_zero(part_of(file, end, offset)), "bytes before ", name, " are not zero");
    const FileSection section{SectionKind{kind}, part_of(file, offset, offset + bytes)};
    BET_CHECK(!checksums || hash(section.bytes) == expected, "damaged: the checksum of ", name,
              " is wrong");
    parts.padding += offset - end;
    end = offset + bytes;
    parts.sections.push_back(section);
  }
  BET_CHECK(end == file.size(), file.size() - end, " bytes after the last section");
}

void check_presence(const FileParts& parts, SectionKind kind) {
  if (kind == SectionKind::kWeights) {
    BET_CHECK(parts.has(kind) == parts.header.has_weights(),
              parts.has(kind) ? "unexpected" : "missing", " section: weights");
    return;
  }
  const bool needed = kind != SectionKind::kInteractions || parts.header.serving == Serving::kGraph;
  BET_CHECK(!needed || parts.has(kind), "missing section: ", section_name(kind));
  BET_CHECK(kind != SectionKind::kInteractions || parts.has(kind) ||
                parts.header.lists == ListForm::kBytes,
            "header: a form of interactions without interactions");
}

}  // namespace

std::string_view section_name(SectionKind kind) {
  static constexpr std::array<std::string_view, kLastKind> kNames = {
      "facts",     "user ids",   "item ids",     "user rows",
      "item rows", "item norms", "interactions", "weights"};
  return kNames[static_cast<std::size_t>(kind) - 1];
}

std::uint32_t FileHeader::most_columns() const {
  return serving == Serving::kVectors ? (1 + traits().layers_in_vector) * max_dim : max_dim;
}

bool FileHeader::has_weights() const {
  return !traits().weights.empty() && (serving == Serving::kGraph || !traits().dot_product);
}

std::uint32_t FileHeader::version() const {
  if (lists == ListForm::kBits) return kWithListForm;
  if (user_ids == IdForm::kNumbers || item_ids == IdForm::kNumbers) return kWithIdForms;
  const bool is_old = precision == item_precision && precision <= Precision::kInt4;
  return is_old ? traits().file_version : kWithItemPrecision;
}

bool FileParts::has(SectionKind kind) const {
  return std::any_of(sections.begin(), sections.end(),
                     [&](const FileSection& section) { return section.kind == kind; });
}

Bytes FileParts::section(SectionKind kind) const {
  for (const FileSection& section : sections) {
    if (section.kind == kind) return section.bytes;
  }
  return {};
}

void check_first_bytes(Bytes first, std::uint64_t file_bytes) {
  const std::size_t begin = std::min(first.size(), kMagic.size());
  BET_CHECK(begin == 0 || std::memcmp(first.data(), kMagic.data(), begin) == 0,
            "not a bet model file (bad magic)");
  BET_CHECK(first.size() >= kHeader, "not a bet model file: only ", first.size(), " bytes");
  ByteReader reader(first.first(kHeader), "header");
  reader.take(kMagic.size());
  const auto version = reader.number<std::uint32_t>();
  BET_CHECK(version >= 1 && version <= kLastVersion, "version ", version,
            "; this program reads versions 1 to ", kLastVersion);
  const auto count = reader.number<std::uint32_t>();
  BET_CHECK(count <= kLastKind, "header: ", count, " sections");
  const auto written_bytes = reader.number<std::uint64_t>();
  BET_CHECK(written_bytes == file_bytes, "the file has ", file_bytes,
            " bytes, but its header says ", written_bytes);
}

FileParts read_parts(Bytes file, bool checksums) {
  check_first_bytes(file, file.size());
  FileParts parts;
  ByteReader reader(file.first(kHeader), "header");
  reader.take(kMagic.size());
  const auto version = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint32_t>();
  reader.take(sizeof(std::uint64_t));  // the size, which is right
  const auto checksum = reader.number<std::uint64_t>();
  const std::uint64_t head = kHeader + kEntry * count;
  BET_CHECK(head <= file.size(), "the file ends inside its directory");
  BET_CHECK(!checksums || checksum == head_hash(part_of(file, 0, head)),
            "damaged: the checksum of header and directory is wrong");
  parts.header = read_header(reader, version);
  read_directory(file, count, checksums, parts);
  for (std::uint32_t kind = 1; kind <= kLastKind; ++kind) {
    check_presence(parts, SectionKind{kind});
  }
  return parts;
}

std::string assemble_file(const FileHeader& header,
                          const std::vector<std::pair<SectionKind, std::string>>& sections) {
  std::string head;
  for (const unsigned char byte : kMagic) head.push_back(static_cast<char>(byte));
  append(head, header.version());
  append(head, static_cast<std::uint32_t>(sections.size()));
  std::uint64_t end = kHeader + kEntry * sections.size();
  for (const auto& [kind, bytes] : sections) end = aligned(end) + bytes.size();
  append(head, end);
  append(head, std::uint64_t{0});
  append(head, header.num_users);
  append(head, header.num_items);
  append(head, header.max_dim);
  append(head, header.backbone);
  append(head, header.serving);
  append(head, header.precision);
  append(head, header.layout);
  append(head, header.layers);
  append(head, header.score);
  if (header.version() >= kWithItemPrecision) append(head, header.item_precision);
  if (header.version() >= kWithIdForms) {
    append(head, header.user_ids);
    append(head, header.item_ids);
  }
  if (header.version() >= kWithListForm) append(head, header.lists);
  head.resize(kHeader);
  std::uint64_t at = kHeader + kEntry * sections.size();
  for (const auto& [kind, bytes] : sections) {
    at = aligned(at);
    append(head, static_cast<std::uint32_t>(kind));
    append(head, std::uint32_t{0});
    append(head, at);
    append(head, std::uint64_t{bytes.size()});
    append(head, hash(std::as_bytes(std::span(bytes))));
    at += bytes.size();
  }
  const std::uint64_t checksum = head_hash(std::as_bytes(std::span(head)));
  std::memcpy(head.data() + kChecksumAt, &checksum, sizeof(checksum));
  std::string file = std::move(head);
  for (const auto& [kind, bytes] : sections) {
    file.resize(static_cast<std::size_t>(aligned(file.size())));
    file += bytes;
  }
  return file;
}

}  // namespace bet
