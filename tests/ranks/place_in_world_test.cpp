#include "ranks/place_in_world.h"

#include <gtest/gtest.h>

#include <map>

#include "ranks/own_address.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;

std::optional<PlaceInWorld> place_with(const std::map<std::string, std::string>& variables) {
  return place_in_world([&](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

TEST(PlaceInWorld, IsThatOfTorchrun) {
  const auto place = place_with({{"RANK", "5"},
                                 {"WORLD_SIZE", "8"},
                                 {"LOCAL_RANK", "1"},
                                 {"LOCAL_WORLD_SIZE", "4"},
                                 {"MASTER_ADDR", "node-0"},
                                 {"MASTER_PORT", "1234"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 5U);
  EXPECT_EQ(place->size, 8U);
  EXPECT_EQ(place->local_rank, 1U);
  EXPECT_EQ(place->local_size, 4U);
  EXPECT_EQ(place->host, "node-0");
  EXPECT_EQ(place->port, 1234);
  EXPECT_FALSE(place->store_is_there);
}

TEST(PlaceInWorld, KnowsTheStoreThatTorchrunHosts) {
  const auto place = place_with({{"RANK", "0"},
                                 {"WORLD_SIZE", "2"},
                                 {"MASTER_ADDR", "127.0.0.1"},
                                 {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                 {"TORCHELASTIC_RESTART_COUNT", "3"}});
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->store_is_there);
  EXPECT_EQ(place->store_prefix, "bet/3/");
  EXPECT_EQ(place->port, 29500);
}

TEST(PlaceInWorld, IsThatOfOpenMpiAndSlurm) {
  const auto mpi = place_with({{"OMPI_COMM_WORLD_RANK", "1"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->rank, 1U);
  EXPECT_EQ(mpi->local_rank, 1U);
  EXPECT_EQ(mpi->host, "127.0.0.1");  // all of them are here
  const auto slurm = place_with({{"SLURM_PROCID", "3"},
                                 {"SLURM_STEP_NUM_TASKS", "4"},
                                 {"SLURM_LOCALID", "1"},
                                 {"SLURM_STEP_NUM_NODES", "2"},
                                 {"MASTER_ADDR", "10.0.0.1"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->rank, 3U);
  EXPECT_EQ(slurm->size, 4U);
  EXPECT_EQ(slurm->local_rank, 1U);
  EXPECT_EQ(slurm->host, "10.0.0.1");
}

TEST(PlaceInWorld, IsNoneOfOneProcess) {
  EXPECT_FALSE(place_with({}));
  EXPECT_FALSE(place_with({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "x"}}));
  EXPECT_FALSE(place_with({{"RANK", ""}, {"WORLD_SIZE", ""}}));
  // A batch script of Slurm's that starts `bet` without srun.
  EXPECT_FALSE(place_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
}

TEST(PlaceInWorld, RefusesValuesThatMakeNoSense) {
  EXPECT_EQ(error_of([] {
              place_with({{"RANK", "two"}, {"WORLD_SIZE", "4"}});
            }),
            "RANK='two' in the environment: expected a number from 0 to 65536");
  EXPECT_EQ(error_of([] {
              place_with({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "x"}});
            }),
            "RANK=4 in the environment, but WORLD_SIZE=4");
  EXPECT_EQ(error_of([] {
              place_with({{"RANK", "0"}, {"WORLD_SIZE", "4"}});
            }),
            "RANK=0 and WORLD_SIZE=4 in the environment: set MASTER_ADDR to the host of rank 0 as "
            "well (or unset RANK to run alone)");
  EXPECT_EQ(
      error_of([] {
        place_with(
            {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "x"}, {"MASTER_PORT", "70000"}});
      }),
      "MASTER_PORT='70000' in the environment: expected a number from 0 to 65535");
}

TEST(PlaceInWorld, GivesEachRankOfAMachineItsGpu) {
  PlaceInWorld place;
  place.local_rank = 3;
  EXPECT_EQ(gpu_of(place, nullptr, 8), "3");
  EXPECT_EQ(gpu_of(place, nullptr, 2), "1");
  EXPECT_EQ(gpu_of(place, nullptr, 1), "");
  EXPECT_EQ(gpu_of(place, nullptr, 0), "");
  EXPECT_EQ(gpu_of(place, "4,5,6,7", 8), "7");
  EXPECT_EQ(gpu_of(place, "GPU-a,GPU-b", 8), "GPU-b");
  EXPECT_EQ(gpu_of(place, "2", 8), "");  // the only one that it may use
}

TEST(OwnAddress, IsTheOneFromWhichTheHostIsReached) {
  EXPECT_EQ(own_address_towards("127.0.0.1", 29500), "127.0.0.1");
  EXPECT_NE(error_of([] {
              own_address_towards("no-such-host.invalid", 1);
            }).find("'no-such-host.invalid': "),
            std::string::npos);
}

}  // namespace
}  // namespace bet
