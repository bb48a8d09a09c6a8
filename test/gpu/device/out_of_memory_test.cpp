// SPDX-License-Identifier: Apache-2.0
// A LibTorch device whose memory does not hold all that it is asked for.
#include "../models/tiny_model.hpp"
#include "host_tensors.hpp"
#include "model_bench.hpp"
#include <atelier/gpu/batching/tile_size.hpp>
#include <atelier/gpu/device/detail/torch_rows.hpp>
#include <atelier/gpu/models/vae/decoding.hpp>
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;

namespace {

struct fixture : test::tiny_folder {
  fixture() : on(path) {}

  /// Returns jobs of one size and of samplers that do and do not draw noise.
  std::vector<gpu::open_job> jobs(size_t count) {
    using enum core::sampler;
    std::vector<gpu::open_job> out;
    for (size_t i = 0; i < count; ++i) {
      auto how = test::recipe_of(i % 2 == 0 ? euler_ancestral : ddim, i + 1);
      how.guidance = i % 3 == 0 ? 1 : 3;
      out.push_back(on.job(how));
    }
    return out;
  }

  std::vector<gpu::open_job> again(const std::vector<gpu::open_job>& from) {
    std::vector<gpu::open_job> out;
    for (const auto& x : from)
      out.push_back(on.again(x));
    return out;
  }

  /// Sets the memory to what a batch of so many of these jobs needs.
  void leave_room_for(const std::vector<gpu::open_job>& from, size_t count) {
    tensors.greatest();
    on.run(again({from.begin(), from.begin() + static_cast<int64_t>(count)}));
    tensors.limit(tensors.greatest());
  }

  test::host_tensors tensors;
  test::model_bench on;
};

/// Images of two runs may differ by what another size of a batch rounds.
bool alike(const test::bytes& a, const test::bytes& b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i])) > 1)
      return false;
  return true;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(out_of_memory, fixture)

BOOST_AUTO_TEST_CASE(a_batch_that_does_not_fit_is_run_in_smaller_ones) {
  const auto asked = jobs(8);
  const auto expected = on.run(asked);
  leave_room_for(asked, 3);
  const auto made = on.run(again(asked));
  BOOST_TEST(tensors.refused() > 0u);
  for (size_t i = 0; i < asked.size(); ++i) {
    BOOST_TEST(alike(made[i].image, expected[i].image));
    BOOST_TEST(made[i].states.size() == expected[i].states.size());
  }
}

BOOST_AUTO_TEST_CASE(the_size_that_fits_is_remembered) {
  const auto asked = jobs(8);
  leave_room_for(asked, 3);
  on.run(again(asked));
  const auto before = tensors.refused();
  on.run(again(asked));
  BOOST_TEST(tensors.refused() == before);
}

