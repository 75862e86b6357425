#pragma once

namespace bet {

// Which interactions a model is trained on.
enum class TrainingPart { kTrain, kTrainAndValidation, kAll };

}  // namespace bet
