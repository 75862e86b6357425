#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// The parts of a run's page that are charts, as figures of HTML. Each is empty where the report
// does not have what it shows.

// Trainings of the search by rung, with the best score so far; and, of bet-paper, the predicted
// fitness against the measured one.
std::string search_charts(const nlohmann::ordered_json& report);

// Sizes and bits of rows against their rank by frequency.
std::string size_charts(const nlohmann::ordered_json& report);

// Loss and validation by step.
std::string training_charts(const nlohmann::ordered_json& report);

// Quality on test by how active users are.
std::string activity_chart(const nlohmann::ordered_json& report);

}  // namespace bet
