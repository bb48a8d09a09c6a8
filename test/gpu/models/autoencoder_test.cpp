// SPDX-License-Identifier: Apache-2.0
#include "../device/host_tensors.hpp"
#include "made_weights.hpp"
#include "tiny_model.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/gpu/models/vae/decoding.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(autoencoder_network)

namespace {

constexpr auto config = R"({
  "block_out_channels": [8, 16], "norm_num_groups": 4, "layers_per_block": 1,
  "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"],
  "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"],
  "sample_size": 16})";

void add_resnet(test::made_weights& to, const std::string& name, int64_t out,
                int64_t in) {
  to.add_layer(name + ".norm1", {in});
  to.add_layer(name + ".conv1", {out, in, 3, 3});
  to.add_layer(name + ".norm2", {out});
  to.add_layer(name + ".conv2", {out, out, 3, 3});
  if (in != out)
    to.add_layer(name + ".conv_shortcut", {out, in, 1, 1});
}

void add_middle(test::made_weights& to, const std::string& name) {
  add_resnet(to, name + ".resnets.0", 16, 16);
  add_resnet(to, name + ".resnets.1", 16, 16);
  to.add_layer(name + ".attentions.0.group_norm", {16});
  for (const auto* part : {"to_q", "to_k", "to_v", "to_out.0"})
    to.add_layer(name + ".attentions.0." + part, {16, 16});
}

std::shared_ptr<test::made_weights> tensors() {
  auto x = std::make_shared<test::made_weights>();
  x->add_layer("encoder.conv_in", {8, 3, 3, 3});
  add_resnet(*x, "encoder.down_blocks.0.resnets.0", 8, 8);
  x->add_layer("encoder.down_blocks.0.downsamplers.0.conv", {8, 8, 3, 3});
  add_resnet(*x, "encoder.down_blocks.1.resnets.0", 16, 8);
  add_middle(*x, "encoder.mid_block");
  x->add_layer("encoder.conv_norm_out", {16});
  x->add_layer("encoder.conv_out", {8, 16, 3, 3});
  x->add_layer("quant_conv", {8, 8, 1, 1});
  x->add_layer("post_quant_conv", {4, 4, 1, 1});
  x->add_layer("decoder.conv_in", {16, 4, 3, 3});
  add_middle(*x, "decoder.mid_block");
  add_resnet(*x, "decoder.up_blocks.0.resnets.0", 16, 16);
  add_resnet(*x, "decoder.up_blocks.0.resnets.1", 16, 16);
  x->add_layer("decoder.up_blocks.0.upsamplers.0.conv", {16, 16, 3, 3});
  add_resnet(*x, "decoder.up_blocks.1.resnets.0", 8, 16);
  add_resnet(*x, "decoder.up_blocks.1.resnets.1", 8, 8);
  x->add_layer("decoder.conv_norm_out", {8});
  x->add_layer("decoder.conv_out", {3, 8, 3, 3});
  return x;
}

auto load(std::shared_ptr<test::made_weights> from,
          torch::Dtype type = torch::kFloat32) {
  return autoencoder::load(
    {config, "config.json", "AutoencoderKL", std::move(from), {}},
    {torch::kCPU, type});
}

void refused(std::shared_ptr<test::made_weights> from, std::string_view what) {
  const auto x = load(std::move(from));
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::bad_payload);
  for (const auto part : {std::string_view{"made.safetensors"}, what})
    BOOST_CHECK_MESSAGE(x.why().text.find(part) != std::string::npos,
                        x.why().text + " lacks " + std::string{part});
}

} // namespace

