// SPDX-License-Identifier: Apache-2.0
#include "made_weights.hpp"
#include <atelier/gpu/models/clip/clip_text.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(clip_text_network)

namespace {

constexpr int64_t width = 16;
constexpr int64_t inner = 24;

std::shared_ptr<test::made_weights> tensors() {
  auto x = std::make_shared<test::made_weights>();
  x->add("text_model.embeddings.token_embedding.weight", {50, width});
  x->add("text_model.embeddings.position_embedding.weight", {12, width});
  x->add_layer("text_model.final_layer_norm", {width});
  for (const auto* layer : {"0", "1"}) {
    const auto name = std::string{"text_model.encoder.layers."} + layer;
    x->add_layer(name + ".layer_norm1", {width});
    x->add_layer(name + ".layer_norm2", {width});
    for (const auto* part : {"q", "k", "v", "out"})
      x->add_layer(name + ".self_attn." + part + "_proj", {width, width});
    x->add_layer(name + ".mlp.fc1", {inner, width});
    x->add_layer(name + ".mlp.fc2", {width, inner});
  }
  return x;
}

auto load(std::shared_ptr<test::made_weights> from,
          torch::Dtype type = torch::kFloat32,
          std::string class_name = "CLIPTextModel") {
  return clip_text::load(
    {R"({"vocab_size": 50, "hidden_size": 16, "intermediate_size": 24,
         "num_hidden_layers": 2, "num_attention_heads": 2,
         "projection_dim": 8, "max_position_embeddings": 12,
         "eos_token_id": 49})",
     "config.json",
     std::move(class_name),
     std::move(from),
     {}},
    {torch::kCPU, type});
}

void refused(std::shared_ptr<test::made_weights> from, std::string_view what,
             std::string class_name = "CLIPTextModel") {
  const auto x = load(std::move(from), torch::kFloat32, std::move(class_name));
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::bad_payload);
  for (const auto part : {std::string_view{"made.safetensors"}, what})
    BOOST_CHECK_MESSAGE(x.why().text.find(part) != std::string::npos,
                        x.why().text + " lacks " + std::string{part});
}

} // namespace

BOOST_AUTO_TEST_CASE(a_missing_tensor_is_named) {
  const std::string name = "text_model.encoder.layers.1.mlp.fc2.bias";
  auto x = tensors();
  x->erase(name);
  refused(x, name);
  refused(tensors(), "text_projection.weight", "CLIPTextModelWithProjection");
}

BOOST_AUTO_TEST_CASE(a_tensor_too_many_is_named) {
  const std::string name = "text_model.encoder.layers.2.mlp.fc1.bias";
  auto x = tensors();
  x->add(name, {inner});
  refused(x, name);
}

BOOST_AUTO_TEST_CASE(a_tensor_of_another_shape_is_named) {
  const std::string name = "text_model.encoder.layers.0.self_attn.q_proj.bias";
  auto x = tensors();
  x->add(name, {width + 1});
  refused(x, name);
  refused(x, "[17]");
}

BOOST_AUTO_TEST_CASE(a_tensor_of_whole_numbers_is_named) {
  const std::string name = "text_model.final_layer_norm.weight";
  auto x = tensors();
  x->type(name, tensor_type::int32);
  refused(x, name);
  refused(x, "I32");
}

BOOST_AUTO_TEST_CASE(positions_and_a_projection_that_is_not_used_pass) {
  auto x = tensors();
  x->add("text_model.embeddings.position_ids", {1, 12});
  x->add("text_projection.weight", {8, width});
  BOOST_CHECK(load(x));
}

BOOST_AUTO_TEST_CASE(prompts_that_do_not_fit_are_refused) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  const auto ids = [](std::initializer_list<int64_t> shape) {
    return torch::zeros(shape, torch::kInt64);
  };
  BOOST_CHECK_THROW((*x)->forward(ids({1, 13})), c10::Error);
  BOOST_CHECK_THROW((*x)->forward(ids({1, 0})), c10::Error);
  BOOST_CHECK_THROW((*x)->forward(ids({4})), c10::Error);
  BOOST_CHECK_THROW((*x)->forward(ids({1, 2}).add_(50)), c10::Error);
  BOOST_CHECK_THROW((*x)->forward(ids({1, 2}).sub_(1)), c10::Error);
}

BOOST_AUTO_TEST_CASE(outputs_have_the_placements_type_and_no_history) {
  const auto x = load(tensors(), torch::kBFloat16);
  BOOST_REQUIRE(x);
  const auto out = (*x)->forward(torch::randint(50, {3, 12}));
  BOOST_CHECK(out.last.dtype() == torch::kBFloat16);
  BOOST_CHECK(out.penultimate.sizes() == (std::vector<int64_t>{3, 12, width}));
  BOOST_CHECK(out.pooled.sizes() == (std::vector<int64_t>{3, width}));
  BOOST_CHECK(!out.last.requires_grad());
}

BOOST_AUTO_TEST_CASE(a_row_does_not_depend_on_its_neighbours) {
  const auto x = load(tensors());
  BOOST_REQUIRE(x);
  const auto ids = torch::randint(50, {5, 12});
  const auto all = (*x)->forward(ids);
  for (int64_t i = 0; i < 5; ++i) {
    const auto alone = (*x)->forward(ids.narrow(0, i, 1));
    BOOST_CHECK(
      torch::allclose(alone.last, all.last.narrow(0, i, 1), 1e-5, 1e-6));
    BOOST_CHECK(
      torch::allclose(alone.pooled, all.pooled.narrow(0, i, 1), 1e-5, 1e-6));
  }
}

BOOST_AUTO_TEST_SUITE_END()
