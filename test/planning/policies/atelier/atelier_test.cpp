// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/atelier/unified_memory.hpp>
#include <atelier/planning/walk.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;

namespace {

const unified_memory& memory_of(const test::scene& s) {
  return *s.now.memory.as<unified_memory>();
}

// Returns the mean device seconds of the first legs of 2,000 prompts. The
// prompts tolerate a level and have every state near.
double mean_seconds(const test::scene& s, const facts& f) {
  constexpr uint64_t prompts = 2'000;
  double sum = 0;
  for (uint64_t id = 0; id < prompts; ++id) {
    const auto& first = s.route(f, {}, id).legs.front();
    const auto& v = s.known.variants[first.any_of.front().value];
    sum += core::to_seconds(v.step.front().took) * (v.steps - first.skip);
  }
  return sum / prompts;
}

facts everything(uint32_t level, double similarity = 0.99) {
  auto f = test::near_one(similarity, {5, 10, 15, 20, 25});
  f.tolerated = std::vector<uint32_t>{level, level};
  return f;
}

test::scene loaded(double rate, bool cascades = true, size_t workers = 8) {
  test::scene s{"atelier", workers};
  if (!cascades)
    s.known.cascades.clear();
  for (int i = 0; i < 3; ++i) {
    auto& w = s.window(rate);
    w.searched = w.arrived;
    w.hits = w.arrived;
    w.allowed = {{25, w.arrived}};
    s.asked.now += std::chrono::minutes{3};
    s.replan();
    s.load();
  }
  s.replan();
  return s;
}

double sum_of_devices(const test::scene& s) {
  double sum = 0;
  for (const auto& [key, n] : memory_of(s).counts)
    sum += n;
  return sum;
}

} // namespace

BOOST_AUTO_TEST_SUITE(atelier_policy_test)

BOOST_AUTO_TEST_CASE(low_load_runs_in_full) {
  const auto s = loaded(0.3, false);
  size_t full = 0;
  for (uint64_t id = 0; id < 100; ++id) {
    const auto& first = s.route(everything(0), {}, id).legs.front();
    full += first.any_of.front().value == 0 && first.skip == 0 ? 1u : 0u;
  }
  BOOST_TEST(full >= 95u);
  BOOST_TEST(!s.now.saturated);
}

BOOST_AUTO_TEST_CASE(more_load_takes_less_time_for_each) {
  double before = 1e9;
  for (const double rate : {0.5, 2.0, 3.0, 5.0, 8.0, 20.0}) {
    const auto s = loaded(rate, false);
    double seconds = 0;
    for (uint32_t level = 0; level < 3; ++level)
      seconds += mean_seconds(s, everything(level)) / 3;
    BOOST_TEST(seconds <= before * 1.05, "rate " << rate << ": " << seconds
                                                 << " s, " << before
                                                 << " s before");
    before = seconds;
  }
}

BOOST_AUTO_TEST_CASE(who_tolerates_more_gives_way_first) {
  const auto s = loaded(4.4, false);
  BOOST_TEST(mean_seconds(s, everything(2)) < mean_seconds(s, everything(0)));
}

BOOST_AUTO_TEST_CASE(too_much_is_refused_and_told) {
  auto s = loaded(500);
  BOOST_TEST(s.now.saturated);
  BOOST_REQUIRE(!s.now.admitted_rates.empty());
  double admitted = 0;
  for (const double x : s.now.admitted_rates)
    admitted += std::isfinite(x) ? x : 0;
  BOOST_TEST((admitted > 10 && admitted < 200));
  BOOST_TEST((s.now.retry_after > core::timespan{0}));
  // One more device would refuse fewer requests.
  BOOST_TEST(memory_of(s).why.helps_most == "cuda");
  BOOST_TEST(memory_of(s).why.helps_by > 0.0);
}

BOOST_AUTO_TEST_CASE(a_lost_worker_changes_shares_at_once_and_loads_nothing) {
  auto s = loaded(2.5);
  s.there.workers.resize(4);
  s.replan();
  BOOST_TEST(memory_of(s).urgent);
  BOOST_TEST(s.now.provisional);
  for (size_t i = 0; i < 4; ++i)
    BOOST_TEST((s.now.workers[i].hosting == s.there.workers[i].hosting));
  s.window(2.5);
  s.replan();
  BOOST_TEST(!memory_of(s).urgent);
  BOOST_TEST(!s.now.provisional);
  BOOST_TEST(sum_of_devices(s) <= 4.0);
}

