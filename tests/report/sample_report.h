#pragma once

#include <nlohmann/json.hpp>

namespace bet::test {

// A name that is markup, and an attribute's end.
inline constexpr const char* kHostileName = "<script>window.hacked = true</script>\" onload='x'";

// report.json of a run of `bet` with everything that one can have; texts that come from the user
// are hostile. Sums and means are consistent, and every number of a chart occurs once.
nlohmann::ordered_json sample_report();

// What the page of a comparison is made of (report/compare_page.h), and that of an experiment
// (report/experiment_page.h), likewise.
nlohmann::ordered_json sample_comparison();
nlohmann::ordered_json sample_experiment();

}  // namespace bet::test
