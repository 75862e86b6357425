// What js/index.js calls: one model in one instance of the module, which is gone with it. A call
// takes a request that JavaScript has written to request_memory() and returns 0, or 1 + the number
// of an ErrorKind; the answer, or the text of the error, is at answer_data().
//
// Requests and answers are sequences of little-endian numbers and texts (u32 size, bytes). A list
// is a u32 count and its elements.

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bet/model.h"
#include "runtime/bytes.h"

#define BET_WASM_EXPORT(name) __attribute__((export_name(name)))

namespace bet {
namespace {

// Bytes that JavaScript fills: not filled with zeros before, which would take as long as opening.
class Buffer {
 public:
  // Null where there is no memory; the bytes from before are gone in any case.
  std::byte* resize(std::uint32_t size) noexcept {
    bytes_.reset();
    bytes_.reset(new (std::nothrow) std::byte[size]);
    size_ = bytes_ == nullptr ? 0 : size;
    return bytes_.get();
  }
  Bytes bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

// Of one instance; there are no threads.
Buffer file;
Buffer request;
std::optional<Model> opened;
std::string answer;  // NOLINT(cert-err58-cpp): an empty string throws nothing

void append_text(std::string_view text) {
  append(answer, static_cast<std::uint32_t>(text.size()));
  answer += text;
}

void append_items(const std::vector<ScoredItem>& items) {
  append(answer, static_cast<std::uint32_t>(items.size()));
  for (const ScoredItem& item : items) {
    append(answer, item.score);
    append_text(item.item);
  }
}

void append_counts(const std::vector<std::uint32_t>& counts) {
  append(answer, static_cast<std::uint32_t>(counts.size()));
  for (const std::uint32_t count : counts) append(answer, count);
}

// JavaScript's numbers are doubles.
void append_number(std::uint64_t number) { append(answer, static_cast<double>(number)); }

std::string_view take_text(ByteReader& reader) {
  return reader.text(reader.number<std::uint32_t>());
}

std::vector<std::string_view> take_texts(ByteReader& reader) {
  std::vector<std::string_view> texts;
  for (auto count = reader.number<std::uint32_t>(); count > 0; --count) {
    texts.push_back(take_text(reader));
  }
  return texts;
}

const Model& model() {
  BET_CHECK(opened, "no model is open");
  return *opened;
}

// u32 k, u8 whether items that were seen are wanted, f32 least score, list of texts: items not
// wanted, u8 whether there is a list of the only items wanted, that list.
struct Options {
  explicit Options(ByteReader& reader) : k(reader.number<std::uint32_t>()) {
    filter.seen = reader.number<std::uint8_t>() != 0 ? Seen::kKeep : Seen::kLeaveOut;
    filter.min_score = reader.number<float>();
    exclude = model().item_set(take_texts(reader));
    filter.exclude = &exclude;
    if (reader.number<std::uint8_t>() == 0) return;
    only = model().item_set(take_texts(reader));
    filter.only = &only;
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  std::size_t k;
  ItemSet exclude, only;
  ItemFilter filter;
};

int failed(ErrorKind kind, const char* text) noexcept {
  try {
    answer = text;
  } catch (const std::bad_alloc&) {
    answer.clear();
  }
  return 1 + static_cast<int>(kind);
}

// Runs call(reader of the request); exceptions become codes.
template <typename Call>
int guarded(const Call& call) noexcept {
  try {
    answer.clear();
    ByteReader reader(request.bytes(), "request");
    call(reader);
    return 0;
  } catch (const Error& error) {
    return failed(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(ErrorKind::kInternal, "out of memory");
  } catch (const std::exception& error) {  // a length that no memory has
    return failed(ErrorKind::kInternal, error.what());
  }
}

// The ids of a side that begin with a text: as many as are asked for, and how many there are.
template <typename IdOf>
void append_ids(ByteReader& reader, std::uint32_t num_rows, const IdOf& id_of) {
  const std::string_view prefix = take_text(reader);
  const auto limit = reader.number<std::uint32_t>();
  std::uint32_t total = 0;
  append(answer, std::uint32_t{0});
  std::uint32_t listed = 0;
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    const std::string_view id = id_of(row);
    if (!id.starts_with(prefix)) continue;
    ++total;
    if (listed == limit) continue;
    ++listed;
    append_text(id);
  }
  std::memcpy(answer.data(), &listed, sizeof(listed));
  append(answer, total);
}

void append_facts() {
  append(answer, static_cast<std::uint32_t>(model().facts().size()));
  for (const auto& [name, fact] : model().facts()) {
    append_text(name);
    append(answer, static_cast<std::uint8_t>(fact.index()));
    if (const auto* text = std::get_if<std::string>(&fact)) {
      append_text(*text);
    } else if (const auto* integer = std::get_if<std::int64_t>(&fact)) {
      append(answer, static_cast<double>(*integer));
    } else {
      append(answer, std::get<double>(fact));
    }
  }
}

void append_info() {
  const Model::Summary summary = model().summary();
  for (const std::string_view text : {summary.backbone, summary.serving, summary.precision,
                                      summary.item_precision, summary.layout, summary.score}) {
    append_text(text);
  }
  for (const std::uint64_t number :
       {std::uint64_t{model().num_users()}, std::uint64_t{model().num_items()},
        summary.interactions, std::uint64_t{model().dimension()},
        std::uint64_t{model().row_width()}, std::uint64_t{summary.max_dim}, summary.params,
        summary.table_bytes, summary.file_bytes, summary.opened_bytes}) {
    append_number(number);
  }
  const std::vector<Model::Part> parts = model().parts();
  append(answer, static_cast<std::uint32_t>(parts.size()));
  for (const Model::Part& part : parts) {
    append_text(part.name);
    append_number(part.bytes);
  }
  append_counts(summary.user_sizes);
  append_counts(summary.item_sizes);
  const std::uint32_t num_examples = model().num_users() > 0 ? 1 : 0;
  append(answer, num_examples);
  if (num_examples > 0) append_text(model().user_id(0));
  append_facts();
}

}  // namespace

// Where JavaScript puts the file; null where there is no memory for it.
BET_WASM_EXPORT("file_memory") std::byte* file_memory(std::uint32_t size) {
  return file.resize(size);
}

BET_WASM_EXPORT("request_memory") std::byte* request_memory(std::uint32_t size) {
  return request.resize(size);
}

BET_WASM_EXPORT("answer_data") const char* answer_data() { return answer.data(); }
BET_WASM_EXPORT("answer_size") std::uint32_t answer_size() {
  return static_cast<std::uint32_t>(answer.size());
}

BET_WASM_EXPORT("open") int open_file() {
  return guarded([](ByteReader&) { opened.emplace(Model::from_bytes(file.bytes())); });
}

// Options, text user; the answer is a list of f32 score, text item.
BET_WASM_EXPORT("recommend") int recommend() {
  return guarded([](ByteReader& reader) {
    const Options options(reader);
    append_items(model().recommend(take_text(reader), options.k, options.filter));
  });
}

// Options, list of texts.
BET_WASM_EXPORT("recommend_for") int recommend_for() {
  return guarded([](ByteReader& reader) {
    const Options options(reader);
    std::vector<std::string_view> unknown;
    append_items(
        model().recommend_for_known_items(take_texts(reader), options.k, unknown, options.filter));
  });
}

// Options, text item.
BET_WASM_EXPORT("similar") int similar() {
  return guarded([](ByteReader& reader) {
    const Options options(reader);
    append_items(model().similar_items(take_text(reader), options.k, options.filter));
  });
}

// Options.
BET_WASM_EXPORT("popular") int popular() {
  return guarded([](ByteReader& reader) {
    const Options options(reader);
    append_items(model().popular_items(options.k, options.filter));
  });
}

// Text user, list of texts; the answer is an f32 for each, NaN for unknown items.
BET_WASM_EXPORT("scores") int scores() {
  return guarded([](ByteReader& reader) {
    const std::string_view user = take_text(reader);
    for (const float score : model().scores(user, take_texts(reader))) append(answer, score);
  });
}

// Text user; the answer is a list of texts.
BET_WASM_EXPORT("seen") int seen() {
  return guarded([](ByteReader& reader) {
    const std::vector<std::string_view> items = model().seen_items(take_text(reader));
    append(answer, static_cast<std::uint32_t>(items.size()));
    for (const std::string_view item : items) append_text(item);
  });
}

// Text; the answer is u8: 1 for a known user, or item.
BET_WASM_EXPORT("has_user") int has_user() {
  return guarded([](ByteReader& reader) {
    append(answer, static_cast<std::uint8_t>(model().has_user(take_text(reader))));
  });
}
BET_WASM_EXPORT("has_item") int has_item() {
  return guarded([](ByteReader& reader) {
    append(answer, static_cast<std::uint8_t>(model().has_item(take_text(reader))));
  });
}

// Text prefix, u32 limit; the answer is a list of texts and the u32 number of all such ids.
BET_WASM_EXPORT("users") int users() {
  return guarded([](ByteReader& reader) {
    append_ids(reader, model().num_users(), [](std::uint32_t row) { return model().user_id(row); });
  });
}
BET_WASM_EXPORT("items") int items() {
  return guarded([](ByteReader& reader) {
    append_ids(reader, model().num_items(), [](std::uint32_t row) { return model().item_id(row); });
  });
}

// The answer: see append_info().
BET_WASM_EXPORT("info") int info() {
  return guarded([](ByteReader&) { append_info(); });
}

}  // namespace bet
