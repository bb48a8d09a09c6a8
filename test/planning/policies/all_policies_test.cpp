// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include "support/scale.hpp"
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/policies/modm/modm.hpp>
#include <atelier/planning/policies/nirvana/nirvana.hpp>
#include <atelier/planning/walk.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

void random_counts(core::philox& random, demand_window& w) {
  w.late = random.below(5);
  w.searched = w.arrived;
  w.hits = w.arrived == 0 ? 0 : random.below(w.arrived + 1);
  w.skips = {{10, w.hits / 2}, {25, w.hits - w.hits / 2}};
  w.allowed = w.skips;
  w.allowed.emplace_back(0, w.searched - w.hits);
  w.predicted.assign(2, {});
  for (auto& p : w.predicted)
    for (size_t c = 0; c < 3; ++c)
      p.push_back(random.below(100));
  w.confidences.assign(201, 0);
  for (auto& n : w.confidences)
    n = random.below(3);
  for (size_t i = random.below(30); i > 0; --i)
    w.retrievals.push_back({random.uniform(), random.below(4) == 0});
  w.placed = {random.below(100), random.below(100), random.below(100)};
}

facts random_facts(core::philox& random) {
  facts f;
  f.tolerated = std::vector<uint32_t>{static_cast<uint32_t>(random.below(5)),
                                      static_cast<uint32_t>(random.below(5))};
  if (random.below(4) == 0)
    f.tolerated->clear();
  f.hit_likely = random.below(2) == 0;
  f.near.emplace();
  for (size_t i = random.below(4); i > 0; --i) {
    match m;
    m.similarity = random.uniform();
    for (const uint32_t k : {5u, 10u, 15u, 20u, 25u})
      if (random.below(2) == 0)
        m.stored.push_back(k);
    f.near->push_back(m);
  }
  f.mask = mask_facts{random.uniform() * 1.2, 3, random.below(2) == 0};
  return f;
}

core::request random_request(core::philox& random) {
  core::request r;
  r.id = core::request_id{random.below(1000)};
  if (random.below(4) == 0)
    r.fixed.model = random.below(2) == 0 ? "base" : "turbo";
  if (random.below(4) == 0)
    r.fixed.steps = 7;
  if (random.below(4) == 0)
    r.fixed.guidance = 3.0f;
  r.deterministic = random.below(4) == 0;
  if (random.below(3) == 0) {
    r.kind = core::request_kind::edit;
    r.source = std::make_shared<core::source_images>();
    r.px = {512, 512};
  }
  return r;
}

} // namespace

BOOST_AUTO_TEST_SUITE(all_policies_test)

BOOST_AUTO_TEST_CASE(names_are_unique_and_made) {
  std::set<std::string> names;
  for (const auto& p : test::every_policy()) {
    BOOST_TEST(names.emplace(p->name()).second);
    BOOST_TEST(test::any_policy(p->name()) == p);
  }
  for (const char* name : {"atelier",
                           "vanilla",
                           "argus",
                           "argus-paper",
                           "diffserve",
                           "diffserve-paper",
                           "nirvana",
                           "nirvana-paper",
                           "modm",
                           "modm-paper",
                           "instgenie",
                           "instgenie-paper",
                           "clipper-light",
                           "clipper-heavy",
                           "proteus",
                           "sommelier",
                           "pac",
                           "diffserve-static",
                           "random-cascade",
                           "score-cascade",
                           "gptcache",
                           "pinecone",
                           "crs",
                           "small-model",
                           "request-balance",
                           "token-balance",
                           "aimd",
                           "argus-no-shift",
                           "argus-no-classifier",
                           "argus-no-switch",
                           "diffserve-peak",
                           "static-threshold",
                           "no-waits",
                           "no-queueing",
                           "clip-cascade",
                           "light-aimd",
                           "heavy-aimd",
                           "first-fit",
                           "static-batching",
                           "full-recompute",
                           "nirvana-no-predictor",
                           "modm-cache-large",
                           "diffserve-proteus",
                           "modm-paper-quality"})
    BOOST_TEST(names.count(name) == 1u, name);
}

