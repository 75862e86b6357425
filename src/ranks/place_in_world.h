#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bet {

// Which of the processes of a run (its ranks) this one is, and where rank 0 is met.
struct PlaceInWorld {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;  // among those of this machine,
  std::uint32_t local_size = 1;  // of which there are so many
  std::string host;              // of rank 0
  std::uint16_t port = 29500;
  // torchrun hosts the store itself, and gives each of its attempts a part of it.
  bool store_is_there = false;
  std::string store_prefix;
};

// From the variables that torchrun (or a shell) sets: RANK, WORLD_SIZE, LOCAL_RANK,
// LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT; or from those of Open MPI's mpirun
// (OMPI_COMM_WORLD_RANK ..) and of Slurm's srun (SLURM_PROCID, SLURM_STEP_NUM_TASKS ..), with
// MASTER_ADDR and MASTER_PORT, which are 127.0.0.1 and 29500 where all ranks are on one machine.
// None: one process alone. Throws on values that make no sense.
//
// `variable`: the value of an environment variable, null if it is not set.
std::optional<PlaceInWorld> place_in_world(const std::function<const char*(const char*)>& variable);
std::optional<PlaceInWorld> place_in_world();  // of this process

// Which of the GPUs of a machine this rank uses, as CUDA_VISIBLE_DEVICES has it: the ranks take
// them in turn. `visible`: what it is now, null if it is not set; empty: leave it.
std::string gpu_of(const PlaceInWorld& place, const char* visible, std::size_t num_gpus);

}  // namespace bet
