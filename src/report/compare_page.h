#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// The page of a comparison: quality against bytes by method, with the spread over seeds, tests, and
// the table of all cells. One file of HTML that loads nothing and has no script. `comparison` is
// {"dataset": as in report.json, "cells": [{"backbone", "method", "budget", "runs", "bytes",
// "file_bytes", and {"mean", "deviation"} of "validation_recall@20", "test_recall@20" and
// "test_ndcg@20"}], and where there are any "within": [sentences] and "pairs": a table
// (report/result_tables.h)}.
std::string compare_page(const nlohmann::ordered_json& comparison);

}  // namespace bet