BOOST_AUTO_TEST_CASE(a_row_that_does_not_fit_alone_says_its_size) {
  const auto x = jobs(1).front();
  tensors.greatest();
  on.run(x);
  tensors.limit(tensors.greatest() / 2);
  const auto again = on.again(x);
  on.device->open(again);
  on.device->run({{again.ticket}, 1});
  const auto row = on.ran.take().rows.at(0);
  BOOST_TEST((row.failure.code == core::ec::out_of_resources));
  BOOST_TEST(row.failure.text.find("16x16 pixels") != std::string::npos,
             row.failure.text);
  BOOST_TEST(row.failure.text.find("MiB") != std::string::npos,
             row.failure.text);
  on.device->close(again.ticket);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

constexpr core::extent wide{128, 96};

struct wide_fixture : test::tiny_folder {
  wide_fixture()
    : vae_(test::taken(
      gpu::autoencoder::load(test::taken(gpu::open_model(path, {})).vae, {}))) {
  }

  gpu::decode_need need() const {
    return {wide.height / vae_->factor(),
            wide.width / vae_->factor(),
            vae_->factor(),
            gpu::decode_bytes(vae_->config(), vae_->where()),
            gpu::image_bytes,
            4};
  }

  static test::bench_options limited(uint64_t free_bytes) {
    return {.bytes = 1 << 16, .size = wide, .free_bytes = free_bytes};
  }

  static core::recipe recipe() {
    auto how = test::recipe_of(core::sampler::ddim);
    how.steps = 2;
    how.px = wide;
    return how;
  }

  std::shared_ptr<gpu::detail::hosted_models> hosted() const {
    using shelf = gpu::detail::hosted_models;
    const auto load = [this] {
      auto made = gpu::load_model(test::taken(gpu::open_model(path, {})),
                                  {torch::kCPU, torch::kFloat32});
      using loaded = std::pair<shelf::held_model, uint64_t>;
      return core::result<loaded>{loaded{test::taken(std::move(made)), 0}};
    };
    auto out = std::make_shared<shelf>(
      std::vector<std::optional<gpu::detail::shelf_title>>{
        gpu::detail::shelf_title{"model"}},
      0, [=](const auto&) -> core::result<shelf::opened_model> {
        return shelf::opened_model{0, load};
      });
    test::taken(out->bring({core::variant_id{0}}, {}));
    return out;
  }

  /// Returns rows of as many tenants that have run all their steps.
  static std::vector<gpu::open_job> drawn(test::model_bench& on,
                                          const core::recipe& how,
                                          uint32_t tenants) {
    std::vector<gpu::open_job> out;
    std::vector<core::ticket> who;
    for (uint32_t i = 0; i < tenants; ++i) {
      out.push_back(on.job(how));
      out.back().tenant = core::tenant_id{i + 1};
      on.device->open(out.back());
      who.push_back(out.back().ticket);
    }
    on.device->run({who, how.steps});
    for (const auto& row : on.ran.take().rows)
      BOOST_REQUIRE_EQUAL(row.failure.text, "");
    return out;
  }

  static gpu::open_job drawn(test::model_bench& on, const core::recipe& how) {
    return drawn(on, how, 1).front();
  }

  /// Returns the image of a finished row, decoded in tiles of that side.
  test::bytes expected(const test::course& of, int64_t tile) const {
    const auto state = test::taken(gpu::parse_state(of.states.at(2)));
    const auto latent = torch::tensor(at::ArrayRef<float>(state.latent.data(),
                                                          state.latent.size()))
                          .view({1, 4, wide.height / 2, wide.width / 2});
    gpu::decoding run{*vae_, latent, tile};
    auto pixels = run.next();
    while (!pixels)
      pixels = run.next();
    const auto out = pixels->div(2)
                       .add(0.5)
                       .clamp(0, 1)
                       .mul(255)
                       .round()
                       .to(torch::kUInt8)
                       .squeeze(0)
                       .permute({1, 2, 0})
                       .contiguous();
    const auto* at =
      reinterpret_cast<const std::byte*>(out.const_data_ptr<uint8_t>());
    return {at, at + out.numel()};
  }

  std::unique_ptr<gpu::autoencoder> vae_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(images_in_tiles, wide_fixture)

BOOST_AUTO_TEST_CASE(an_image_that_does_not_fit_is_decoded_in_tiles) {
  const auto free = gpu::bytes_to_decode(need(), 40) * 10 / 8 + 100;
  BOOST_REQUIRE_EQUAL(gpu::tile_side(need(), free).value(), 40u);
  test::model_bench on{path, limited(free)};
  const auto made = on.run(on.job(recipe()));
  BOOST_TEST((made.image == expected(made, 40)));
  BOOST_TEST((made.image != expected(made, 0)));
}

BOOST_AUTO_TEST_CASE(one_that_fits_is_decoded_whole) {
  test::model_bench on{path, limited(0)};
  const auto made = on.run(on.job(recipe()));
  BOOST_TEST((made.image == expected(made, 0)));
}

BOOST_AUTO_TEST_CASE(a_decoding_that_runs_out_of_memory_begins_anew_in_tiles) {
  test::model_bench on{path, limited(0)};
  test::host_tensors tensors;
  on.run({on.job(recipe())}, [&] { tensors.greatest(); });
  // The greatest tensor of a decoding is a whole map.
  const auto most = tensors.greatest() / 2;
  const auto made =
    on.run({on.job(recipe())}, [&] { tensors.limit(most); }).front();
  BOOST_TEST(tensors.refused() > 0u);
  BOOST_TEST((made.image == expected(made, 32)));
}

BOOST_AUTO_TEST_CASE(
  an_image_too_large_for_tiles_is_refused_before_it_is_drawn) {
  const auto refusal = [&](uint64_t free, bool edited,
                           bool deterministic = false) {
    test::model_bench on{path, limited(free)};
    auto how = recipe();
    how.from_image = edited;
    how.deterministic = deterministic;
    const auto job = on.job(how);
    on.device->open(job);
    on.device->run({{job.ticket}, 1});
    const auto row = on.ran.take().rows.at(0);
    BOOST_TEST((row.failure.code == core::ec::out_of_resources));
    BOOST_TEST(row.steps_done == 0u);
    on.device->close(job.ticket);
    return row.failure.text;
  };
  BOOST_TEST(refusal(uint64_t{50} << 20, false)
             == "an image of 128x96 pixels: decoding it in tiles needs 65 MiB, "
                "but 50 MiB are free");
  const auto encoded =
    refusal(gpu::bytes_to_decode(need(), 32) * 10 / 8 + 100, true);
  BOOST_TEST(encoded.find("encoding its source needs") != std::string::npos,
             encoded);
  // Tiles would fit, but they would change the bits.
  const auto whole =
    refusal(gpu::bytes_to_decode(need(), 40) * 10 / 8 + 100, false, true);
  BOOST_TEST(whole.find("decoding it whole, as it is deterministic, needs")
               != std::string::npos,
             whole);
}

BOOST_AUTO_TEST_CASE(a_deterministic_image_is_never_decoded_in_tiles) {
  test::model_bench on{path, limited(0)};
  auto how = recipe();
  how.deterministic = true;
  test::host_tensors tensors;
  const auto made = on.run({on.job(how)}, [&] { tensors.greatest(); }).front();
  BOOST_TEST((made.image == expected(made, 0)));
  // The steps' tensors may be larger.
  const auto greatest = tensors.greatest();
  const auto job = drawn(on, how);
  tensors.limit(greatest / 2);
  on.device->decode(job.ticket);
  const auto failed = on.decoded.take();
  BOOST_TEST(tensors.refused() == 1u);
  BOOST_TEST((failed.failure.code == core::ec::out_of_resources));
  on.device->close(job.ticket);
}

BOOST_AUTO_TEST_CASE(an_image_that_no_memory_holds_fails_for_want_of_memory) {
  test::model_bench on{path, limited(0)};
  const auto job = drawn(on, recipe());
  test::host_tensors tensors;
  // Less than the image's numbers take.
  tensors.limit(wide.pixels() * 3 * sizeof(float) - 1);
  on.device->decode(job.ticket);
  const auto failed = on.decoded.take();
  BOOST_TEST(tensors.refused() > 1u);
  BOOST_TEST((failed.failure.code == core::ec::out_of_resources),
             failed.failure.text);
  on.device->close(job.ticket);
}

BOOST_AUTO_TEST_CASE(memory_that_a_decoding_has_is_expected_back) {
  test::model_bench on{path, limited(0)};
  const auto whole = gpu::bytes_to_decode(need(), 0);
  uint64_t free = whole * 10 / 8 + 100;
  gpu::detail::torch_rows rows{
    hosted(), {}, on.slots, {}, [&](const torch::Device&) { return free; }};
  const auto opened = [&] {
    const auto job = on.job(recipe());
    rows.open(job);
    return job.ticket;
  };
  const auto failure_of = [&](core::ticket who) {
    return rows.report({who}).at(0).failure.code;
  };
  const auto first = opened();
  const auto second = opened();
  rows.step({first, second});
  rows.step({first, second});
  BOOST_TEST(!rows.decode_part(first));
  BOOST_TEST(!rows.may_begin(second));
  free = 2 * whole * 10 / 8 + 100;
  BOOST_TEST(rows.may_begin(second));
  free = 1 << 20;
  BOOST_TEST(!rows.may_begin(second));
  BOOST_CHECK(failure_of(opened()) == core::ec::none);
  std::optional<gpu::decode_report> done;
  while (!done)
    done = rows.decode_part(first);
  BOOST_CHECK(done->failure.code == core::ec::none);
  BOOST_CHECK(failure_of(opened()) == core::ec::out_of_resources);
}

BOOST_AUTO_TEST_CASE(images_that_do_not_fit_together_are_decoded_in_turn) {
  // Two whole images do not fit.
  const auto free = gpu::bytes_to_decode(need(), 0) * 10 / 8 + 100;
  test::model_bench on{path, limited(free)};
  std::atomic<bool> holds = false;
  test::inbox<bool> go;
  on.device->connect(
    {[&](gpu::run_report x) {
       const bool waits = holds;
       on.ran.put(std::move(x));
       if (waits)
         go.take();
     },
     [&](gpu::decode_report x) { on.decoded.put(std::move(x)); }});
  const auto peak = [&](uint32_t tenants) {
    const auto jobs = drawn(on, recipe(), tenants);
    // The device begins once all have asked.
    holds = true;
    on.device->run({{}, 0});
    on.ran.take();
    holds = false;
    test::host_tensors tensors;
    for (const auto& x : jobs)
      on.device->decode(x.ticket);
    go.put(true);
    for (uint32_t i = 0; i < tenants; ++i)
      BOOST_TEST(on.decoded.take().failure.text == "");
    for (const auto& x : jobs) {
      BOOST_TEST(on.kept(x.image).size() == wide.pixels() * 3);
      on.device->close(x.ticket);
    }
    return tensors.peak();
  };
  const auto one = peak(1);
  // Another image that is open would add more.
  BOOST_TEST(peak(3) <= one + one / 20);
}

BOOST_AUTO_TEST_SUITE_END()
