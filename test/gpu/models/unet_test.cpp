// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

using namespace atelier;

namespace {

// Tensors in memory, drawn from a fixed seed.
class drawn_source final : public gpu::tensor_source {
public:
  void add(const std::string& name, std::vector<int64_t> shape,
           double scale = 0.1) {
    auto x = torch::randn(shape, generator_);
    tensors_[name] = {(x * scale).contiguous(), gpu::tensor_type::float32};
  }

  void layer(const std::string& name, std::vector<int64_t> shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }

  void resnet(const std::string& name, int64_t in, int64_t out) {
    layer(name + ".norm1", {in});
    layer(name + ".conv1", {out, in, 3, 3});
    layer(name + ".time_emb_proj", {out, 32});
    layer(name + ".norm2", {out});
    layer(name + ".conv2", {out, out, 3, 3});
    if (in != out)
      layer(name + ".conv_shortcut", {out, in, 1, 1});
  }

  void transformer(const std::string& name, int64_t width, int64_t context) {
    layer(name + ".norm", {width});
    layer(name + ".proj_in", {width, width, 1, 1});
    layer(name + ".proj_out", {width, width, 1, 1});
    const auto block = name + ".transformer_blocks.0";
    for (const auto* norm : {".norm1", ".norm2", ".norm3"})
      layer(block + norm, {width});
    for (const auto* which : {".attn1", ".attn2"}) {
      const auto seen = which == std::string{".attn1"} ? width : context;
      add(block + which + ".to_q.weight", {width, width});
      add(block + which + ".to_k.weight", {width, seen});
      add(block + which + ".to_v.weight", {width, seen});
      layer(block + which + ".to_out.0", {width, width});
    }
    layer(block + ".ff.net.0.proj", {width * 8, width});
    layer(block + ".ff.net.2", {width, width * 4});
  }

  void erase(const std::string& name) {
    tensors_.erase(name);
  }

  void retype(const std::string& name, gpu::tensor_type type) {
    tensors_.at(name).type = type;
  }

  std::optional<gpu::tensor_view> find(std::string_view name) const override {
    const auto i = tensors_.find(std::string{name});
    if (i == tensors_.end())
      return std::nullopt;
    const auto& x = i->second.values;
    return gpu::tensor_view{
      i->second.type,
      x.sizes().vec(),
      {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}};
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, x] : tensors_)
      out.push_back(name);
    return out;
  }

  std::string where() const override {
    return "drawn.safetensors";
  }

private:
  struct entry {
    torch::Tensor values;
    gpu::tensor_type type;
  };

  torch::Generator generator_ = torch::make_generator<at::CPUGeneratorImpl>(7);
  std::map<std::string, entry> tensors_;
};

// Returns one level of so many channels with attention, and nothing in the
// middle.
std::shared_ptr<drawn_source> smallest(int64_t channels = 8) {
  auto out = std::make_shared<drawn_source>();
  out->layer("conv_in", {channels, 4, 3, 3});
  out->layer("time_embedding.linear_1", {32, channels});
  out->layer("time_embedding.linear_2", {32, 32});
  out->resnet("down_blocks.0.resnets.0", channels, channels);
  out->transformer("down_blocks.0.attentions.0", channels, 12);
  for (const auto* i : {"0", "1"}) {
    out->resnet(std::string{"up_blocks.0.resnets."} + i, 2 * channels,
                channels);
    out->transformer(std::string{"up_blocks.0.attentions."} + i, channels, 12);
  }
  out->layer("conv_norm_out", {channels});
  out->layer("conv_out", {4, channels, 3, 3});
  return out;
}

core::result<std::unique_ptr<gpu::unet>> load(
  std::shared_ptr<const gpu::tensor_source> weights,
  torch::Dtype type = torch::kFloat32, int64_t channels = 8,
  const std::string& more = {}) {
  const gpu::component from{fmt::format(R"({{
      "block_out_channels": [{}], "layers_per_block": 1, "norm_num_groups": 4,
      "attention_head_dim": 2, "cross_attention_dim": 12,
      "time_embedding_dim": 32,
      "mid_block_type": null, "down_block_types": ["CrossAttnDownBlock2D"],
      "up_block_types": ["CrossAttnUpBlock2D"]{}}})",
                                        channels, more),
                            "unet/config.json",
                            "UNet2DConditionModel",
                            std::move(weights),
                            {}};
  return gpu::unet::load(from, {torch::kCPU, type});
}

gpu::unet_input drawn_input(int64_t rows) {
  auto generator = torch::make_generator<at::CPUGeneratorImpl>(3);
  gpu::unet_input out;
  out.sample = torch::randn({rows, 4, 6, 5}, generator);
  out.timestep = torch::rand({rows}, generator) * 999;
  out.context = torch::randn({rows, 7, 12}, generator);
  return out;
}

core::error refused(std::shared_ptr<const gpu::tensor_source> weights) {
  const auto made = load(std::move(weights));
  BOOST_REQUIRE(!made);
  BOOST_TEST(bool(made.why().code == core::ec::bad_payload));
  BOOST_TEST(made.why().text.find("drawn.safetensors") == 0u);
  return made.why();
}

} // namespace

