// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/batch_bits.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "tiny_model.hpp"
#include <atelier/gpu/kernels/host_features.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/mmdit/mmdit_model.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;

namespace {

struct fixture : test::tiny_joint_folder {
  std::shared_ptr<const gpu::model> load(
    torch::Dtype type = torch::kFloat32) const {
    const auto files = gpu::open_model(path, {});
    BOOST_REQUIRE_MESSAGE(files, (files ? "" : files.why().text));
    auto made = gpu::load_model(*files, {torch::kCPU, type});
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.why().text));
    return *made;
  }
};

gpu::pass_inputs drawn(int64_t rows, int64_t h, int64_t w) {
  auto generator = torch::make_generator<at::CPUGeneratorImpl>(3);
  return {torch::randn({rows, 16, h, w}, generator),
          torch::rand({rows}, generator) * 999,
          {torch::randn({rows, 5, 136}, generator),
           torch::randn({rows, 48}, generator)}};
}

gpu::pass_inputs row(const gpu::pass_inputs& x, int64_t i) {
  return {x.sample.narrow(0, i, 1),
          x.timestep.narrow(0, i, 1),
          {x.conditions[0].narrow(0, i, 1), x.conditions[1].narrow(0, i, 1)}};
}

/// Returns the largest difference, as a share of the largest value of b.
/// LibTorch's sums depend on the batch.
float distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<float>();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(mmdit_test, fixture)

BOOST_AUTO_TEST_CASE(it_is_a_row_of_blocks) {
  const auto made = load();
  const auto blocks = made->net().blocks();
  BOOST_REQUIRE_EQUAL(blocks.size(), 2u);
  BOOST_TEST(blocks[0].name == "transformer_blocks.0");
  BOOST_TEST(blocks[1].name == "transformer_blocks.1");
  // The last block does not change the text, and is smaller.
  BOOST_TEST(blocks[1].weight_bytes > 0u);
  BOOST_TEST(blocks[0].weight_bytes > blocks[1].weight_bytes);
  BOOST_TEST(blocks[0].weight_bytes + blocks[1].weight_bytes
             < made->net().weight_bytes());
  BOOST_TEST(made->weight_bytes() > made->net().weight_bytes());
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_their_neighbours) {
  const auto made = load();
  const auto x = drawn(3, 6, 4);
  const auto whole = predict(made->net(), x);
  BOOST_TEST(bool(whole.sizes() == x.sample.sizes()));
  for (int64_t i = 0; i < 3; ++i)
    BOOST_TEST(distance(predict(made->net(), row(x, i))[0], whole[i]) < 1e-6F);
}

BOOST_AUTO_TEST_CASE(a_prediction_has_the_same_bits_in_any_batch) {
  test::mutator draw{test::seed()};
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto made = load(type);
    BOOST_TEST(made->net().is_batch_invariant() == gpu::host::runs_kernels());
    if (!made->net().is_batch_invariant())
      continue;
    for (size_t i = test::scaled(2'000); i > 0; --i)
      BOOST_REQUIRE(test::batch_keeps_bits(*made, draw));
  }
}

BOOST_AUTO_TEST_CASE(what_no_step_changes_is_computed_once) {
  const auto made = load();
  auto in = drawn(2, 4, 6);
  gpu::kept_results kept;
  kept.limit(1 << 20);
  for (const float timestep : {900.F, 500.F, 20.F}) {
    in.timestep.fill_(timestep);
    in.kept = nullptr;
    const auto plain = gpu::predict(made->net(), in);
    in.kept = &kept;
    BOOST_TEST(torch::equal(gpu::predict(made->net(), in), plain));
  }
  // The tokens, and the pooled text.
  BOOST_TEST(kept.computed() == 2u);
}

BOOST_AUTO_TEST_CASE(every_input_counts) {
  const auto made = load();
  const auto x = drawn(1, 4, 4);
  const auto first = predict(made->net(), x);
  auto later = x;
  later.timestep = x.timestep + 100;
  BOOST_TEST(distance(predict(made->net(), later), first) > 1e-4F);
  for (size_t i = 0; i < 2; ++i) {
    auto other = x;
    other.conditions[i] = -x.conditions[i];
    BOOST_TEST(distance(predict(made->net(), other), first) > 1e-4F);
  }
}

BOOST_AUTO_TEST_CASE(a_text_is_padded_to_the_width_and_the_tokens_of_t5) {
  const auto made = load();
  const auto x = made->encode({"a a"});
  BOOST_REQUIRE_EQUAL(x.tensors.size(), 2u);
  BOOST_TEST(x.tokens == 77 + 256);
  BOOST_TEST(bool(x.tensors[0].sizes() == torch::IntArrayRef({1, 333, 136})));
  BOOST_TEST(bool(x.tensors[1].sizes() == torch::IntArrayRef({1, 48})));
  BOOST_TEST(x.tensors[0].slice(1, 77).abs().max().item<float>() == 0.f);
  BOOST_TEST(x.tensors[0].slice(2, 128).abs().max().item<float>() == 0.f);
  const auto kept = x.tensors[0].slice(1, 0, 77).slice(2, 0, 128);
  BOOST_TEST(kept.abs().max().item<float>() > 0.f);
}

BOOST_AUTO_TEST_CASE(sizes_that_are_no_whole_patches_are_refused) {
  const auto made = load();
  BOOST_TEST(bool(made->accepts({16, 16})));
  BOOST_TEST(bool(made->accepts({32, 8})));
  for (const core::extent px : {core::extent{18, 16}, core::extent{16, 40}}) {
    const auto why = made->accepts(px);
    BOOST_REQUIRE(!why);
    BOOST_TEST((why.why().code == core::ec::invalid_argument));
    BOOST_TEST(why.why().text
               == fmt::format("size {}x{}: this model draws sides of 4..32 "
                              "pixels, multiples of 4",
                              px.width, px.height));
  }
}

BOOST_AUTO_TEST_SUITE_END()
