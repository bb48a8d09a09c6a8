// SPDX-License-Identifier: Apache-2.0
// A host's stage with a network on the device, beside the steps of a model.
#include <atelier/core/image/codec.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <gpu/device_network.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const auto network_modes =
  boost::unit_test::data::make({mode::single, mode::split});

struct network_fixture : test::tiny_folder {
  engine_options plain(mode how) const {
    return test::options_of(
      how, {std::string{"processes.program='"} + ATELIER_NETWORK_WORKER + "'",
            "models=[{name='tiny',path='" + path.string() + "'}]",
            "devices=[{name='cpu:0',executor='torch',threads=1,"
            "variants=['tiny@3']}]"});
  }

  engine_options softened(mode how) const {
    auto x = plain(how);
    x.extend.stages = {test::softening()};
    return x;
  }

  static generation request(uint64_t seed) {
    generation x;
    x.prompt = "a";
    x.width = x.height = 32;
    x.seed = seed;
    x.deterministic = true;
    return x;
  }

  /// Returns the images of the first seeds as the model draws them.
  std::vector<image::bitmap> drawn(uint64_t seeds) const {
    auto sut = test::start(plain(mode::single));
    std::vector<image::bitmap> out;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      auto asked = test::hand_in(*sut, request(seed));
      out.push_back(*image::decode(test::image_in(test::await(asked)).bytes));
    }
    return out;
  }
};

int mean_around(const image::bitmap& x, int row, int column, int colour) {
  const auto width = static_cast<int>(x.px.width);
  const auto height = static_cast<int>(x.px.height);
  int sum = 0;
  for (int r = std::max(row - 1, 0); r <= std::min(row + 1, height - 1); ++r)
    for (int c = std::max(column - 1, 0); c <= std::min(column + 1, width - 1);
         ++c)
      sum += x.bytes[static_cast<size_t>(3 * (r * width + c) + colour)];
  return static_cast<int>(std::lround(sum / 9.0));
}

void check_softened(const generated_image& made, const image::bitmap& before) {
  BOOST_TEST(std::ranges::any_of(made.notes, [](const auto& x) {
    return x.text == "softened on cpu" || x.text == "softened on cpu:0";
  }));
  const auto after = *image::decode(made.bytes);
  BOOST_TEST_REQUIRE((after.px == before.px));
  const auto width = static_cast<int>(before.px.width);
  for (int row = 0; row < static_cast<int>(before.px.height); ++row)
    for (int column = 0; column < width; ++column)
      for (int colour = 0; colour < 3; ++colour) {
        const auto at =
          static_cast<size_t>(3 * (row * width + column) + colour);
        // Sums in another order may round the other way.
        BOOST_TEST_REQUIRE(
          std::abs(after.bytes[at] - mean_around(before, row, column, colour))
          <= 1);
      }
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_device_network_test, network_fixture)

BOOST_DATA_TEST_CASE(images_pass_through_the_network, network_modes, how) {
  const auto before = drawn(4);
  auto sut = test::start(softened(how));
  std::vector<test::in_flight> all;
  for (uint64_t seed = 0; seed < before.size(); ++seed)
    all.push_back(test::hand_in(*sut, request(seed)));
  for (size_t i = 0; i < all.size(); ++i)
    check_softened(test::image_in(test::await(all[i])), before[i]);
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(images_pass_through_it_although_the_device_dies) {
  const auto before = drawn(6);
  auto options = softened(mode::split);
  options.set.emplace_back("processes.restart_first_ms=1");
  auto sut = test::start(options);
  std::vector<test::in_flight> all;
  for (uint64_t seed = 0; seed < before.size(); ++seed) {
    all.push_back(test::hand_in(*sut, request(seed)));
    if (seed != 2)
      continue;
    pid_t victim = 0;
    BOOST_TEST_REQUIRE(test::eventually([&] {
      victim = test::pid_of(*sut, "cpu:0");
      return victim > 0;
    }));
    kill(victim, SIGKILL);
  }
  for (size_t i = 0; i < all.size(); ++i)
    check_softened(test::image_in(test::await(all[i])), before[i]);
}

BOOST_AUTO_TEST_SUITE_END()