BOOST_AUTO_TEST_SUITE(unet_test)

BOOST_AUTO_TEST_CASE(result_has_the_shape_and_type_of_the_placement) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto net = load(smallest(), type);
    BOOST_REQUIRE_MESSAGE(bool(net), (net ? "" : to_string(net.why())));
    const auto y = (*net)->forward(drawn_input(2));
    BOOST_TEST(bool(y.sizes() == torch::IntArrayRef({2, 4, 6, 5})));
    BOOST_TEST(bool(y.scalar_type() == type));
    BOOST_TEST(y.isfinite().all().item<bool>());
    BOOST_TEST(!y.requires_grad());
  }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_their_neighbours) {
  const auto net = load(smallest());
  BOOST_REQUIRE(net);
  const auto x = drawn_input(3);
  const auto whole = (*net)->forward(x);
  for (int64_t i = 0; i < 3; ++i) {
    const auto alone = (*net)->forward({x.sample.narrow(0, i, 1),
                                        x.timestep.narrow(0, i, 1),
                                        x.context.narrow(0, i, 1),
                                        {},
                                        {},
                                        {}});
    const auto off = (alone[0] - whole[i]).abs().max().item<float>();
    BOOST_TEST(off < 1e-6F);
  }
}

BOOST_AUTO_TEST_CASE(channels_of_any_number_are_computed_as_by_libtorch) {
  // In float64, LibTorch's own operators compute.
  for (const int64_t channels : {4, 8, 12, 20, 36, 68}) {
    const auto ours = load(smallest(channels), torch::kFloat32, channels);
    const auto theirs = load(smallest(channels), torch::kFloat64, channels);
    BOOST_REQUIRE_MESSAGE(bool(ours), (ours ? "" : to_string(ours.why())));
    BOOST_REQUIRE(bool(theirs));
    const auto x = drawn_input(3);
    const auto off = ((*ours)->forward(x) - (*theirs)->forward(x)).abs();
    BOOST_TEST(off.max().item<double>() < 1e-4, channels);
  }
}

