// SPDX-License-Identifier: Apache-2.0
// Models of sizes that no library has ever written are loaded and run: the
// numbers of a folder decide what the kernels read and write.
#include "gpu/models/batch_bits.hpp"
#include "gpu/models/odd_folder.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_features.hpp>
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/model.hpp>

#include <boost/test/unit_test.hpp>
#include <c10/core/InferenceMode.h>

#include <string>

using namespace atelier;

namespace {

/// Runs a step of two places, and decodes and encodes an image.
void run(const gpu::model& x, test::mutator& draw) {
  const c10::InferenceMode guard;
  const auto side = [&] { return 1 + static_cast<int64_t>(draw.below(9)); };
  const auto text = x.encode({"a a"});
  const auto channels = x.vae().config().latent_channels;
  const auto h = side();
  const auto w = side();
  auto in = x.make_inputs({2, channels, h, w, text.tokens});
  in.sample.normal_();
  in.timestep.fill_(500);
  core::recipe how;
  how.guidance = 3;
  how.px = {8, 8};
  for (const int64_t place : {0, 1})
    x.write(text, how, place == 1, place, in);
  const auto out = gpu::predict(x.net(), in);
  TORCH_CHECK(out.sizes() == in.sample.sizes(), "a prediction ", out.sizes(),
              " for ", in.sample.sizes());
  const auto image = x.vae().decode(in.sample.narrow(0, 0, 1));
  x.vae().encode(image);
}

} // namespace

BOOST_AUTO_TEST_SUITE(folder_steps_test)

BOOST_AUTO_TEST_CASE(models_of_odd_sizes_run_or_are_refused) {
  at::set_num_threads(1);
  test::odd_folder folder{test::seed() + 30};
  test::mutator draw{test::seed() + 31};
  size_t ran = 0;
  for (size_t i = test::scaled(10'000); i > 0; --i) {
    folder.next();
    const auto checked = gpu::check_model(folder.path, {});
    if (!checked || !checked->sound())
      continue;
    const auto type = draw.below(3) == 0 ? torch::kBFloat16 : torch::kFloat32;
    const auto model = gpu::load_model(*checked->model, {torch::kCPU, type});
    BOOST_REQUIRE_MESSAGE(model, (model ? "" : model.why().text)
                                   << '\n'
                                   << folder.configs());
    const auto done = gpu::with_model_border("a step", [&] {
      run(**model, draw);
      return true;
    });
    // Convolutions without padding need more than the smallest latents have.
    const bool small = !done
                    && done.why().text.find("greater than actual input size")
                         != std::string::npos;
    BOOST_REQUIRE_MESSAGE(done || small, (done ? "" : done.why().text)
                                           << '\n'
                                           << folder.configs());
    if (done)
      ++ran;
  }
  BOOST_TEST(ran > 0u);
  BOOST_TEST_MESSAGE(ran << " of them ran");
}

BOOST_AUTO_TEST_CASE(a_prediction_has_the_same_bits_in_any_batch) {
  BOOST_TEST(true);
  if (!gpu::host::runs_kernels()) {
    BOOST_TEST_MESSAGE("skipped: no kernel is compiled for this processor");
    return;
  }
  at::set_num_threads(2);
  test::odd_folder folder{test::seed() + 32};
  test::mutator draw{test::seed() + 33};
  size_t compared = 0;
  for (size_t i = test::scaled(10'000); i > 0; --i) {
    folder.next();
    const auto checked = gpu::check_model(folder.path, {});
    if (!checked || !checked->sound())
      continue;
    const bool narrow = draw.below(3) == 0;
    const auto model =
      gpu::load_model(*checked->model, {torch::kCPU, narrow ? torch::kBFloat16
                                                            : torch::kFloat32});
    BOOST_REQUIRE(model);
    // Layers of odd widths are LibTorch's in bfloat16.
    const auto invariant = (*model)->net().is_batch_invariant();
    BOOST_TEST((narrow || invariant), folder.configs());
    if (!invariant)
      continue;
    const auto same = gpu::with_model_border(
      "a pass", [&] { return test::batch_keeps_bits(**model, draw); });
    if (!same)
      continue;
    ++compared;
    BOOST_REQUIRE_MESSAGE(*same, folder.configs());
  }
  BOOST_TEST(compared > 0u);
  BOOST_TEST_MESSAGE(compared << " of them were compared");
}

BOOST_AUTO_TEST_SUITE_END()
