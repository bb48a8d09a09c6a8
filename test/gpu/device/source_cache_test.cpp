// SPDX-License-Identifier: Apache-2.0
#include "../models/tiny_model.hpp"
#include "host_tensors.hpp"
#include "model_bench.hpp"
#include <atelier/gpu/device/detail/source_cache.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace atelier;
using gpu::detail::source_cache;

namespace {

std::shared_ptr<const gpu::model> loaded(const test::tiny_folder& from) {
  return test::taken(
    gpu::load_model(test::taken(gpu::open_model(from.path, {})), {}));
}

} // namespace

BOOST_AUTO_TEST_SUITE(source_cache_test)

BOOST_AUTO_TEST_CASE(an_image_is_encoded_once_for_each_model) {
  const test::tiny_folder folder;
  const auto one = loaded(folder);
  const auto other = loaded(folder);
  std::vector<uint8_t> pixels(16 * 16 * 3, 7);
  source_cache sut;
  const auto at = [&](const auto& model) {
    return sut.find(model, {16, 16}, pixels).mean;
  };
  const auto first = at(one);
  BOOST_TEST(first.is_same(at(one)));
  BOOST_TEST(!first.is_same(at(other)));
  BOOST_TEST(first.is_same(at(one)));
  pixels.back() = 8;
  BOOST_TEST(!first.is_same(at(one)));
  BOOST_TEST(!first.equal(at(one)));
}

BOOST_AUTO_TEST_CASE(the_images_longest_unused_leave) {
  const test::tiny_folder folder;
  const auto model = loaded(folder);
  source_cache sut;
  const auto at = [&](size_t i) {
    const std::vector<uint8_t> pixels(16 * 16 * 3, static_cast<uint8_t>(i));
    return sut.find(model, {16, 16}, pixels).mean;
  };
  const auto first = at(0);
  for (size_t i = 1; i < source_cache::most_entries; ++i)
    at(i);
  BOOST_TEST(first.is_same(at(0)));
  const auto second = at(1);
  for (size_t i = 0; i + 1 < source_cache::most_entries; ++i)
    at(100 + i);
  BOOST_TEST(second.is_same(at(1)));
  BOOST_TEST(!first.is_same(at(0)));
}

BOOST_AUTO_TEST_CASE(a_device_encodes_the_source_of_an_edits_images_once) {
  const test::tiny_folder folder;
  test::model_bench sut{folder.path};
  auto how = test::recipe_of(core::sampler::euler);
  how.from_image = true;
  how.strength = 0.5f;
  const auto run = [&](uint8_t shade, uint64_t seed) {
    sut.shade = shade;
    how.seed = seed;
    const auto job = sut.job(how);
    const test::host_tensors tensors;
    auto image = sut.run(job).image;
    return std::pair{tensors.count(), std::move(image)};
  };
  run(0, 1);
  const auto first = run(1, 1);
  const auto second = run(1, 2);
  // The steps and the decoding are the same work.
  BOOST_TEST(second.first < first.first);
  BOOST_TEST((first.second != second.second));
  // No row's draw is left in the distribution that the next one reads.
  BOOST_TEST((run(1, 1).second == first.second));
}

BOOST_AUTO_TEST_SUITE_END()