BOOST_AUTO_TEST_CASE(inputs_of_another_width_are_refused) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat64}) {
    const auto net = load(smallest(), type);
    BOOST_REQUIRE(bool(net));
    for (const int64_t width : {11, 16}) {
      auto x = drawn_input(2);
      x.context = torch::randn({2, 7, width});
      BOOST_CHECK_THROW((*net)->forward(x), c10::Error);
    }
    for (const int64_t channels : {3, 5, 9}) {
      auto x = drawn_input(2);
      x.sample = torch::randn({2, channels, 6, 5});
      BOOST_CHECK_THROW((*net)->forward(x), c10::Error);
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_take_the_bytes_of_the_placement) {
  uint64_t elements = 0;
  const auto weights = smallest();
  for (const auto& name : weights->names())
    elements += weights->find(name)->bytes.size() / sizeof(float);
  const auto plain = load(weights, torch::kFloat64);
  const auto wide = load(weights);
  const auto narrow = load(weights, torch::kBFloat16);
  BOOST_REQUIRE(bool(plain));
  BOOST_REQUIRE(bool(wide));
  BOOST_REQUIRE(bool(narrow));
  // LibTorch computes in float64, with the tensors as they are.
  BOOST_TEST((*plain)->weight_bytes() == 8 * elements);
  // Layers for the host's kernels are kept in panels, which are never smaller:
  // a panel has 64 columns, and most layers here have eight.
  BOOST_TEST((*wide)->weight_bytes() >= 4 * elements);
  BOOST_TEST((*narrow)->weight_bytes() >= 2 * elements);
  BOOST_TEST((*narrow)->weight_bytes() < (*wide)->weight_bytes());
  if (gpu::detail::host_element(gpu::placement{}))
    BOOST_TEST((*wide)->weight_bytes() > 2 * (4 * elements));
}

BOOST_AUTO_TEST_CASE(it_is_a_row_of_blocks) {
  const auto net = load(smallest());
  BOOST_REQUIRE(bool(net));
  const auto blocks = (*net)->blocks();
  BOOST_REQUIRE_EQUAL(blocks.size(), 2u);
  BOOST_TEST(blocks[0].name == "down_blocks.0");
  BOOST_TEST(blocks[1].name == "up_blocks.0");
  uint64_t inside = 0;
  for (const auto& x : blocks) {
    BOOST_TEST(x.weight_bytes > 0u);
    inside += x.weight_bytes;
  }
  BOOST_TEST(inside < (*net)->weight_bytes());
}

BOOST_AUTO_TEST_CASE(a_pass_leaves_its_inputs_as_they_were) {
  const auto net = load(smallest());
  BOOST_REQUIRE(bool(net));
  const auto x = drawn_input(2);
  gpu::pass_inputs in{x.sample.contiguous(at::MemoryFormat::ChannelsLast),
                      x.timestep,
                      {x.context, {}, {}, {}}};
  const auto first = gpu::predict(**net, in);
  BOOST_TEST(torch::equal(in.sample, x.sample));
  BOOST_TEST(torch::equal(gpu::predict(**net, in), first));
  BOOST_TEST(torch::equal((*net)->forward(x), first));
}

// Predicts at several timesteps with and without keeping results, and returns
// how many were computed.
uint64_t computed_in_steps(const gpu::unet& net, gpu::pass_inputs in,
                           gpu::kept_results& kept) {
  const auto before = kept.computed();
  for (const float timestep : {900.F, 500.F, 20.F}) {
    in.timestep.fill_(timestep);
    in.kept = nullptr;
    const auto plain = gpu::predict(net, in);
    in.kept = &kept;
    BOOST_TEST(torch::equal(gpu::predict(net, in), plain));
  }
  return kept.computed() - before;
}

BOOST_AUTO_TEST_CASE(what_no_step_changes_is_computed_once) {
  const auto net = load(smallest());
  BOOST_REQUIRE(bool(net));
  const auto x = drawn_input(2);
  gpu::pass_inputs in{x.sample, x.timestep, {x.context, {}, {}, {}}};
  gpu::kept_results kept;
  kept.limit(1 << 20);
  // Each of three blocks has the keys and values of seven tokens.
  BOOST_TEST(computed_in_steps(**net, in, kept) == 3u);
  BOOST_TEST(kept.bytes() == 3 * (2 * 7 * 16 * sizeof(float)));
  BOOST_TEST(computed_in_steps(**net, in, kept) == 0u);
  kept.clear();
  BOOST_TEST(kept.bytes() == 0u);
  in.conditions[0] = x.context + 1;
  BOOST_TEST(computed_in_steps(**net, in, kept) == 3u);
  // Two of them fit, and the third is computed in each step.
  kept.limit(2 * (2 * 7 * 16 * sizeof(float)));
  BOOST_TEST(kept.bytes() == 2 * (2 * 7 * 16 * sizeof(float)));
  BOOST_TEST(computed_in_steps(**net, in, kept) == 3u);
  kept.limit(0);
  BOOST_TEST(computed_in_steps(**net, in, kept) == 9u);
}

BOOST_AUTO_TEST_CASE(so_are_the_projections_of_all_conditions) {
  auto weights = smallest();
  weights->layer("encoder_hid_proj", {12, 20});
  weights->layer("add_embedding.linear_1", {32, 34});
  weights->layer("add_embedding.linear_2", {32, 32});
  const auto net = load(weights, torch::kFloat32, 8,
                        R"(, "addition_embed_type": "text_time",
      "addition_time_embed_dim": 4, "encoder_hid_dim": 20,
      "encoder_hid_dim_type": "text_proj",
      "projection_class_embeddings_input_dim": 34)");
  BOOST_REQUIRE_MESSAGE(bool(net), (net ? "" : to_string(net.why())));
  const auto x = drawn_input(2);
  const gpu::pass_inputs in{
    x.sample,
    x.timestep,
    {torch::randn({2, 7, 20}), torch::randn({2, 10}), torch::rand({2, 6}), {}}};
  gpu::kept_results kept;
  kept.limit(1 << 20);
  BOOST_TEST(computed_in_steps(**net, in, kept) == 5u);
}

BOOST_AUTO_TEST_CASE(missing_tensor_is_named) {
  auto weights = smallest();
  weights->erase("up_blocks.0.resnets.1.norm2.bias");
  BOOST_TEST(refused(weights).text
             == "drawn.safetensors: tensor up_blocks.0.resnets.1.norm2.bias is "
                "missing");
}

BOOST_AUTO_TEST_CASE(extra_tensors_are_named) {
  auto weights = smallest();
  weights->add("mid_block.resnets.0.norm1.bias", {8});
  BOOST_TEST(refused(weights).text.find("mid_block.resnets.0.norm1.bias")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(wrong_shape_is_told_with_the_right_one) {
  auto weights = smallest();
  weights->add("conv_in.weight", {8, 9, 3, 3});
  BOOST_TEST(refused(weights).text
             == "drawn.safetensors: tensor conv_in.weight has shape "
                "[8, 9, 3, 3], not [8, 4, 3, 3]");
}

BOOST_AUTO_TEST_CASE(numbers_of_another_kind_are_refused) {
  auto weights = smallest();
  weights->retype("conv_out.bias", gpu::tensor_type::int32);
  BOOST_TEST(refused(weights).text.find("conv_out.bias") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(guidance_is_embedded_from_its_scale_less_one) {
  const auto y = gpu::embed_guidance(torch::tensor({1.0F, 1.5F}), 6);
  BOOST_TEST(bool(y.sizes() == torch::IntArrayRef({2, 6})));
  const auto at = [&y](int64_t i, int64_t j) { return y[i][j].item<double>(); };
  for (int64_t i = 0; i < 3; ++i) {
    BOOST_TEST(at(0, i) == 0.0);
    BOOST_TEST(at(0, i + 3) == 1.0);
  }
  BOOST_TEST(at(1, 0) == std::sin(500.0), boost::test_tools::tolerance(1e-4));
  BOOST_TEST(at(1, 4) == std::cos(5.0), boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_SUITE_END()
