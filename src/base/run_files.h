#pragma once

#include <filesystem>

namespace bet {

// The files of a run folder, each named here and nowhere else.
struct RunFiles {
  std::filesystem::path folder;

  std::filesystem::path config() const { return folder / "config.toml"; }
  std::filesystem::path identity() const { return folder / "identity.txt"; }
  std::filesystem::path log() const { return folder / "log.txt"; }
  std::filesystem::path report() const { return folder / "report.json"; }
  std::filesystem::path model() const { return folder / "model.bet"; }
  std::filesystem::path trials() const { return folder / "run.db"; }
  std::filesystem::path standard_input() const { return folder / "stdin"; }

  // What an interrupted run resumes from, by phase, and the final model.
  std::filesystem::path checkpoints() const { return folder / "checkpoint"; }
  std::filesystem::path pretraining() const { return checkpoints() / "pretrain.ckpt"; }
  std::filesystem::path method() const { return checkpoints() / "method.ckpt"; }
  std::filesystem::path retraining() const { return checkpoints() / "state.ckpt"; }
  std::filesystem::path final_model() const { return checkpoints() / "final.ckpt"; }
};

}  // namespace bet