BOOST_AUTO_TEST_CASE(the_list_begins_with_those_to_serve_with) {
  const std::vector<std::string> systems{"atelier",   "argus",  "diffserve",
                                         "instgenie", "modm",   "nirvana",
                                         "fixed",     "vanilla"};
  std::vector<std::string> found;
  size_t made = 0;
  auto last = policy_kind::system;
  for (const auto& row : policy_rows()) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST((last <= row.kind));
      last = row.kind;
      BOOST_TEST(!row.does.empty());
      // Every comparison names the paper that needs it.
      BOOST_TEST((row.kind == policy_kind::system || !row.paper.empty()));
      if (std::find(systems.begin(), systems.end(), row.name) != systems.end())
        found.emplace_back(row.name);
      if (row.make == nullptr) {
        // A plan file makes it, or bench/papers does.
        BOOST_TEST(is_for_comparisons(row.name) == (row.name != fixed_name));
        if (row.name != fixed_name)
          BOOST_TEST(test::any_policy(row.name)->name() == row.name);
        continue;
      }
      BOOST_TEST(!is_for_comparisons(row.name));
      const auto& policy = all_policies().at(made++);
      BOOST_TEST_REQUIRE(policy != nullptr);
      BOOST_TEST(policy->name() == row.name);
    }
  }
  BOOST_TEST(made == all_policies().size());
  BOOST_TEST(found == systems, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_set_of_rules_has_its_row) {
  const auto listed = [](const auto& rules) {
    for (const auto& x : rules)
      BOOST_TEST(static_cast<bool>(make_policy(x.name)), x.name);
  };
  listed(all_argus_rules());
  listed(all_diffserve_rules());
  listed(all_instgenie_rules());
  listed(all_modm_rules());
  listed(all_nirvana_rules());
}

// Users read the same list in docs/policies.md.
BOOST_AUTO_TEST_CASE(the_document_lists_the_same_policies) {
  std::ifstream in{ATELIER_POLICIES_DOCUMENT};
  BOOST_REQUIRE(in);
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("| `"))
      rows.push_back(line);
  std::vector<std::string> wanted;
  for (const auto& row : policy_rows())
    wanted.push_back(
      "| `" + std::string{row.name} + "` | " + std::string{row.does} + " | "
      + (row.paper.empty() ? "-" : std::string{row.paper}) + " |");
  BOOST_TEST(rows == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_their_part_of_the_profile_they_are_vanilla) {
  for (const auto& p : test::every_policy()) {
    test::scene s{p->name()};
    s.known = test::three_variants();
    s.window(1);
    s.replan();
    facts f;
    const auto c = s.choose(f);
    const auto* go = std::get_if<planning::go>(&c);
    BOOST_REQUIRE_MESSAGE(go != nullptr, p->name());
    BOOST_TEST(s.now.routes[go->route.value].name == "base@50", p->name());
  }
}

BOOST_AUTO_TEST_CASE(no_workers_and_no_demand_give_a_plan) {
  for (const auto& p : test::every_policy()) {
    for (const size_t workers : {0u, 1u, 2u}) {
      test::scene s{p->name(), workers};
      for (int period = 0; period < 3; ++period) {
        s.replan();
        BOOST_TEST(s.now.version == static_cast<uint64_t>(period + 1));
        BOOST_TEST(s.now.workers.size() == workers);
        BOOST_TEST(s.now.routes.size() >= 3u);
      }
    }
  }
}

