#include "run/paper_figures.h"

#include <gtest/gtest.h>

#include <set>

namespace bet {
namespace {

TEST(PaperFigures, HaveAllCellsOfBothTables) {
  int cells = 0;
  std::set<double> values;
  for (const char* data : {"gowalla", "yelp2018"}) {
    for (const char* backbone : {"lightgcn", "ngcf", "ncf"}) {
      for (const char* metric : {"recall@5", "ndcg@5", "recall@20", "ndcg@20"}) {
        for (const char* method : {"esapn", "optembed"}) {
          cells += paper_table1(data, backbone, method, "", metric) ? 1 : 0;
          EXPECT_FALSE(paper_table1(data, backbone, method, "20%", metric));
        }
        for (const char* budget : {"20%", "10%", "5%"}) {
          for (const char* method : {"pep", "es", "mr", "ciess", "bet"}) {
            const auto figure = paper_table1(data, backbone, method, budget, metric);
            ASSERT_TRUE(figure) << data << backbone << method << budget << metric;
            EXPECT_LT(figure->value, 0.2) << "no misprint";
            ++cells;
          }
          EXPECT_TRUE(paper_p_value(data, backbone, budget, metric));
        }
      }
    }
    for (const char* budget : {"20%", "10%", "5%"}) {
      for (const char* selection : {"random", "simple", "deepsets"}) {
        const auto figure = paper_table2(data, selection, budget, "recall@20");
        ASSERT_TRUE(figure);
        values.insert(figure->value);
      }
      EXPECT_EQ(paper_table2(data, "deepsets", budget, "ndcg@20")->value,
                paper_table1(data, "lightgcn", "bet", budget, "ndcg@20")->value);
    }
  }
  EXPECT_EQ(cells, 4 * 102);
  EXPECT_EQ(values.size(), 18U);
}

TEST(PaperFigures, AreThoseOfThePaper) {
  EXPECT_EQ(paper_table1("gowalla", "lightgcn", "bet", "5%", "recall@20")->text, "0.1374");
  EXPECT_EQ(paper_table1("yelp2018", "ncf", "pep", "10%", "ndcg@5")->text, "0.0242");
  EXPECT_EQ(paper_table1("gowalla", "ngcf", "bet", "5%", "ndcg@20")->text, "(0.0998)");
  EXPECT_DOUBLE_EQ(paper_table1("yelp2018", "lightgcn", "ciess", "5%", "recall@20")->value, 0.0657);
  EXPECT_EQ(paper_p_value("gowalla", "ncf", "10%", "recall@20")->text, "0.6608");
  EXPECT_EQ(paper_table2("yelp2018", "simple", "5%", "ndcg@20")->text, "0.0629");
  EXPECT_EQ(paper_sparsity("gowalla", "ngcf", "esapn"), "83%");
  EXPECT_FALSE(paper_table1("demo", "lightgcn", "bet", "5%", "recall@20"));
}

}  // namespace
}  // namespace bet
