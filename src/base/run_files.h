#pragma once

#include <filesystem>

namespace bet {

// What an interrupted run resumes from, by phase, and the final model.
struct CheckpointFiles {
  std::filesystem::path folder;

  std::filesystem::path pretraining() const { return folder / "pretrain.ckpt"; }
  std::filesystem::path method() const { return folder / "method.ckpt"; }
  std::filesystem::path retraining() const { return folder / "state.ckpt"; }
  std::filesystem::path final_model() const { return folder / "final.ckpt"; }
};

// The files of a run folder. This header is the only place that names them.
struct RunFiles {
  std::filesystem::path folder;

  // Says that the folder is a run of bet; the lock of the run is on it.
  std::filesystem::path marker() const { return folder / ".bet-run"; }
  std::filesystem::path config() const { return folder / "config.toml"; }
  std::filesystem::path identity() const { return folder / "identity.txt"; }
  std::filesystem::path log() const { return folder / "log.txt"; }
  std::filesystem::path report() const { return folder / "report.json"; }
  std::filesystem::path page() const { return folder / "report.html"; }
  std::filesystem::path model() const { return folder / "model.bet"; }
  std::filesystem::path test_hits() const { return folder / "test_hits.csv"; }
  std::filesystem::path trials() const { return folder / "run.db"; }
  std::filesystem::path standard_input() const { return folder / "stdin"; }
  CheckpointFiles checkpoints() const { return {folder / "checkpoint"}; }
};

}  // namespace bet