// In every history, shares are distributions over existing routes, every answer
// is a route that can run, and no request asks for the same fact twice.
BOOST_AUTO_TEST_CASE(plans_and_choices_are_sound_in_random_histories) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto policies = test::every_policy();
    const auto& policy = policies[i % policies.size()];
    test::scene s{policy->name(), 1 + random.below(12)};
    for (size_t period = 0; period < 6; ++period) {
      auto& w = s.window(random.below(5) == 0 ? 0 : 3 * random.uniform());
      random_counts(random, w);
      s.asked.backlog = random.below(20);
      s.asked.waiting = {random.below(9), random.below(9), random.below(9)};
      if (random.below(6) == 0 && s.there.workers.size() > 1)
        s.there.workers.pop_back();
      const auto version = s.now.version;
      s.replan();
      BOOST_REQUIRE(s.now.version == version + 1);
      BOOST_REQUIRE(s.now.workers.size() == s.there.workers.size());
      for (size_t k = 0; k < s.now.workers.size(); ++k) {
        const auto& a = s.now.workers[k];
        BOOST_REQUIRE((a.worker == s.there.workers[k].worker));
        BOOST_REQUIRE_MESSAGE(!a.hosting.empty() && a.hosting.size() <= 2,
                              policy->name());
        BOOST_REQUIRE(a.batch >= 1 && a.batch <= 4);
      }
      for (const auto& row : s.now.share) {
        BOOST_REQUIRE(row.size() == s.now.routes.size());
        BOOST_REQUIRE_MESSAGE(
          std::abs(std::accumulate(row.begin(), row.end(), 0.0) - 1) < 1e-6,
          policy->name());
        for (const double x : row)
          BOOST_REQUIRE(x >= 0);
      }
      for (const auto& r : s.now.routes)
        for (const auto& leg : r.legs) {
          BOOST_REQUIRE(!leg.any_of.empty());
          for (const auto v : leg.any_of)
            BOOST_REQUIRE(v.value < s.known.variants.size());
          if (leg.check)
            BOOST_REQUIRE(leg.check->threshold < s.now.thresholds.size());
        }
      if (random.below(2) == 0)
        s.load();
      for (size_t n = 0; n < 8; ++n) {
        const auto all = random_facts(random);
        const auto wanted = random_request(random);
        facts known;
        choice c;
        for (size_t asked = 0; asked < 5; ++asked) {
          auto draws = test::random_of(n);
          c = s.sut->choose({wanted, known, s.known, s.now, s.there, draws});
          const auto* need = std::get_if<planning::need>(&c);
          if (need == nullptr)
            break;
          const auto give = [&](bool wants, auto& into, const auto& from) {
            if (!wants)
              return;
            BOOST_REQUIRE_MESSAGE(!into, policy->name());
            into = from;
          };
          give(need->tolerated, known.tolerated, all.tolerated);
          give(need->hit_likely, known.hit_likely, all.hit_likely);
          give(need->near, known.near, all.near);
          give(need->mask, known.mask, all.mask);
        }
        const auto* go = std::get_if<planning::go>(&c);
        BOOST_REQUIRE_MESSAGE(go != nullptr, policy->name());
        BOOST_REQUIRE(go->route.value < s.now.routes.size());
        const auto& r = s.now.routes[go->route.value];
        if (go->match)
          BOOST_REQUIRE(*go->match < known.near->size());
        for (const auto& leg : r.legs) {
          auto draws = test::random_of(n);
          s.sut->place(leg, {wanted, known, s.known, s.now, s.there, draws});
          if (leg.from == origin::latent) {
            // The match has a state that the leg may use.
            BOOST_REQUIRE(go->match.has_value());
            bool usable = false;
            for (const uint32_t k : (*known.near)[*go->match].stored)
              usable = usable || (k > 0 && k <= leg.skip);
            BOOST_REQUIRE_MESSAGE(usable, policy->name());
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_history_makes_the_same_plans) {
  for (const auto& p : test::every_policy()) {
    plan first;
    for (int run = 0; run < 2; ++run) {
      auto random = test::random_of(3);
      test::scene s{p->name()};
      for (int period = 0; period < 5; ++period) {
        random_counts(random, s.window(2 * random.uniform()));
        s.replan();
        s.load();
      }
      if (run == 0)
        first = s.now;
      else
        BOOST_TEST((s.now == first), p->name());
    }
  }
}

BOOST_AUTO_TEST_CASE(pinned_requests_get_what_they_pin) {
  for (const auto& p : test::every_policy()) {
    test::scene s{p->name()};
    random_counts(*std::make_unique<core::philox>(test::random_of(1)),
                  s.window(1));
    s.replan();
    core::request pinned;
    pinned.fixed.variant = "turbo@1";
    BOOST_TEST(s.route({}, pinned).name == "turbo@1", p->name());
    core::request unknown;
    unknown.fixed.model = "nobody";
    const auto c = s.choose({}, unknown);
    BOOST_TEST(std::holds_alternative<refuse>(c), p->name());
  }
}

BOOST_AUTO_TEST_SUITE_END()
