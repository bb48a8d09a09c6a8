// SPDX-License-Identifier: Apache-2.0
#include "../cli/scratch_folder.hpp"
#include <atelier/training/loops/latent_store.hpp>

#include <boost/test/unit_test.hpp>

#include <numeric>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(latents_in_a_file)

namespace {

const latent_store::layout small{"someone", 6, 2};

latent_store opened(const std::filesystem::path& file,
                    const latent_store::layout& how = small) {
  auto out = latent_store::open(file, how);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

std::vector<uint16_t> group_from(uint16_t first) {
  std::vector<uint16_t> out(12);
  std::iota(out.begin(), out.end(), first);
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_was_written_is_read_also_by_the_next_one) {
  const test::scratch_folder folder;
  const auto file = folder.path / "latents";
  {
    auto sut = opened(file);
    BOOST_TEST(!sut.has(0));
    BOOST_REQUIRE(sut.write(3, group_from(100)));
    BOOST_TEST(sut.has(3));
    BOOST_TEST(!sut.has(2));
  }
  const auto sut = opened(file);
  std::vector<uint16_t> out(6);
  BOOST_REQUIRE(sut.read(7, out));
  BOOST_TEST(out == (std::vector<uint16_t>{106, 107, 108, 109, 110, 111}),
             boost::test_tools::per_element());
  const auto absent = sut.read(1, out);
  BOOST_REQUIRE(!absent);
  BOOST_CHECK(absent.why().code == core::ec::not_found);
}

BOOST_AUTO_TEST_CASE(a_group_that_was_cut_short_is_absent) {
  const test::scratch_folder folder;
  const auto file = folder.path / "latents";
  {
    auto sut = opened(file);
    BOOST_REQUIRE(sut.write(0, group_from(1)));
    BOOST_REQUIRE(sut.write(1, group_from(50)));
  }
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  const auto sut = opened(file);
  BOOST_TEST(sut.has(0));
  BOOST_TEST(!sut.has(1));
}

BOOST_AUTO_TEST_CASE(latents_of_another_autoencoder_are_lost) {
  const test::scratch_folder folder;
  const auto file = folder.path / "latents";
  BOOST_REQUIRE(opened(file).write(0, group_from(1)));
  auto other = small;
  other.maker = "another one";
  BOOST_TEST(!opened(file, other).has(0));
  BOOST_TEST(!opened(file).has(0));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_named) {
  const auto out = latent_store::open("/nowhere/at/all", small);
  BOOST_REQUIRE(!out);
  BOOST_CHECK(out.why().code == core::ec::io_failed);
  BOOST_TEST(out.why().text.find("/nowhere/at/all") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
