// SPDX-License-Identifier: Apache-2.0
// The rows of a LibTorch device whose tensors have shapes and no values. There
// the test can count the tensors that are made on the host.
#include "../models/tiny_model.hpp"
#include "host_tensors.hpp"
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace atelier;

namespace {

template <class T>
T taken(core::result<T> x) {
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// Predicts only shapes, because LibTorch's convolutions need values.
class net_of_shapes final : public gpu::denoiser {
public:
  std::span<const gpu::block_info> blocks() const override {
    return {};
  }

  gpu::pass begin(const gpu::pass_inputs& x,
                  gpu::activations& state) const override {
    state.image = x.sample;
    return {};
  }

  void run(size_t, const gpu::pass&, gpu::activations&) const override {}

  torch::Tensor end(const gpu::pass&, gpu::activations& state) const override {
    return torch::zeros_like(state.image);
  }

  uint64_t weight_bytes() const override {
    return 0;
  }
};

/// A model that encodes texts on the host, which can look words up, and whose
/// passes have only shapes.
class model_of_shapes final : public gpu::model {
public:
  explicit model_of_shapes(const gpu::model_files& from)
    : host_(taken(gpu::load_model(from, {}))),
      shapes_(taken(gpu::load_model(from, {torch::Device{torch::kMeta}}))) {
    taken(load_common(from, {torch::Device{torch::kMeta}}));
  }

  const gpu::denoiser& net() const override {
    return net_;
  }

  gpu::condition encode(const gpu::prompt_text& asked) const override {
    auto out = host_->encode(asked);
    for (auto& x : out.tensors)
      x = x.to(torch::kMeta);
    return out;
  }

  gpu::pass_inputs make_inputs(const gpu::pass_key& key) const override {
    keys.push_back(key);
    return shapes_->make_inputs(key);
  }

  void write(const gpu::condition& from, const core::recipe& how, bool negative,
             int64_t place, gpu::pass_inputs& to) const override {
    ++writes;
    shapes_->write(from, how, negative, place, to);
    if (how.seed == failing_seed)
      throw std::runtime_error{"half written"};
  }

  mutable size_t writes = 0;
  /// The keys of the passes that were made.
  mutable std::vector<gpu::pass_key> keys;
  uint64_t failing_seed = ~uint64_t{0};

private:
  std::shared_ptr<const gpu::model> host_;
  std::shared_ptr<const gpu::model> shapes_;
  net_of_shapes net_;
};

struct fixture {
  explicit fixture(const std::filesystem::path& path) {
    const auto files = taken(gpu::open_model(path, {}));
    px = taken(gpu::facts_of(files)).native_px;
    shapes = std::make_shared<model_of_shapes>(files);
    net = shapes;
    auto models = std::make_shared<gpu::detail::hosted_models>(
      std::vector{std::optional{gpu::detail::shelf_title{"model"}}}, 0,
      [this](const gpu::detail::shelf_title&) {
        using shelf = gpu::detail::hosted_models;
        return core::result<shelf::opened_model>{shelf::opened_model{
          1, [this] {
            return core::result<std::pair<shelf::held_model, uint64_t>>{
              std::pair{shelf::held_model{net}, uint64_t{1}}};
          }}};
      });
    taken(models->bring({core::variant_id{0}}, {}));
    rows = std::make_unique<gpu::detail::torch_rows>(
      models, gpu::detail::hosted_judges{}, slots,
      gpu::detail::torch_threads{});
  }

  ipc::slot_ref grant() {
    ipc::slot_ref x;
    x.arena = 1;
    x.kind = ipc::slot_kind::state;
    x.slot = next++;
    x.generation = 1;
    slots->open(x);
    return x;
  }

  core::ticket open(float guidance, core::sampler with,
                    const core::prompt_pair& text = {"a a", "a"}) {
    gpu::open_job job;
    job.ticket = {core::request_id{next + 1}, 1};
    job.recipe.sampler = with;
    job.recipe.steps = 6;
    job.recipe.guidance = guidance;
    job.recipe.px = px;
    job.recipe.seed = next;
    job.recipe.syntax = core::prompt_grammar::webui;
    job.text = text;
    job.from = grant();
    job.state = grant();
    // Tensors without values cannot be published.
    job.publish_every = 100;
    const core::latent_shape shape{
      static_cast<uint32_t>(net->vae().config().latent_channels),
      px.height / net->vae().factor(), px.width / net->vae().factor()};
    taken(gpu::begin_state(taken(slots->buffer(job.from)), shape, 0, 0));
    taken(slots->publish(job.from, 1, gpu::state_bytes(shape, 0)));
    rows->open(job);
    return job.ticket;
  }

  /// Runs a step and returns how many tensors it made on the host.
  size_t step(const std::vector<core::ticket>& who) {
    const test::host_tensors tensors;
    rows->step(who);
    const auto made = tensors.count();
    for (const auto& x : rows->report(who))
      BOOST_REQUIRE_MESSAGE(x.failure.code == core::ec::none, x.failure.text);
    return made;
  }

  std::shared_ptr<ipc::heap_store> slots = std::make_shared<ipc::heap_store>(
    1, std::array<uint32_t, ipc::slot_kinds>{16, 1, 0},
    std::array<uint64_t, ipc::slot_kinds>{1 << 20, 64, 64});
  std::shared_ptr<model_of_shapes> shapes;
  std::shared_ptr<const gpu::model> net;
  std::unique_ptr<gpu::detail::torch_rows> rows;
  core::extent px;
  uint32_t next = 0;
};

struct of_unet : test::tiny_folder, fixture {
  of_unet() : fixture(path) {}
};

struct of_mmdit : test::tiny_joint_folder, fixture {
  of_mmdit() : fixture(path) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(torch_rows)

BOOST_FIXTURE_TEST_CASE(a_second_step_makes_no_tensor_on_the_host, of_unet) {
  using enum core::sampler;
  // The rows are guided and unguided, with different samplers. Samplers that
  // mix in noise or the previous prediction need an operator that LibTorch has
  // only for values.
  const std::vector who{open(7, ddim), open(1, euler), open(3, ddim),
                        open(2, euler)};
  BOOST_TEST(step(who) > 0u);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(step(who) == 0u);
}

BOOST_FIXTURE_TEST_CASE(nor_one_of_another_family, of_mmdit) {
  using enum core::sampler;
  const std::vector who{open(7, flow_match_euler), open(1, flow_match_euler)};
  BOOST_TEST(step(who) > 0u);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(step(who) == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_pass_of_another_key_is_made_once, of_unet) {
  using enum core::sampler;
  const auto first = open(7, ddim);
  const auto second = open(7, ddim);
  BOOST_TEST(step({first}) > 0u);
  BOOST_TEST(step({first, second}) > 0u);
  BOOST_TEST(step({first}) == 0u);
  BOOST_TEST(step({first, second}) == 0u);
}

BOOST_FIXTURE_TEST_CASE(rows_share_a_pass_by_their_chunks, of_unet) {
  using enum core::sampler;
  // The second row's prompt, and the third one's negative prompt, have three
  // chunks. The other prompt of each has one, and thus a pass of its own.
  const std::string three = "a BREAK (a:1.5) BREAK a";
  const std::vector who{open(7, ddim), open(7, ddim, {three, "a"}),
                        open(7, ddim, {"a", three}), open(1, ddim, {"a", ""})};
  step(who);
  const auto& keys = shapes->keys;
  BOOST_TEST_REQUIRE(keys.size() == 3u);
  // Two rows, of which one is guided.
  BOOST_TEST(keys[0].tokens == 77);
  BOOST_TEST(keys[0].places == 3);
  // The second row's two texts; the third one's are of the same shapes.
  BOOST_TEST(keys[1].tokens == 3 * 77);
  BOOST_TEST(keys[1].places == 1);
  BOOST_TEST(keys[2].tokens == 77);
  BOOST_TEST(keys[2].places == 1);
}

BOOST_FIXTURE_TEST_CASE(a_place_written_in_part_is_written_anew, of_unet) {
  const auto first = open(1, core::sampler::ddim);
  shapes->failing_seed = next;
  const auto second = open(1, core::sampler::ddim);
  step({first});
  BOOST_TEST(shapes->writes == 1u);
  step({first});
  BOOST_TEST(shapes->writes == 1u);
  rows->step({second});
  const auto failed = rows->report({second}).front().failure;
  BOOST_TEST(failed.text.find("half written") != std::string::npos,
             failed.text);
  step({first});
  BOOST_TEST(shapes->writes == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
