// A served model that takes events: what requests know, and when files are written.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "bet/update.h"
#include "runtime/load_model_file.h"
#include "serve/answer.h"
#include "serve/handlers.h"
#include "serve/served_model.h"
#include "serve/served_toy.h"
#include "support/expect_error.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::TempFolder;
using Json = nlohmann::ordered_json;

// What another thread has said.
class Texts {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Waits for something that another thread does; false if it does not within a minute.
template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A model file, its log, and the handlers over both, as `bet-serve http --allow-updates` has them.
class LiveServer {
 public:
  explicit LiveServer(const std::string& path) : LiveServer(ModelFiles{path, {}}) {}
  explicit LiveServer(const ModelFiles& files)
      : log(files.model + ".events"),
        model(files,
              {[this](const std::string& error) { reloads.add(error); },
               [this](bool good, const std::string& text) {
                 (good ? compactions : problems).add(text);
               }},
              &log),
        handlers([this] { return model.current(); }, metrics, {},
                 [this](const std::vector<Event>& events) {
                   const std::size_t added = log.add(events);
                   if (adds_soon) model.add_events_soon();
                   return added;
                 }) {}

  HttpResponse ask(const std::string& method, const std::string& path, const std::string& query,
                   const Json& body = {}) const {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.content_type = "application/json";
    if (!body.is_null()) request.body = json_text(body);
    return handlers.answer(request);
  }
  HttpResponse post(const std::string& user, const std::vector<std::string>& items) const {
    return ask("POST", "/events", "", {{"user", user}, {"items", items}});
  }
  Json recommend(const std::string& query) const {
    return Json::parse(ask("GET", "/recommend", query).body);
  }
  std::set<std::string> seen(const std::string& user) const {
    return Json::parse(ask("GET", "/seen", "user=" + user).body)["items"];
  }
  // Waits until the vectors have all events.
  bool is_settled() {
    model.add_events_soon();
    return comes_true([&] { return log.status().waiting == 0; });
  }