BOOST_AUTO_TEST_CASE(a_missing_tensor_is_named) {
  for (const std::string name :
       {"quant_conv.weight", "decoder.up_blocks.0.upsamplers.0.conv.bias",
        "encoder.mid_block.attentions.0.to_q.weight"}) {
    auto x = tensors();
    x->erase(name);
    refused(x, name);
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_too_many_is_named) {
  auto x = tensors();
  x->add("decoder.up_blocks.2.resnets.0.conv1.bias", {8});
  refused(x, "decoder.up_blocks.2.resnets.0.conv1.bias");
}

BOOST_AUTO_TEST_CASE(a_tensor_of_another_shape_is_named) {
  auto x = tensors();
  x->add("decoder.conv_out.weight", {3, 8, 3, 4});
  refused(x, "decoder.conv_out.weight");
  refused(x, "[3, 8, 3, 4]");
}

BOOST_AUTO_TEST_CASE(a_row_is_the_same_to_the_bit_in_any_batch) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto x = load(tensors(), type);
    BOOST_REQUIRE(x);
    const auto latent = torch::randn({3, 4, 9, 6});
    const auto pixels = torch::rand({3, 3, 18, 12});
    const auto decoded = (*x)->decode(latent);
    const auto tiled = (*x)->decode_tiled(latent);
    const auto encoded = (*x)->encode(pixels);
    BOOST_CHECK(decoded.dtype() == torch::kFloat32);
    for (int64_t i = 0; i < 3; ++i) {
      const auto row = latent.narrow(0, i, 1);
      BOOST_CHECK((*x)->decode(row).equal(decoded.narrow(0, i, 1)));
      BOOST_CHECK((*x)->decode_tiled(row).equal(tiled.narrow(0, i, 1)));
      BOOST_CHECK((*x)
                    ->encode(pixels.narrow(0, i, 1))
                    .mean.equal(encoded.mean.narrow(0, i, 1)));
    }
  }
}

BOOST_AUTO_TEST_CASE(parts_make_the_image_that_one_go_makes) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto x = load(tensors(), type);
    BOOST_REQUIRE(x);
    const auto latent = torch::randn({1, 4, 9, 6});
    auto drawn = latent;
    BOOST_TEST((*x)->decode_parts() > 5u);
    for (size_t i = 0; i < (*x)->decode_parts(); ++i)
      drawn = (*x)->decode_part(i, std::move(drawn));
    BOOST_CHECK(drawn.equal((*x)->decode(latent)));
  }
}

BOOST_AUTO_TEST_CASE(the_memory_layout_of_an_input_does_not_matter) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  const auto latent = torch::randn({2, 4, 5, 7});
  const auto other =
    latent.transpose(2, 3).contiguous().transpose(2, 3).to(torch::kFloat64);
  BOOST_CHECK((*x)->decode(latent).equal((*x)->decode(other)));
}

BOOST_AUTO_TEST_CASE(a_latent_within_one_tile_is_decoded_whole) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  const auto latent = torch::randn({1, 4, 8, 8});
  BOOST_CHECK((*x)->decode(latent).equal((*x)->decode_tiled(latent)));
  const auto larger = torch::randn({1, 4, 9, 8});
  BOOST_CHECK(!(*x)->decode(larger).equal((*x)->decode_tiled(larger)));
}

BOOST_AUTO_TEST_CASE(parts_of_tiles_make_the_image_of_the_tiles) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  // The autoencoder was made for tiles of 8 elements.
  const auto latent = torch::randn({1, 4, 19, 13});
  decoding run{**x, latent, 8};
  size_t parts = 0;
  std::optional<torch::Tensor> drawn;
  while (!drawn) {
    drawn = run.next();
    ++parts;
  }
  BOOST_CHECK(drawn->equal((*x)->decode_tiled(latent)));
  // Tiles begin at every sixth element, until one reaches the end.
  BOOST_TEST(parts == 3 * 2 * (*x)->decode_parts());
  decoding whole{**x, latent, 0};
  parts = 1;
  for (drawn = whole.next(); !drawn; drawn = whole.next())
    ++parts;
  BOOST_CHECK(drawn->equal((*x)->decode(latent)));
  BOOST_TEST(parts == (*x)->decode_parts());
}

BOOST_AUTO_TEST_CASE(no_tile_lies_within_the_one_before) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  const auto drawn = [&](const torch::Tensor& latent, size_t tiles) {
    decoding run{**x, latent, 8};
    size_t parts = 1;
    auto out = run.next();
    for (; !out; ++parts)
      out = run.next();
    BOOST_TEST(parts == tiles * (*x)->decode_parts());
    return *out;
  };
  const auto small = torch::randn({1, 4, 7, 8});
  BOOST_CHECK(drawn(small, 1).equal((*x)->decode(small)));
  // The second tile begins at the sixth element; both share two elements.
  const auto wide = torch::randn({1, 4, 5, 14});
  BOOST_CHECK(drawn(wide, 2).slice(3, 16).equal(
    (*x)->decode(wide.slice(3, 6)).slice(3, 4)));
  const auto high = torch::randn({1, 4, 13, 3});
  BOOST_CHECK(drawn(high, 2).slice(2, 16).equal(
    (*x)->decode(high.slice(2, 6)).slice(2, 4)));
}

