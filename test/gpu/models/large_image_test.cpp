// SPDX-License-Identifier: Apache-2.0
// The memory in which a large image is decoded.
#include "../device/host_tensors.hpp"
#include "made_weights.hpp"
#include "support/scale.hpp"
#include <atelier/gpu/batching/tile_size.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/vae/decoding.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

using namespace atelier;

namespace {

/// Makes Stable Diffusion's autoencoder with so many channels at the finest
/// resolution, and random weights.
std::unique_ptr<gpu::autoencoder> made(int64_t channels) {
  gpu::component x;
  x.class_name = "AutoencoderKL";
  x.config_file = "config.json";
  x.config = fmt::format(
    R"({{"block_out_channels": [{0}, {1}, {2}, {2}], "layers_per_block": 2,
    "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D",
    "DownEncoderBlock2D", "DownEncoderBlock2D"], "up_block_types":
    ["UpDecoderBlock2D", "UpDecoderBlock2D", "UpDecoderBlock2D",
    "UpDecoderBlock2D"], "sample_size": 512}})",
    channels, 2 * channels, 4 * channels);
  const auto expected = gpu::detail::expect_tensors(x);
  BOOST_REQUIRE_MESSAGE(expected, (expected ? "" : expected.why().text));
  auto weights = std::make_shared<test::made_weights>();
  for (const auto& [name, shape] : *expected)
    weights->add(name, shape);
  x.weights = std::move(weights);
  auto out = gpu::autoencoder::load(x, {});
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

/// Returns a number of this process, in bytes.
uint64_t status(const std::string& name) {
  std::ifstream in{"/proc/self/status"};
  uint64_t kib = 0;
  for (std::string word; in >> word;)
    if (word == name + ':' && in >> kib)
      return kib << 10;
  BOOST_FAIL(name << " is not in /proc/self/status");
  return 0;
}

void forget_peak() {
  std::ofstream{"/proc/self/clear_refs"} << 5 << std::flush;
}

} // namespace

BOOST_AUTO_TEST_SUITE(large_image_test)

BOOST_AUTO_TEST_CASE(a_large_image_is_decoded_within_the_free_memory) {
  // The full run decodes what a machine of 8 GB could be asked for.
  const bool full = test::scaled(100) == 100;
  const auto vae = made(full ? 128 : 32);
  const uint64_t px = full ? 2048 : 512;
  const gpu::decode_need need{px / 8,
                              px / 8,
                              8,
                              gpu::decode_bytes(vae->config(), vae->where()),
                              gpu::image_bytes,
                              static_cast<uint64_t>(vae->tile_multiple())};
  forget_peak();
  const auto before = status("VmRSS");
  const auto free = full ? (uint64_t{6} << 30) - before : uint64_t{160} << 20;
  BOOST_TEST(gpu::bytes_to_decode(need, 0) > free);
  const auto side = gpu::tile_side(need, free);
  BOOST_REQUIRE(side);
  const auto elements = static_cast<int64_t>(px / 8);
  const auto latent = torch::randn({1, 4, elements, elements});
  test::host_tensors tensors;
  gpu::decoding run{*vae, latent, static_cast<int64_t>(*side)};
  auto image = run.next();
  while (!image)
    image = run.next();
  BOOST_TEST(tensors.peak() <= gpu::bytes_to_decode(need, *side));
  const auto most = status("VmHWM");
  BOOST_TEST_MESSAGE(px << "x" << px << " in tiles of " << *side * 8
                        << " pixels: " << (most >> 20) << " MiB at most, "
                        << (before >> 20) << " before; tensors "
                        << (tensors.peak() >> 20));
  BOOST_TEST(most <= before + free);
  BOOST_TEST(image->size(3) == static_cast<int64_t>(px));
}

BOOST_AUTO_TEST_SUITE_END()