  bool adds_soon = false;  // false: only is_settled() has the model built
  Texts reloads, compactions, problems;
  Metrics metrics;
  EventLog log;
  ServedModel model;
  Handlers handlers;
};

class LiveModel : public testing::Test {
 protected:
  std::string write_model(const test::ToyOptions& options, const Facts& facts = {}) const {
    test::ToyModel toy(options);
    if (!facts.empty()) toy.model.facts = facts;
    return folder_.write("m.bet", toy.encode());
  }
  const TempFolder folder_;
};

std::set<std::string> ids_of(const Json& answer) {
  std::set<std::string> ids;
  for (const Json& item : answer["items"]) ids.insert(item["item"].get<std::string>());
  return ids;
}

TEST_F(LiveModel, ListsAndTitlesAreThoseOfTheLastReload) {
  const std::string path = write_model(test::toy_graph(2));
  std::string user;
  std::string item;
  {
    const std::shared_ptr<const Model> model = load_model_file(path);
    user = model->user_id(0);
    item = model->recommend(user, 1)[0].item;
  }
  const std::string list = folder_.write("list.txt", item + "\nfresh\n");
  const std::string titles = folder_.write("titles.csv", "id,title\n" + item + ",The First\n");
  LiveServer server(ModelFiles{path, {{"some", list}}, titles});
  std::filesystem::remove(list);
  folder_.write("titles.csv", "id,title\n" + item + ",The Second\n");

  server.post("newbie", {"fresh"});
  ASSERT_TRUE(server.is_settled());
  EXPECT_TRUE(server.problems.all().empty());
  const Json answer = server.recommend("only_list=some&user=" + user);
  EXPECT_EQ(ids_of(answer), (std::set<std::string>{item, "fresh"}));
  for (const Json& entry : answer["items"]) {
    if (entry["item"] == item) {
      EXPECT_EQ(entry["title"], "The First");
    }
  }
}

TEST_F(LiveModel, TheNextAnswerKnowsTheEvents) {
  for (const test::ToyOptions& kind : {test::toy_graph(2), test::ToyOptions(), test::toy_ncf()}) {
    LiveServer server(write_model(kind));
    const std::string user(server.model.current()->model->user_id(0));
    const std::string best = server.recommend("user=" + user)["items"][0]["item"];
    const HttpResponse added = server.post(user, {best, "fresh"});
    EXPECT_EQ(added.body, json_text({{"user", user}, {"added", 2}, {"known", 0}}) + "\n");
    EXPECT_EQ(server.post(user, {best}).body,
              json_text({{"user", user}, {"added", 0}, {"known", 1}}) + "\n");

    EXPECT_FALSE(ids_of(server.recommend("k=100&user=" + user)).contains(best));
    EXPECT_TRUE(ids_of(server.recommend("k=100&include_seen=1&user=" + user)).contains(best));
    EXPECT_TRUE(server.seen(user).contains(best) && server.seen(user).contains("fresh"));
    const Json batch = Json::parse(
        server.ask("POST", "/recommend", "", {{"users", {user, "nobody"}}, {"k", 100}}).body);
    EXPECT_FALSE(ids_of(batch["answers"][0]).contains(best));
    EXPECT_TRUE(batch["answers"][1].contains("error"));

    // Somebody new, by the items; and somebody of whom only new items are known.
    EXPECT_EQ(server.ask("GET", "/recommend", "user=newbie").status, 404);
    server.post("newbie", {best});
    const Model& model = *server.model.current()->model;
    const std::string_view given[] = {best};
    EXPECT_EQ(server.recommend("k=4&user=newbie"),
              user_answer("newbie", model.recommend_for_items(given, 4)));
    EXPECT_EQ(server.seen("newbie"), std::set<std::string>{best});
    server.post("other", {"fresh"});
    EXPECT_EQ(server.recommend("user=other"), (Json{{"user", "other"}, {"items", Json::array()}}));
    EXPECT_TRUE(server.recommend("user=other&missing=popular").contains("popular"));

    // And then the vectors, too.
    EXPECT_EQ(server.log.status().waiting, 4U);
    ASSERT_TRUE(server.is_settled());
    EXPECT_TRUE(server.model.current()->model->has_user("newbie"));
    EXPECT_TRUE(server.model.current()->model->has_item("fresh"));
    EXPECT_FALSE(ids_of(server.recommend("k=100&user=" + user)).contains(best));
    EXPECT_EQ(server.seen("newbie"), std::set<std::string>{best});
    std::filesystem::remove(folder_ / "m.bet.events");
  }
}

// What is served in the end is what `update` makes of the file.
TEST_F(LiveModel, EqualsTheUpdatedFileAlsoAfterARestart) {
  const std::string path = write_model(test::toy_graph(3));
  const std::string before = test::read_file(path);
  std::vector<NewInteraction> all = {{"newbie", "item 0"}, {"newbie", "fresh"}, {"u0", "fresh"}};
  const std::vector<std::byte> bytes =
      test::exact_bytes(update_model(std::as_bytes(std::span(before)), all).file);
  const Model expected = Model::from_bytes(bytes);
  {
    LiveServer server(path);
    server.post("newbie", {"item 0", "fresh"});
    server.post("u0", {"fresh"});
    ASSERT_TRUE(server.is_settled());
    EXPECT_EQ(server.recommend("user=newbie"), user_answer(expected, "newbie", 10));
    EXPECT_TRUE(server.compactions.all().empty());
  }
  EXPECT_EQ(test::read_file(path), before) << "the log has the events, not the file";
  LiveServer again(path);
  EXPECT_EQ(again.log.status().waiting, 0U) << "replayed at the start";
  EXPECT_EQ(again.recommend("user=newbie"), user_answer(expected, "newbie", 10));
  again.model.reload_soon();
  ASSERT_TRUE(comes_true([&] { return !again.reloads.all().empty(); }));
  EXPECT_EQ(again.reloads.all()[0], "");
  EXPECT_EQ(again.recommend("user=newbie"), user_answer(expected, "newbie", 10)) << "and after it";
}

void fill_log(LiveServer& server) {
  for (int i = 0; server.log.status().log_bytes <= ServedModel::kLeastLogBytes; ++i) {
    std::vector<std::string> items;
    for (int j = 0; j < 50; ++j)
      items.push_back("item of some length " + std::to_string(50 * i + j));
    ASSERT_EQ(server.post("user " + std::to_string(i), items).status, 200);
  }
}

TEST_F(LiveModel, ALargeLogIsWrittenToTheFile) {
  const std::string path = write_model(test::toy_graph(2));
  std::string after;
  {
    LiveServer server(path);
    fill_log(server);
    const std::vector<Event> all = server.log.snapshot().events;
    ASSERT_TRUE(server.is_settled());
    ASSERT_TRUE(comes_true([&] { return !server.compactions.all().empty(); }));
    EXPECT_LT(server.log.status().log_bytes, 100U);
    EXPECT_EQ(load_model_file(path)->seen_items("user 0").size(), 50U);
    EXPECT_EQ(server.seen("user 0").size(), 50U);
    server.post("user 0", {"late"});
    EXPECT_EQ(server.seen("user 0").size(), 51U);
    ASSERT_TRUE(server.is_settled());
    EXPECT_EQ(server.seen("user 0").size(), 51U);
    EXPECT_EQ(server.log.snapshot().events.size(), 1U);
    EXPECT_EQ(server.problems.all(), std::vector<std::string>());
    after = test::read_file(path);

    // A crash between the file and the new log: what the log has again adds nothing.
    const std::string log = path + ".copy";
    EventLog(log).add(all);
    std::vector<NewInteraction> again;
    for (const Event& event : all) again.push_back({event.user, event.item});
    EXPECT_EQ(update_model(std::as_bytes(std::span(after)), again).new_interactions, 0U);
  }
  LiveServer again(path);
  EXPECT_EQ(again.seen("user 0").size(), 51U);
}

TEST_F(LiveModel, KeepsItsBudgetAndThenRefusesEvents) {
  const std::string path =
      write_model(test::toy_graph(2), {{"budget.requested", "5KB"}, {"budget.for", "file"}});
  LiveServer server(path);
  const std::string before = test::read_file(path);
  fill_log(server);
  ASSERT_TRUE(server.is_settled());
  ASSERT_TRUE(comes_true([&] { return !server.log.status().refused.empty(); }));
  const HttpResponse refused = server.post("a", {"b"});
  EXPECT_EQ(refused.status, 507);
  EXPECT_NE(refused.body.find("it would break its budget 5KB"), std::string::npos) << refused.body;
  EXPECT_EQ(test::read_file(path), before);
  EXPECT_EQ(server.seen("user 0").size(), 50U) << "what was accepted is served";
}

TEST_F(LiveModel, DoesNotOverwriteAFileThatSomebodyElsePutThere) {
  const std::string path = write_model(test::toy_graph(2));
  LiveServer server(path);
  const std::string other = test::served_toy_bytes(5);
  folder_.write("next", other);
  std::filesystem::rename(folder_ / "next", path);
  fill_log(server);
  ASSERT_TRUE(server.is_settled());
  ASSERT_TRUE(comes_true([&] { return !server.problems.all().empty(); }));
  EXPECT_NE(server.problems.all()[0].find("was replaced"), std::string::npos);
  EXPECT_EQ(test::read_file(path), other);
  server.model.reload_soon();
  ASSERT_TRUE(comes_true([&] { return !server.reloads.all().empty(); }));
  EXPECT_EQ(server.seen("user 0").size(), 50U) << "its events are added to the new file";
}

TEST_F(LiveModel, RefusesMalformedEvents) {
  LiveServer server(write_model(test::toy_graph(2)));
  EXPECT_EQ(server.ask("POST", "/events", "", {{"user", "a"}, {"items", Json::array()}}).status,
            400);
  EXPECT_EQ(server.ask("POST", "/events", "", {{"user", ""}, {"items", {"x"}}}).status, 400);
  EXPECT_EQ(server.post("a", {std::string(4097, 'x')}).status, 400);
  EXPECT_EQ(server.ask("POST", "/events", "", {{"user", "a"}}).status, 400);
  EXPECT_EQ(server.ask("POST", "/events", "x=1", {{"user", "a"}, {"items", {"x"}}}).status, 400);
  HttpRequest form;
  form.method = "POST";
  form.path = "/events";
  form.body = R"({"user":"a","items":["x"]})";
  for (const char* const type : {"", "text/plain", "application/x-www-form-urlencoded"}) {
    form.content_type = type;
    EXPECT_EQ(server.handlers.answer(form).status, 415) << "a page of another host could send this";
  }
  EXPECT_EQ(server.log.status().events, 0U);
  form.content_type = "Application/JSON; charset=utf-8";
  EXPECT_EQ(server.handlers.answer(form).status, 200);
  EXPECT_EQ(Json::parse(server.ask("GET", "/events", "").body)["events"], 1);
  EXPECT_NE(server.ask("GET", "/metrics", "").body.find("bet_events_total 1\n"), std::string::npos);
}

TEST_F(LiveModel, EventsAreAnsweredAsDocumented) {
  LiveServer server(write_model(test::toy_graph(2)));
  const Json api = Json::parse(server.ask("GET", "/openapi.json", "").body);
  const Json& schemas = api["components"]["schemas"];
  const auto keys_of = [](const Json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
  };
  EXPECT_EQ(keys_of(Json::parse(server.post("a", {"x"}).body)),
            keys_of(schemas["AddedEvents"]["properties"]));
  EXPECT_EQ(keys_of(Json::parse(server.ask("GET", "/events", "").body)),
            keys_of(schemas["Events"]["properties"]));
  EXPECT_EQ(keys_of(api["paths"]["/events"]), (std::set<std::string>{"get", "post"}));
}

TEST_F(LiveModel, NeedsAFileThatCanKeepEvents) {
  test::ToyOptions without;
  without.interactions = false;
  const std::string path = write_model(without);
  EXPECT_EQ(test::error_of([&] { LiveServer server(path); }),
            path + ": has no interactions (--seen drop), and could not keep events");
}

TEST_F(LiveModel, IsNotARun) {
  folder_.write("model.bet", test::served_toy_bytes());
  const test::ProgramResult result =
      test::run_bet_serve({"http", folder_.path().string(), "--port", "0", "--allow-updates"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("is a run folder"), std::string::npos) << result.err;
}

TEST(LiveModelOff, ThereIsNoPathForEvents) {
  const test::ServedToy toy;
  EXPECT_EQ(toy.ask("POST", "/events", "", R"({"user":"a","items":["x"]})").status, 404);
  EXPECT_EQ(toy.get("/openapi.json").body.find("/events"), std::string::npos);
}

}  // namespace
}  // namespace bet
