#include "data/catalogue.h"

#include "base/error.h"

namespace bet {
namespace {

constexpr const char* kMovieLensTerms =
    "GroupLens, University of Minnesota: research use, no redistribution without permission";
constexpr const char* kLightGcnTerms =
    "prepared by the authors of NGCF and LightGCN; the terms of the original data's publisher "
    "apply";

std::string lightgcn_url(const std::string& path) {
  return "https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/data/" + path;
}

// A MovieLens archive, with the MD5 sum that GroupLens publishes for it.
CatalogueEntry movielens(const std::string& name, const std::string& summary,
                         const std::string& md5, const std::string& member) {
  const std::string file = member.substr(member.rfind('/') + 1);
  return {name,
          summary,
          kMovieLensTerms,
          {{"https://files.grouplens.org/datasets/movielens/" + name + ".zip", "md5:" + md5, file,
            member}}};
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = {
      {"gowalla",
       "29,858 users x 40,981 items, 1,027,370 check-ins, pre-split",
       kLightGcnTerms,
       {{lightgcn_url("gowalla/train.txt"),
         "sha256:7244696fdeb23911319cf7b689f2e15a3c4c92549c873a5677b44e3f13cc3e62", "train.txt",
         ""},
        {lightgcn_url("gowalla/test.txt"),
         "sha256:099a2a73924e4b754dc6efd730d764f492321b53c38eb93298850c83acf57be3", "test.txt",
         ""}}},
      {"yelp2018",
       "31,668 users x 38,048 items, 1,561,406 reviews, pre-split",
       kLightGcnTerms,
       {{lightgcn_url("yelp2018/train.txt"),
         "sha256:1e9568725a9e833d0ac3bae01c94cd95367f73b3bb6104fd26b5f65ea5054093", "train.txt",
         ""},
        {lightgcn_url("yelp2018/test.txt"),
         "sha256:9cd9b37926cd1447a06625ffa7914527573fb097c10cb0bbdb1d1b8ded3742fe", "test.txt",
         ""}}},
      movielens("ml-100k", "943 users x 1,682 films, 100,000 ratings with times",
                "0e33842e24a9c977be4e0107933c0723", "ml-100k/u.data"),
      movielens("ml-1m", "6,040 users x 3,706 films, 1,000,209 ratings with times",
                "c4d9eecfca2ab87c1945afe126590906", "ml-1m/ratings.dat"),
      movielens("ml-10m", "69,878 users x 10,677 films, 10,000,054 ratings with times",
                "ce571fd55effeba0271552578f2648bd", "ml-10M100K/ratings.dat"),
      movielens("ml-20m", "138,493 users x 26,744 films, 20,000,263 ratings with times",
                "cd245b17a1ae2cc31bb14903e1204af3", "ml-20m/ratings.csv"),
      movielens("ml-25m", "162,541 users x 59,047 films, 25,000,095 ratings with times",
                "6b51fb2759a8657d3bfcbfc42b592ada", "ml-25m/ratings.csv"),
  };
  return entries;
}

const CatalogueEntry& find_in_catalogue(const std::string& name) {
  std::string names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  fail_as(ErrorKind::kNotFound, "unknown data set ", in_quotes(name), "; available are ", names);
}

}  // namespace bet
