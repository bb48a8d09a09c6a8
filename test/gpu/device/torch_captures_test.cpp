// SPDX-License-Identifier: Apache-2.0
// The states that a model's row keeps during its run: for every sampler, from
// noise, from an image and in an edit.
#include "../models/tiny_model.hpp"
#include "caught_log.hpp"
#include "model_bench.hpp"
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;

namespace {

using bench = test::model_bench;
using test::bytes;
using test::course;
using test::px;
using test::recipe_of;
using test::slot_bytes;
using test::steps;
using test::taken;

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
  of_small_slots()
    : bench(path, {.capture_bytes = gpu::state_bytes({4, 8, 8}, 0)}) {}
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
  BOOST_TEST((did.rows.at(0).failure.code == core::ec::incompatible));
  BOOST_TEST((did.rows.at(0).captured == steps{2}));
}

BOOST_AUTO_TEST_SUITE_END()
