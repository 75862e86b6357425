#include "serve/batch_request.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "serve/limits.h"

namespace bet {
namespace {

// Receives the events of nlohmann's parser. Throws at the first one that does not belong.
class BatchReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { wrong("null"); }
  bool boolean(bool value) override {
    if (key_ != "with_seen" || in_list_) wrong(value ? "true" : "false");
    batch_.with_seen = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { wrong(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (key_ != "k" || in_list_) wrong(std::to_string(value));
    batch_.k = checked_k(value);
    return true;
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override { wrong(text); }
  bool string(string_t& value) override {
    if (!in_list_) wrong(in_quotes(value));
    const bool is_user = key_ == "users";
    std::vector<std::string>& list = is_user ? batch_.users : batch_.items;
    const std::size_t limit = is_user ? BatchRequest::kMaxUsers : BatchRequest::kMaxItems;
    BET_CHECK(list.size() < limit, "more than ", limit, ' ', key_, " in one request");
    list.push_back(std::move(value));
    return true;
  }
  bool binary(binary_t& /*value*/) override { wrong("bytes"); }
  bool start_object(std::size_t /*elements*/) override {
    if (in_object_) wrong("an object");
    in_object_ = true;
    return true;
  }
  bool key(string_t& name) override {
    BET_CHECK(name == "users" || name == "items" || name == "k" || name == "with_seen",
              "unknown key ", in_quotes(name), "; there are users, items, k and with_seen");
    for (const std::string& other : keys_) {
      BET_CHECK(other != name, "key ", in_quotes(name), " is given twice");
    }
    keys_.push_back(name);
    key_ = name;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override {
    if (in_list_ || (key_ != "users" && key_ != "items")) wrong("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fail("the body is not valid JSON: error at byte ", position);
  }

  const BatchRequest& batch() const { return batch_; }

 private:
  [[noreturn]] void wrong(std::string_view value) const {
    fail("the body: unexpected ", value, key_.empty() ? "" : " for ", key_,
         "; expected {\"users\": [\"..\"], \"k\": 10} or {\"items\": [\"..\"], \"k\": 10}");
  }

  BatchRequest batch_;
  std::vector<std::string> keys_;
  std::string key_;
  bool in_object_ = false;
  bool in_list_ = false;
};

}  // namespace

BatchRequest parse_batch_request(std::string_view body) {
  BatchReader reader;
  nlohmann::json::sax_parse(body.begin(), body.end(), &reader);
  const BatchRequest& batch = reader.batch();
  BET_CHECK(batch.users.empty() != batch.items.empty(),
            "the body: give either users or items, as a list that is not empty");
  BET_CHECK(!batch.with_seen || batch.items.empty(), "the body: with_seen is only for users");
  return batch;
}

}  // namespace bet