// Five requests in a second and none in the next are chance if the load is
// small; a load ten times as large is not.
BOOST_AUTO_TEST_CASE(an_idle_second_is_no_jump_of_a_small_load) {
  test::scene s{"atelier"};
  const auto second = [&](uint64_t arrived) {
    demand_window w;
    w.begin = s.asked.now;
    w.length = std::chrono::seconds{1};
    w.arrived = w.searched = w.hits = arrived;
    w.allowed = {{25, arrived}};
    s.asked.now += w.length;
    s.asked.windows.push_back(std::move(w));
    if (s.asked.windows.size() > 20)
      s.asked.windows.erase(s.asked.windows.begin());
  };
  const auto steady = [&](uint64_t seconds) {
    for (uint64_t i = 0; i < seconds; ++i)
      second(i % 2);
    s.replan();
    s.load();
  };
  for (int i = 0; i < 20; ++i)
    steady(30);
  second(5);
  second(0);
  s.replan();
  BOOST_TEST(recent_rate(s.asked.windows).rate == 0.0);
  BOOST_TEST(!memory_of(s).urgent);
  steady(10);
  BOOST_TEST(!memory_of(s).urgent);
  for (int i = 0; i < 15; ++i)
    second(8);
  s.replan();
  BOOST_TEST(memory_of(s).urgent);
}

BOOST_AUTO_TEST_CASE(small_changes_of_load_move_no_device) {
  auto s = loaded(2);
  const auto before = memory_of(s).counts;
  for (size_t i = 0; i < test::scaled(2000); ++i) {
    auto random = test::random_of(i);
    auto& w = s.window(2 + 0.1 * (random.uniform() - 0.5));
    w.searched = w.hits = w.arrived;
    w.allowed = {{25, w.arrived}};
    s.replan();
    BOOST_REQUIRE((memory_of(s).counts == before));
  }
}

BOOST_AUTO_TEST_CASE(the_best_model_is_loaded_again_after_a_rush) {
  test::scene s{"atelier"};
  s.known.cascades.clear();
  s.known.reuse.reset();
  std::erase_if(s.known.ladders, [](const auto& l) {
    return l.kind == ladder_kind::cached_latents;
  });
  s.known.variants[0].load = std::chrono::seconds{20};
  const auto go_on_at = [&](double rate) {
    for (int i = 0; i < 4; ++i) {
      s.asked.windows.clear();
      s.window(rate);
      s.asked.now += std::chrono::minutes{3};
      s.replan();
      s.load();
    }
  };
  go_on_at(20);
  BOOST_TEST_REQUIRE(s.hosting(0) < 4u);
  go_on_at(0.3);
  // The plan hosts as many as the load needs.
  BOOST_TEST(s.hosting(0) > 0u);
  for (uint64_t id = 0; id < 50; ++id)
    BOOST_TEST(
      s.route(test::tolerates(0), {}, id).legs.front().any_of.front().value
      == 0u);
}

BOOST_AUTO_TEST_CASE(what_always_waits_is_in_the_head_room) {
  auto s = loaded(3, false);
  s.replan();
  const auto before = s.now.share;
  s.asked.backlog = 6;
  s.replan();
  BOOST_TEST((s.now.share == before));
  s.asked.backlog = 200;
  s.replan();
  BOOST_TEST((s.now.share != before));
}

BOOST_AUTO_TEST_CASE(facts_are_asked_for_where_they_matter) {
  auto s = loaded(3);
  BOOST_TEST((std::get<need>(s.choose({}))
              == need{true, false, false, compared::nothing, false}));
  bool searched = false;
  for (uint64_t id = 0; id < 300; ++id)
    searched =
      searched
      || std::holds_alternative<need>(s.choose(test::tolerates(2), {}, id));
  BOOST_TEST(searched);
  // An edit needs the fact of its mask.
  core::request edit;
  edit.kind = core::request_kind::edit;
  edit.source = std::make_shared<core::source_images>();
  edit.px = {512, 512};
  BOOST_TEST((std::get<need>(s.choose({}, edit))
              == need{false, false, false, compared::nothing, true}));
}

