#include "serve/served_model.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>

#include "serve/served_toy.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

// The texts that reloads end with, in order.
class Reloads {
 public:
  void add(const std::string& error) {
    const std::lock_guard lock(mutex_);
    errors_.push_back(error);
    changed_.notify_one();
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !errors_.empty(); });
    const std::string error = errors_.front();
    errors_.pop_front();
    return error;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> errors_;
};

TEST(ServedModel, TakesUpAGoodFileAndRefusesABadOne) {
  const test::TempFolder folder;
  const std::string first = test::served_toy_bytes(1);
  const std::string second = test::served_toy_bytes(2);
  const std::string path = folder.write("m.bet", first);
  Reloads reloads;
  ServedModel served({path, {}}, {[&](const std::string& error) { reloads.add(error); }});
  const std::shared_ptr<const ModelWithLists> before = served.current();
  const auto scores = [](const ModelWithLists& loaded) {
    return loaded.model->user_vector(loaded.model->user_id(2));
  };

  folder.write("m.bet", second);  // overwritten: the served model is in memory
  EXPECT_EQ(served.current(), before);
  served.reload_soon();
  EXPECT_EQ(reloads.next(), "");
  const std::shared_ptr<const ModelWithLists> after = served.current();
  EXPECT_NE(after, before);
  EXPECT_NE(scores(*after), scores(*before)) << "both are there for who holds them";

  folder.write("m.bet", second.substr(0, second.size() / 2));
  served.reload_soon();
  EXPECT_TRUE(reloads.next().starts_with(path + ": "));
  EXPECT_EQ(served.current(), after);
  std::filesystem::remove(path);
  served.reload_soon();
  EXPECT_EQ(reloads.next(), path + ": No such file or directory");
  EXPECT_EQ(served.current(), after);
}

TEST(ServedModel, MustBeGoodToBeginWith) {
  const test::TempFolder folder;
  const std::string path = folder.write("m.bet", "no model");
  const auto open = [](const std::string& name) {
    ServedModel({name, {}}, {[](const std::string&) {}});
  };
  EXPECT_TRUE(test::error_of([&] { open(path); }).starts_with(path + ": "));
  EXPECT_TRUE(test::error_of([&] { open(folder.path()); }).starts_with(folder.path().string()));
}

TEST(ServedModel, ReadsItsTitlesWithTheModel) {
  const test::TempFolder folder;
  const std::string path = folder.write("m.bet", test::served_toy_bytes(1));
  const std::string titles = folder.write("t.csv", "item 676,One\nwhat,Two\n");
  Reloads reloads;
  ServedModel served({path, {}, titles}, {[&](const std::string& error) { reloads.add(error); }});
  const auto before = served.current();
  EXPECT_EQ(before->titles->of("item 676"), "One");
  EXPECT_EQ(before->items_with_title, 1U);
  folder.write("t.csv", "item 676,New\nitem 514,Three\n");
  served.reload_soon();
  EXPECT_EQ(reloads.next(), "");
  const auto after = served.current();
  EXPECT_EQ(after->titles->of("item 676"), "New");
  EXPECT_EQ(after->items_with_title, 2U);
  EXPECT_EQ(before->titles->of("item 676"), "One") << "requests keep what they began with";
  folder.write("t.csv", "item 676\n");
  served.reload_soon();
  EXPECT_EQ(reloads.next(), titles + ":1: has 1 columns; the id and title are columns 1 and 2");
  EXPECT_EQ(served.current(), after);
}

TEST(ServedModel, ReadsItsListsWithTheModel) {
  const test::TempFolder folder;
  const std::string path = folder.write("m.bet", test::served_toy_bytes(1));
  const std::string list = folder.write("list", "item 676\r\n\nwhat\nitem 514\nitem 676");
  Reloads reloads;
  ServedModel served({path, {{"some", list}}},
                     {[&](const std::string& error) { reloads.add(error); }});
  const auto before = served.current();
  EXPECT_EQ(before->lists.at("some").size(), 2U);
  folder.write("list", "item 595\n");
  served.reload_soon();
  EXPECT_EQ(reloads.next(), "");
  const auto after = served.current();
  EXPECT_EQ(after->lists.at("some").size(), 1U);
  const ItemFilter only{.only = &after->lists.at("some"), .seen = Seen::kKeep};
  const auto answer = after->model->recommend(after->model->user_id(2), 10, only);
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(answer[0].item, "item 595");

  std::filesystem::remove(list);
  served.reload_soon();
  EXPECT_EQ(reloads.next(), list + ": No such file or directory");
  EXPECT_EQ(served.current(), after);
  EXPECT_EQ(test::error_of([&] {
              load_with_lists({path, {{"some", folder.path()}}});
            }),
            folder.path().string() + ": is a folder, expected a file with one id a line");
}

}  // namespace
}  // namespace bet
