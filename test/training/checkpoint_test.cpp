// SPDX-License-Identifier: Apache-2.0
#include "../cli/scratch_folder.hpp"
#include <atelier/training/loops/checkpoint.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(checkpoints)

namespace {

named_tensors state_of_two(float first) {
  return {{"value/a", torch::full({2, 3}, first)},
          {"average/b", torch::arange(4, torch::kFloat32)}};
}

const checkpoint_facts facts{"vae", UINT64_MAX, 12, 345, 6.7890123456789012};

} // namespace

BOOST_AUTO_TEST_CASE(a_checkpoint_gives_back_what_was_written) {
  const test::scratch_folder folder;
  const auto file = write_checkpoint(folder.path, state_of_two(2), facts);
  BOOST_REQUIRE(file);
  BOOST_TEST(file->filename() == "checkpoint-12.safetensors");
  auto to = state_of_two(0);
  const auto read = read_checkpoint(*file, to);
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.why().text));
  BOOST_CHECK(*read == facts);
  BOOST_CHECK(torch::equal(to[0].second, torch::full({2, 3}, 2.f)));
  BOOST_CHECK(torch::equal(to[1].second, torch::arange(4, torch::kFloat32)));
}

BOOST_AUTO_TEST_CASE(the_last_two_are_kept) {
  const test::scratch_folder folder;
  folder.write("checkpoint-x.safetensors", "not one");
  for (const uint64_t steps : {9u, 10u, 100u, 20u}) {
    auto x = facts;
    x.steps = steps;
    BOOST_REQUIRE(write_checkpoint(folder.path, state_of_two(1), x));
  }
  const auto found = checkpoints_in(folder.path);
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].filename() == "checkpoint-100.safetensors");
  BOOST_TEST(found[1].filename() == "checkpoint-20.safetensors");
  BOOST_TEST(folder.names().contains("checkpoint-x.safetensors"));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_by_name) {
  const test::scratch_folder folder;
  const auto file = write_checkpoint(folder.path, state_of_two(2), facts);
  BOOST_REQUIRE(file);
  auto missing = state_of_two(0);
  missing.emplace_back("value/c", torch::zeros({1}));
  auto read = read_checkpoint(*file, missing);
  BOOST_REQUIRE(!read);
  BOOST_CHECK(read.why().code == core::ec::bad_payload);
  BOOST_TEST(read.why().text.find("value/c is missing") != std::string::npos);
  const named_tensors other{{"value/a", torch::zeros({3, 2})}};
  read = read_checkpoint(*file, other);
  BOOST_REQUIRE(!read);
  BOOST_TEST(read.why().text.find("value/a is [2, 3]") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_damaged_file_and_another_format_are_refused) {
  const test::scratch_folder folder;
  folder.write("checkpoint-1.safetensors", "short");
  BOOST_TEST(!read_checkpoint(folder.path / "checkpoint-1.safetensors", {}));
  BOOST_REQUIRE(
    write_tensors(folder.path / "weights.safetensors", state_of_two(1)));
  const auto read =
    read_checkpoint(folder.path / "weights.safetensors", state_of_two(0));
  BOOST_REQUIRE(!read);
  BOOST_TEST(read.why().text.find("no checkpoint") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