BOOST_AUTO_TEST_CASE(a_latent_of_other_channels_is_refused) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  for (const int64_t channels : {3, 16})
    BOOST_CHECK_THROW((*x)->decode(torch::randn({1, channels, 5, 5})),
                      c10::Error);
}

BOOST_AUTO_TEST_CASE(the_peak_of_activations_is_known_in_advance) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  constexpr int64_t side = 96;
  const auto latent = torch::randn({1, 4, side, side});
  const auto pixels = torch::rand({1, 3, 2 * side, 2 * side});
  // Prepares what is kept.
  (*x)->decode(latent);
  (*x)->encode(pixels);
  const auto check = [&](uint64_t expected, auto run) {
    test::host_tensors tensors;
    run();
    const auto peak = tensors.peak();
    // A fifth of the free memory is left for what differs.
    BOOST_TEST(peak <= expected * 10 / 8);
    BOOST_TEST(peak >= expected * 6 / 10);
  };
  const auto& config = (*x)->config();
  const auto how = (*x)->where();
  constexpr auto area = static_cast<uint64_t>(side * side);
  check(area * (decode_bytes(config, how) + 4 * image_bytes),
        [&] { (*x)->decode(latent); });
  check(area * encode_bytes(config, how), [&] { (*x)->encode(pixels); });
}

BOOST_AUTO_TEST_CASE(float16_is_widened_where_the_file_or_the_pipeline_asks) {
  const auto bytes = [](const std::string& text, bool upcasts) {
    const auto x =
      autoencoder::load({text, "config.json", "AutoencoderKL", tensors(), {}},
                        {torch::kCPU, torch::kFloat16}, upcasts);
    BOOST_REQUIRE(x);
    return (*x)->where().element_bytes;
  };
  const std::string silent = config;
  const auto with = [&](const char* value) {
    return silent.substr(0, silent.size() - 1) + ", \"force_upcast\": " + value
         + "}";
  };
  BOOST_TEST(bytes(silent, true) == 4u);
  BOOST_TEST(bytes(silent, false) == 2u);
  BOOST_TEST(bytes(with("true"), false) == 4u);
  BOOST_TEST(bytes(with("false"), true) == 2u);
  // Diffusers' pipelines of SD 1.x and 2.x compute it in the type asked for.
  const test::tiny_folder folder;
  const auto files = open_model(folder.path, {});
  BOOST_REQUIRE(files);
  const auto made = load_model(*files, {torch::kCPU, torch::kFloat16});
  BOOST_REQUIRE(made);
  BOOST_TEST((*made)->vae().where().element_bytes == 2u);
  BOOST_TEST(!stable_diffusion.upcasts_vae);
  BOOST_TEST(stable_diffusion_xl.upcasts_vae);
}

BOOST_AUTO_TEST_CASE(weights_count_their_bytes) {
  const auto wide = load(tensors());
  const auto narrow = load(tensors(), torch::kBFloat16);
  BOOST_REQUIRE(wide);
  BOOST_REQUIRE(narrow);
  // The host's kernels keep biases as float32 for both types.
  const auto twice = 2 * (*narrow)->weight_bytes();
  BOOST_TEST((*wide)->weight_bytes() <= twice);
  BOOST_TEST(100 * twice < 102 * (*wide)->weight_bytes());
  BOOST_TEST((*wide)->weight_bytes() > 4 * 16 * 16 * 9u);
  BOOST_TEST((*wide)->factor() == 2u);
}

BOOST_AUTO_TEST_CASE(too_little_memory_is_told_apart_from_other_faults) {
  const auto code_of = [](auto build) {
    const auto x = with_model_border("a step", [&] {
      build();
      return true;
    });
    return x ? core::ec::none : x.why().code;
  };
  BOOST_CHECK(code_of([] { torch::empty({int64_t{1} << 47}); })
              == core::ec::out_of_resources);
  BOOST_CHECK(code_of([] {
                TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED");
              })
              == core::ec::out_of_resources);
  BOOST_CHECK(code_of([] { throw std::bad_alloc{}; })
              == core::ec::out_of_resources);
  BOOST_CHECK(code_of([] { torch::ones({2}).matmul(torch::ones({3})); })
              == core::ec::internal);
}

BOOST_AUTO_TEST_SUITE_END()
