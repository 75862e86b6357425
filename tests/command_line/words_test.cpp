#include "command_line/words.h"

#include <gtest/gtest.h>

namespace bet {
namespace {

using Words = std::vector<std::string>;

struct Program {
  CLI::App app{"", "program"};
  std::string text;
  std::vector<std::string> many;
  bool flag = false;

  Program() {
    CLI::App& data = *app.add_subcommand("data", "");
    data.add_subcommand("stats", "");
    CLI::App& fit = *app.add_subcommand("fit", "");
    fit.add_option("DATA", text);
    fit.add_option("--budget", text);
    fit.add_option("--items", many);
    fit.add_flag("--quiet", flag);
    fit.add_flag("--secret", flag)->group("");
  }
  std::string unknown(const Words& words) const {
    return unknown_word(app, words, {{"train", "fit"}});
  }
};

TEST(Words, UnknownOnesAreNamedWithTheNearest) {
  const Program program;
  EXPECT_EQ(program.unknown({"train", "x"}), "unknown command 'train'; did you mean 'fit'?");
  EXPECT_EQ(program.unknown({"fti"}), "unknown command 'fti'; did you mean 'fit'?");
  EXPECT_EQ(program.unknown({"data", "stat"}), "unknown command 'stat'; did you mean 'stats'?");
  EXPECT_EQ(program.unknown({"nonsense"}), "unknown command 'nonsense'");
  EXPECT_EQ(program.unknown({"fit", "x", "--bugdet", "5%"}),
            "unknown option '--bugdet'; did you mean '--budget'?");
  EXPECT_EQ(program.unknown({"fit", "--bugdet=5%"}),
            "unknown option '--bugdet'; did you mean '--budget'?");
  EXPECT_EQ(program.unknown({"fit", "--secrt"}), "unknown option '--secrt'")
      << "what is hidden is not suggested";
  EXPECT_EQ(program.unknown({"fit", "--budget", "--quiet"}), "") << "a value";
  EXPECT_EQ(program.unknown({"fit", "data", "--budget", "5%"}), "");
  EXPECT_EQ(program.unknown({}), "");
}

TEST(Words, PositionalOnesAreFoundBehindOptions) {
  const Program program;
  const CLI::App& fit = *find_command(program.app, "fit");
  const auto places = [&](const Words& words) { return positional_places(fit, words, 1); };
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(places({"fit", "x", "--budget", "5%"}), Places{1});
  EXPECT_EQ(places({"fit", "--budget", "5%", "x"}), Places{3});
  EXPECT_EQ(places({"fit", "--budget=5%", "--quiet", "-"}), Places{3});
  EXPECT_EQ(places({"fit", "--items", "a", "b", "--quiet", "x"}), Places{5});
  EXPECT_EQ(places({"fit", "--quiet", "--", "--x"}), Places{3});
  EXPECT_EQ(places({"fit"}), Places{});
  EXPECT_EQ(find_command(program.app, "train"), nullptr);
}

}  // namespace
}  // namespace bet
