// SPDX-License-Identifier: Apache-2.0
// Passes keep results of their conditions within a bound, and never those of
// another row.
#include "../models/tiny_model.hpp"
#include "model_bench.hpp"
#include <atelier/gpu/device/detail/pass_cache.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

using namespace atelier;
using gpu::detail::pass_cache;
using test::taken;

namespace {

constexpr uint64_t mib = 1 << 20;

struct fixture : test::tiny_folder {
  gpu::detail::kept_pass& find(int64_t places) {
    return sut.find(model, {places, 4, 2, 2, 77});
  }

  /// Keeps a result of so many bytes, without values.
  static void keep(gpu::kept_results& in, const int& layer, uint64_t bytes) {
    in.find(&layer, [&] {
      return torch::empty(
        {static_cast<int64_t>(bytes)},
        torch::TensorOptions{}.dtype(torch::kUInt8).device(torch::kMeta));
    });
  }

  std::shared_ptr<const gpu::model> model =
    taken(gpu::load_model(taken(gpu::open_model(path, {})), {}));
  pass_cache sut;
  /// Their addresses stand for those of layers.
  std::array<int, 3> layers{};
};

/// Draws the same request on a device that drew nothing before, after other
/// prompts, and beside one.
void check_drawn_alone_and_after_others(const std::filesystem::path& path,
                                        core::sampler with) {
  using bench = test::model_bench;
  auto how = test::recipe_of(with);
  how.guidance = 3;
  const auto same = [&](bench& on) {
    auto x = on.job(how);
    x.text = {"a", "a a"};
    return x;
  };
  bench fresh{path};
  const auto expected = fresh.run(same(fresh));
  bench used{path};
  for (const auto* text : {"a a a", "a a"}) {
    auto other = used.job(how);
    other.text = {text, "a"};
    used.run(other);
    BOOST_TEST((used.run(same(used)).states == expected.states));
  }
  // Two rows share a pass, and later others have their places in it.
  auto first = fresh.job(how);
  first.text = {"a", "a a"};
  auto second = fresh.job(how);
  second.text = {"a a a", "a"};
  const auto both = fresh.run(std::vector{first, second});
  fresh.run(std::vector{fresh.again(second), fresh.again(first)});
  const auto again =
    fresh.run(std::vector{fresh.again(first), fresh.again(second)});
  BOOST_TEST((again[0].states == both[0].states));
  BOOST_TEST((again[1].states == both[1].states));
  BOOST_TEST((both[0].states != both[1].states));
}

} // namespace

BOOST_AUTO_TEST_SUITE(pass_cache_test)

BOOST_FIXTURE_TEST_CASE(results_of_all_passes_are_bounded, fixture) {
  auto& a = find(1);
  BOOST_TEST((a.inputs.kept == &a.results));
  keep(a.results, layers[0], 200 * mib);
  BOOST_TEST(sut.result_bytes() == 200 * mib);
  // A pass that comes into use gets half of the memory from the others.
  auto& b = find(2);
  BOOST_TEST(sut.result_bytes() == 0u);
  keep(b.results, layers[0], 100 * mib);
  find(1);
  keep(a.results, layers[0], 150 * mib);
  BOOST_TEST(sut.result_bytes() == 250 * mib);
  keep(a.results, layers[1], 10 * mib);
  BOOST_TEST(sut.result_bytes() == 250 * mib);
  sut.clear();
  BOOST_TEST(sut.result_bytes() == 0u);
}

// A row has passes of texts of two lengths, whose results do not all fit.
BOOST_FIXTURE_TEST_CASE(passes_that_take_turns_keep_a_part_each, fixture) {
  const auto turn = [&](int64_t places) {
    auto& x = find(places);
    for (const auto& layer : layers)
      keep(x.results, layer, 50 * mib);
    BOOST_TEST(sut.result_bytes() <= pass_cache::most_result_bytes);
    return x.results.computed();
  };
  BOOST_TEST(turn(1) == 3u);
  BOOST_TEST(turn(2) == 3u);
  // Each pass keeps two of its three results while the other is in use.
  for (uint64_t step = 1; step < 10; ++step) {
    BOOST_TEST(turn(1) == 3 + step);
    BOOST_TEST(turn(2) == 3 + step);
  }
  // A pass that comes to them leaves a part to each.
  BOOST_TEST(turn(3) == 3u);
  for (const int64_t places : {1, 2, 3})
    turn(places);
  for (const int64_t places : {1, 2, 3}) {
    const auto before = find(places).results.computed();
    BOOST_TEST(turn(places) == before + 2);
  }
}

BOOST_FIXTURE_TEST_CASE(passes_of_other_rows_leave_wholly, fixture) {
  auto& ended = find(1);
  keep(ended.results, layers[0], 100 * mib);
  for (int step = 0; step < 20; ++step)
    find(2);
  auto& other = find(3);
  BOOST_TEST(sut.result_bytes() == 100 * mib);
  for (const auto& layer : layers)
    keep(other.results, layer, 50 * mib);
  BOOST_TEST(other.results.bytes() == 150 * mib);
  find(2);
  BOOST_TEST(ended.results.bytes() == 0u);
  BOOST_TEST(other.results.bytes() == 100 * mib);
}

BOOST_FIXTURE_TEST_CASE(results_go_with_their_row, fixture) {
  auto& a = find(1);
  a.conditions = {4};
  keep(a.results, layers[0], mib);
  auto& b = find(2);
  b.conditions = {6, 7};
  keep(b.results, layers[0], mib);
  sut.forget_results(std::array<uint64_t, 2>{2, 3});
  BOOST_TEST(sut.result_bytes() == 2 * mib);
  sut.forget_results(std::array<uint64_t, 2>{6, 7});
  BOOST_TEST(b.results.bytes() == 0u);
  BOOST_TEST(sut.result_bytes() == mib);
}

BOOST_AUTO_TEST_CASE(a_row_never_sees_the_text_of_another) {
  const test::tiny_folder unet;
  check_drawn_alone_and_after_others(unet.path, core::sampler::ddim);
  const test::tiny_joint_folder joint;
  check_drawn_alone_and_after_others(joint.path,
                                     core::sampler::flow_match_euler);
}

BOOST_AUTO_TEST_SUITE_END()