BOOST_AUTO_TEST_CASE(nothing_starts_further_than_similarity_allows) {
  const auto s = loaded(3);
  for (const auto& [similarity, most] :
       std::vector<std::pair<double, uint32_t>>{
         {0.5, 0}, {0.7, 5}, {0.8, 10}, {0.87, 15}, {0.92, 20}, {0.99, 25}})
    for (uint32_t level = 0; level < 3; ++level)
      for (uint64_t id = 0; id < 100; ++id) {
        const auto& first =
          s.route(everything(level, similarity), {}, id).legs.front();
        if (first.from == origin::latent)
          BOOST_REQUIRE_LE(first.skip, most);
      }
}

BOOST_AUTO_TEST_CASE(cascades_judge_and_answer_late_ones_with_what_there_is) {
  auto s = loaded(1);
  bool found = false;
  for (const auto& r : s.now.routes)
    if (r.legs.size() == 2) {
      found = true;
      BOOST_TEST((r.late == late_rule::answer_best));
      BOOST_REQUIRE(r.legs[0].check.has_value());
      BOOST_TEST(r.legs[0].check->threshold < s.now.thresholds.size());
    }
  BOOST_TEST(found);
}

// A heavy image takes 4.2 s. After any wait it would end after 5 s, but a
// deferred request that waits too long is answered with its light image.
BOOST_AUTO_TEST_CASE(what_is_deferred_need_not_be_sure_to_end_in_time) {
  const auto deferring = [](core::timespan deadline) {
    test::scene s{"atelier"};
    s.known.ladders.clear();
    s.known.reuse.reset();
    s.known.cascades.front().deadline = deadline;
    for (int i = 0; i < 3; ++i) {
      s.window(1.5);
      s.asked.now += std::chrono::minutes{3};
      s.replan();
      s.load();
    }
    s.replan();
    double share = 0;
    for (size_t r = 0; r < s.now.routes.size(); ++r)
      if (s.now.routes[r].legs.size() == 2)
        share += s.now.share.front()[r];
    return share;
  };
  BOOST_TEST(deferring(std::chrono::seconds{5}) > 0.9);
  // No heavy image could ever be ready in time.
  BOOST_TEST(deferring(std::chrono::seconds{4}) == 0.0);
}

BOOST_AUTO_TEST_CASE(images_are_refined_where_the_cache_has_images) {
  test::scene s{"atelier"};
  s.known.ladders.clear();
  s.known.cascades.clear();
  s.known.reuse->latents.clear();
  for (int i = 0; i < 3; ++i) {
    auto& w = s.window(6);
    w.searched = w.hits = w.arrived;
    w.allowed = {{30, w.arrived}};
    s.asked.now += std::chrono::minutes{3};
    s.replan();
    s.load();
  }
  s.replan();
  bool refined = false;
  for (uint64_t id = 0; id < 100; ++id) {
    const auto& r = s.route(test::near_one(0.31, {}), {}, id);
    refined = refined || r.legs.front().from == origin::image;
    const auto& far = s.route(test::near_one(0.1, {}), {}, id);
    BOOST_TEST((far.legs.front().from == origin::noise));
    BOOST_TEST(far.store.image);
  }
  BOOST_TEST(refined);
}

BOOST_AUTO_TEST_CASE(edits_take_devices_of_the_plan) {
  test::scene s{"atelier"};
  auto& w = s.window(1);
  w.edits.assign(8, 0);
  w.edits[1] = w.arrived / 2;
  s.replan();
  BOOST_TEST(memory_of(s).classes.edits.size() == 8u);
  BOOST_TEST(s.now.share.size() <= unified::most_classes);
}

BOOST_AUTO_TEST_CASE(edits_that_are_drawn_in_full_count_as_other_requests) {
  test::scene s{"atelier"};
  s.known.edits_in_full = true;
  auto& w = s.window(1);
  w.edits.assign(8, 0);
  w.edits[1] = w.arrived / 2;
  s.replan();
  BOOST_TEST(memory_of(s).classes.edits.empty());
  for (const auto& x : s.now.routes)
    BOOST_TEST(x.name.find("masked") == std::string::npos, x.name);
}

BOOST_AUTO_TEST_CASE(variants_that_nothing_relates_are_for_those_who_ask) {
  auto s = loaded(3);
  variant_profile other = s.known.variants[2];
  other.name = "other@1";
  other.model = "other";
  other.quality = 100;
  s.known.variants.push_back(other);
  s.window(3);
  s.replan();
  for (const auto& a : s.now.workers)
    for (const auto v : a.hosting)
      BOOST_TEST(v.value != 3u);
}

BOOST_AUTO_TEST_SUITE_END()
