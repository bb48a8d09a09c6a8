// SPDX-License-Identifier: Apache-2.0
// The states that a model's row keeps during its run: for every sampler, from
// noise, from an image and in an edit.
#include "../models/tiny_model.hpp"
#include "caught_log.hpp"
#include "live_executor.hpp"
#include <atelier/core/torch_generator.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/models/files/model_facts.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/profile.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace atelier;

namespace {

using bytes = std::vector<std::byte>;
using steps = std::vector<uint32_t>;

constexpr uint32_t most_slots = 256;
constexpr size_t slot_bytes = 1 << 14;
constexpr core::extent px{16, 16};

template <class T>
T taken(core::result<T> x) {
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// The result of a row.
struct course {
  /// The published states by the number of finished steps.
  std::map<uint32_t, bytes> states;
  steps captured;
  bytes image;
};

/// A device with one model, and slots that are granted repeatedly.
class bench {
public:
  explicit bench(const std::filesystem::path& path,
                 size_t capture_bytes = slot_bytes)
    : slots(std::make_shared<ipc::heap_store>(
      1,
      std::array<uint32_t, ipc::slot_kinds>{most_slots, most_slots, most_slots},
      std::array<uint64_t, ipc::slot_kinds>{slot_bytes, slot_bytes,
                                            capture_bytes})) {
    const auto facts = taken(gpu::facts_of(taken(gpu::open_model(path, {}))));
    planning::variant_profile v;
    v.name = "model@1";
    v.model = "model";
    v.steps = 1;
    v.native_px = facts.native_px;
    v.latent_channels = facts.latent_channels;
    v.latent_factor = facts.latent_factor;
    v.step = {{1, 1, core::timespan{1}}};
    planning::profile known;
    known.variants.push_back(v);
    gpu::torch_executor_config c;
    c.threads = 1;
    c.known = std::make_shared<const planning::profile>(known);
    c.variants = {v.name};
    c.models[v.model] = {path, {}};
    shape = planning::latent_of(v, px);
    device = taken(gpu::make_torch_executor(c, slots));
    device->connect(
      {[this](gpu::run_report x) { ran.put(std::move(x)); },
       [this](gpu::decode_report x) { decoded.put(std::move(x)); }});
  }

  ipc::slot_ref grant(ipc::slot_kind kind) {
    const auto n = granted_++;
    const ipc::slot_ref x{1, n % most_slots, n / most_slots + 1, kind};
    slots->open(x);
    return x;
  }

  gpu::open_job job(const core::recipe& how, bool masked = false) {
    gpu::open_job x;
    x.ticket = {core::request_id{++requests_}, 1};
    x.recipe = how;
    x.text = {"a a", "a"};
    x.from = grant(ipc::slot_kind::state);
    x.state = grant(ipc::slot_kind::state);
    x.image = grant(ipc::slot_kind::image);
    if (how.from_image)
      x.source = source(masked);
    core::torch_generator noise{how.seed};
    // The autoencoder's sample of a source comes first.
    std::vector<float> sample(how.from_image ? shape.elements() : 0);
    noise.fill(sample);
    const auto into = taken(slots->buffer(x.from));
    noise.fill(taken(gpu::begin_state(into, shape, 0, 0)));
    taken(gpu::begin_state(into, shape, 0, noise.position()));
    taken(slots->publish(x.from, 1, gpu::state_bytes(shape, 0)));
    return x;
  }

  /// Returns the same request in new slots.
  gpu::open_job again(const gpu::open_job& x) {
    auto next = x;
    next.ticket.id = core::request_id{++requests_};
    next.captures.clear();
    next.state = grant(ipc::slot_kind::state);
    next.image = grant(ipc::slot_kind::image);
    return next;
  }

  std::vector<ipc::slot_ref> keep(gpu::open_job& x, const steps& after) {
    std::vector<ipc::slot_ref> into;
    for (const auto n : after) {
      into.push_back(grant(ipc::slot_kind::capture));
      x.captures.push_back({n, into.back()});
    }
    return into;
  }

  /// Returns the content of a slot that is written once.
  bytes kept(const ipc::slot_ref& slot) const {
    const auto there = taken(slots->view(slot));
    return {there.begin(), there.end()};
  }

  /// Returns the same request, starting from a copy of the state after `done`
  /// steps.
  gpu::open_job from_kept(const gpu::open_job& x, const ipc::slot_ref& slot,
                          uint32_t done) {
    auto next = again(x);
    next.from = grant(ipc::slot_kind::state);
    const auto state = kept(slot);
    std::ranges::copy(state, taken(slots->buffer(next.from)).begin());
    taken(slots->publish(next.from, done + 1, state.size()));
    return next;
  }

  /// Runs rows of equal length in one batch, a step at a time.
  std::vector<course> run(const std::vector<gpu::open_job>& jobs) {
    std::vector<core::ticket> who;
    for (const auto& x : jobs) {
      device->open(x);
      who.push_back(x.ticket);
    }
    std::vector<course> out(jobs.size());
    const auto count = core::steps_to_run(jobs.front().recipe);
    for (uint32_t done = 0; done < count;) {
      device->run({who, 1});
      const auto did = ran.take();
      for (size_t i = 0; i < jobs.size(); ++i) {
        const auto& row = did.rows.at(i);
        BOOST_REQUIRE_EQUAL(row.failure.text, "");
        out[i].captured.insert(out[i].captured.end(), row.captured.begin(),
                               row.captured.end());
        done = row.steps_done;
        if (taken(slots->published(jobs[i].state)) == uint64_t{done} + 1)
          taken(slots->read(jobs[i].state, out[i].states[done]));
      }
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      device->decode(who[i]);
      const auto made = decoded.take();
      BOOST_REQUIRE_EQUAL(made.failure.text, "");
      out[i].image = kept(jobs[i].image);
      device->close(who[i]);
    }
    return out;
  }

  course run(const gpu::open_job& x) {
    return run(std::vector{x}).front();
  }

  std::shared_ptr<ipc::heap_store> slots;
  std::shared_ptr<gpu::executor> device;
  test::inbox<gpu::run_report> ran;
  test::inbox<gpu::decode_report> decoded;
  core::latent_shape shape;

private:
  ipc::slot_ref source(bool masked) {
    const auto x = grant(ipc::slot_kind::image);
    const auto into =
      taken(gpu::begin_source(taken(slots->buffer(x)), px, masked));
    for (size_t i = 0; i < into.pixels.size(); ++i)
      into.pixels[i] = static_cast<uint8_t>(i * 7);
    for (size_t i = 0; i < into.mask.size(); ++i)
      into.mask[i] = i % px.width < px.width / 2 ? 255 : 0;
    taken(slots->publish(x, 1, gpu::source_bytes(px, masked)));
    return x;
  }

  uint32_t granted_ = 0;
  uint64_t requests_ = 0;
};

core::recipe recipe_of(core::sampler with, uint64_t seed = 1) {
  core::recipe x;
  x.sampler = with;
  x.steps = 6;
  x.guidance = 3;
  x.px = px;
  x.seed = seed;
  return x;
}

steps up_to(uint32_t n) {
  steps out;
  for (uint32_t i = 1; i <= n; ++i)
    out.push_back(i);
  return out;
}

/// Keeps every state of a run, and resumes the run from each.
void check_run(bench& on, const core::recipe& how, bool masked) {
  const auto plain = on.job(how, masked);
  const auto undisturbed = on.run(plain);
  const auto count = core::steps_to_run(how);
  BOOST_REQUIRE_EQUAL(undisturbed.states.size(), count);
  auto keeps = on.again(plain);
  const auto into = on.keep(keeps, up_to(count));
  const auto kept = on.run(keeps);
  BOOST_TEST((kept.captured == up_to(count)));
  BOOST_TEST((kept.states == undisturbed.states));
  BOOST_TEST((kept.image == undisturbed.image));
  for (uint32_t n = 1; n <= count; ++n) {
    BOOST_TEST((on.kept(into[n - 1]) == undisturbed.states.at(n)));
    const auto resumed = on.run(on.from_kept(plain, into[n - 1], n));
    BOOST_TEST((resumed.image == undisturbed.image));
    BOOST_TEST(resumed.states.size() == count - n);
    if (n < count)
      BOOST_TEST((resumed.states.at(count) == undisturbed.states.at(count)));
  }
}

void check_sampler(bench& on, const core::sampler_row& row) {
  const auto plain = recipe_of(row.of);
  std::vector<core::recipe> all{plain, plain};
  all.back().deterministic = true;
  if (row.has_eta) {
    all.push_back(plain);
    all.back().eta = 0.5f;
  }
  if (row.has_sigmas) {
    all.push_back(plain);
    all.back().karras = true;
  }
  for (auto how : all)
    for (const auto* origin : {"noise", "image", "edit"}) {
      BOOST_TEST_CONTEXT(row.name << " from " << origin << ", eta " << how.eta
                                  << ", karras " << how.karras
                                  << ", deterministic " << how.deterministic) {
        how.from_image = origin != std::string{"noise"};
        how.strength = how.from_image ? 0.75f : 1.f;
        check_run(on, how, origin == std::string{"edit"});
      }
    }
}

struct of_unet : test::tiny_folder, bench {
  of_unet() : bench(path) {}
};

struct of_mmdit : test::tiny_joint_folder, bench {
  of_mmdit() : bench(path) {}
};

/// Capture slots that hold a latent without a history.
struct of_small_slots : test::tiny_folder, bench {
  of_small_slots() : bench(path, gpu::state_bytes({4, 8, 8}, 0)) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(torch_captures)

BOOST_FIXTURE_TEST_CASE(every_sampler_starts_again_from_what_it_kept, of_unet) {
  for (const auto& row : core::samplers)
    if (!row.matches_flow)
      check_sampler(*this, row);
}

BOOST_FIXTURE_TEST_CASE(so_does_every_sampler_of_flow, of_mmdit) {
  for (const auto& row : core::samplers)
    if (row.matches_flow)
      check_sampler(*this, row);
}

BOOST_FIXTURE_TEST_CASE(what_is_kept_has_no_preview, of_unet) {
  const auto plain = job(recipe_of(core::sampler::euler));
  const auto undisturbed = run(plain);
  auto shown = again(plain);
  shown.preview_every = 1;
  const auto into = keep(shown, {2});
  const auto did = run(shown);
  BOOST_TEST(did.states.at(2).size() > undisturbed.states.at(2).size());
  BOOST_TEST((kept(into[0]) == undisturbed.states.at(2)));
  BOOST_TEST((did.image == undisturbed.image));
}

BOOST_FIXTURE_TEST_CASE(captures_do_not_wait_for_a_publication, of_unet) {
  const auto plain = job(recipe_of(core::sampler::dpmpp_2m));
  const auto undisturbed = run(plain);
  auto seldom = again(plain);
  seldom.publish_every = 4;
  const auto into = keep(seldom, {2, 4, 5});
  const auto did = run(seldom);
  BOOST_TEST(did.states.size() == 2u);
  BOOST_TEST((did.captured == (steps{2, 4, 5})));
  for (size_t i = 0; i < into.size(); ++i) {
    const auto after = seldom.captures[i].steps;
    BOOST_TEST((kept(into[i]) == undisturbed.states.at(after)));
  }
  BOOST_TEST((did.image == undisturbed.image));
}

BOOST_FIXTURE_TEST_CASE(states_that_a_row_has_passed_are_left_out, of_unet) {
  auto first = job(recipe_of(core::sampler::ddim));
  const auto early = keep(first, {3});
  const auto undisturbed = run(first);
  auto next = from_kept(first, early[0], 3);
  const auto into = keep(next, {2, 3, 4});
  const auto did = run(next);
  BOOST_TEST((did.captured == steps{4}));
  BOOST_TEST(taken(slots->published(into[0])) == 0u);
  BOOST_TEST(taken(slots->published(into[1])) == 0u);
  BOOST_TEST((kept(into[2]) == undisturbed.states.at(4)));
}

BOOST_FIXTURE_TEST_CASE(rows_of_a_batch_keep_what_each_was_asked_for, of_unet) {
  const auto one = job(recipe_of(core::sampler::dpmpp_2m, 1));
  const auto two = job(recipe_of(core::sampler::euler_ancestral, 2));
  const auto undisturbed = run({one, two});
  auto first = again(one);
  auto second = again(two);
  const auto of_first = keep(first, {2, 6});
  const auto of_second = keep(second, {1, 2, 5});
  const auto did = run({first, second});
  BOOST_TEST((did[0].captured == (steps{2, 6})));
  BOOST_TEST((did[1].captured == (steps{1, 2, 5})));
  for (size_t i = 0; i < 2; ++i) {
    BOOST_TEST((did[i].states == undisturbed[i].states));
    BOOST_TEST((did[i].image == undisturbed[i].image));
  }
  BOOST_TEST((kept(of_first[0]) == undisturbed[0].states.at(2)));
  BOOST_TEST((kept(of_second[1]) == undisturbed[1].states.at(2)));
  // Both resume from there, again in one batch.
  const auto resumed =
    run({from_kept(one, of_first[0], 2), from_kept(two, of_second[1], 2)});
  for (size_t i = 0; i < 2; ++i)
    BOOST_TEST((resumed[i].image == undisturbed[i].image));
}

BOOST_FIXTURE_TEST_CASE(a_capture_that_fails_is_logged_once, of_small_slots) {
  const auto plain = job(recipe_of(core::sampler::dpmpp_2m));
  const auto undisturbed = run(plain);
  auto keeps = again(plain);
  // One slot is too small for a state with a history, one is stale, and one is
  // written already.
  const auto into = keep(keeps, {2, 3, 4});
  auto other = into[1];
  ++other.generation;
  slots->open(other);
  taken(slots->publish(into[2], 1, 0));
  test::caught_log log;
  const auto did = run(keeps);
  BOOST_TEST(did.captured.empty());
  BOOST_TEST((did.states == undisturbed.states));
  BOOST_TEST((did.image == undisturbed.image));
  BOOST_TEST(taken(slots->published(into[0])) == 0u);
  BOOST_TEST(taken(slots->published(other)) == 0u);
  BOOST_TEST(log.lines_with("is not kept") == 3u);
  // The states of another row fit.
  auto fits = job(recipe_of(core::sampler::ddim));
  keep(fits, {2, 3, 4});
  BOOST_TEST((run(fits).captured == (steps{2, 3, 4})));
}

BOOST_FIXTURE_TEST_CASE(a_row_that_fails_tells_what_it_kept, of_unet) {
  auto x = job(recipe_of(core::sampler::euler));
  keep(x, {2, 6});
  x.publish_every = 4;
  // Its publication after step 4 is refused, because the slot holds a later
  // one.
  taken(slots->publish(x.state, 8, 0));
  device->open(x);
  device->run({{x.ticket}, 6});
  const auto did = ran.take();
  BOOST_TEST((did.rows.at(0).failure.code == core::ec::invalid_argument));
  BOOST_TEST((did.rows.at(0).captured == steps{2}));
}

BOOST_AUTO_TEST_SUITE_END()
