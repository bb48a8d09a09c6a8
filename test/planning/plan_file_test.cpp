// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "planning/full_profile.hpp"
#include "planning/profiles/read_profile.hpp"
#include "support/scale.hpp"
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>
#include <atelier/planning/policies/diffserve/diffserve_memory.hpp>
#include <atelier/planning/policies/modm/modm_memory.hpp>
#include <atelier/planning/policies/nirvana/nirvana_memory.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

using namespace atelier;
using namespace atelier::planning;

namespace {

/// Draws the parts of a plan.
class draws {
public:
  explicit draws(uint64_t i) : random_(test::random_of(i)) {}

  uint32_t below(uint32_t n) {
    return static_cast<uint32_t>(random_.below(n));
  }

  bool coin() {
    return below(2) == 0;
  }

  core::variant_id variant() {
    return core::variant_id{below(3)};
  }

  std::vector<core::variant_id> variants(uint32_t least) {
    std::set<core::variant_id> out;
    const auto n = least + below(3);
    while (out.size() < std::max(n, least) && out.size() < 3)
      out.insert(variant());
    return {out.begin(), out.end()};
  }

  std::vector<uint32_t> rising(uint32_t most) {
    std::set<uint32_t> out;
    for (auto n = below(6); n > 0; --n)
      out.insert(1 + below(most));
    return {out.begin(), out.end()};
  }

  core::timespan span() {
    return coin() ? core::timespan{0}
                  : core::timespan{random_.below(3'600'000'000'000)};
  }

  double number(double least, double most) {
    return least + (most - least) * random_.uniform();
  }

  std::vector<double> row(size_t routes) {
    std::vector<double> out(routes, 0.0);
    double sum = 0;
    for (auto& x : out)
      sum += x = coin() ? 0 : random_.uniform();
    if (sum <= 0)
      out[0] = sum = 1;
    for (auto& x : out)
      x /= sum;
    return out;
  }

  std::vector<std::vector<double>> rows(size_t n, size_t routes) {
    std::vector<std::vector<double>> out;
    while (out.size() < n)
      out.push_back(row(routes));
    return out;
  }

private:
  core::philox random_;
};

leg random_stage(draws& d, size_t thresholds) {
  leg s;
  s.any_of = d.variants(1);
  s.from = static_cast<origin>(d.below(5));
  s.skip = d.below(30);
  s.steps = d.below(60);
  s.skip_of = d.below(60);
  s.level_of_worker = d.coin();
  s.capture = d.rising(50);
  s.record = d.coin();
  if (thresholds > 0 && d.coin())
    s.check = gate{d.coin() ? "eye" : "\"\\ \xC3\xA4\n",
                   d.below(static_cast<uint32_t>(thresholds))};
  return s;
}

policy_memory random_memory(draws& d, const saved_plan& of) {
  const auto routes = static_cast<uint32_t>(of.routes.size());
  const auto classes = static_cast<uint32_t>(of.share.size());
  switch (d.below(6)) {
    case 0: {
      argus_memory m;
      m.change.phase = static_cast<argus::switch_phase>(d.below(4));
      m.first_route = d.below(routes);
      m.levels = d.below(5);
      return m;
    }
    case 1:
      return diffserve_memory{};
    case 2:
      return modm_memory{};
    case 3:
      return nirvana_memory{d.coin()};
    case 4: {
      unified_memory m;
      m.first_route = d.below(routes - 2);
      auto& map = m.classes;
      map.labels = 1 + d.below(4);
      map.ladder = d.below(2);
      map.skips = d.rising(40);
      map.skips.insert(map.skips.begin(), 0);
      map.of.clear();
      for (size_t i = 0; i < map.labels * map.skips.size(); ++i)
        map.of.push_back(d.below(classes));
      for (size_t i = 0; d.coin() && i < unified::edit_bins; ++i)
        map.edits.push_back(d.below(classes));
      if (map.edits.size() != unified::edit_bins)
        map.edits.clear();
      for (size_t i = 0; i < map.labels; ++i)
        m.searches.push_back(d.coin() ? 1 : 0);
      m.blind = d.rows(map.labels, of.routes.size());
      return m;
    }
    default:
      return {};
  }
}

saved_plan random_plan(uint64_t i) {
  draws d{i};
  const auto policies = test::every_policy();
  saved_plan x;
  x.policy = policies[i % policies.size()]->name();
  for (auto n = d.below(6); n > 0; --n) {
    worker_group g;
    g.count = 1 + d.below(30);
    g.hosting = d.variants(0);
    g.batch = 1 + d.below(64);
    g.level = d.below(30);
    g.join = static_cast<joining>(d.below(3));
    g.also_serves = d.variants(0);
    g.batch_time = d.span();
    x.workers.push_back(std::move(g));
  }
  for (auto n = d.below(4); n > 0; --n)
    x.thresholds.push_back(d.number(-1, 2));
  for (uint32_t v = 0; v < 3; ++v) {
    leg whole;
    whole.any_of = {core::variant_id{v}};
    x.routes.push_back({"alone", {whole}, {}, {}, {}});
  }
  for (auto n = d.below(12); n > 0; --n) {
    route r;
    r.name = "route " + std::to_string(n);
    for (auto s = 1 + d.below(3); s > 0; --s)
      r.legs.push_back(random_stage(d, x.thresholds.size()));
    r.from = static_cast<origin>(d.below(5));
    r.store = {d.coin(), d.coin()};
    r.late = d.coin() ? late_rule::drop : late_rule::answer_best;
    x.routes.push_back(std::move(r));
  }
  x.share = d.rows(1 + d.below(8), x.routes.size());
  for (auto n = d.below(4); n > 0; --n)
    x.admitted_rates.push_back(
      d.coin() ? d.number(0, 1e3) : std::numeric_limits<double>::infinity());
  x.saturated = d.coin();
  x.retry_after = d.span();
  x.memory = random_memory(d, x);
  return x;
}

std::string replaced(std::string text, const std::string& what,
                     const std::string& by) {
  const auto at = text.find(what);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), by);
}

/// Returns a plan of vanilla's routes with a cascade and a memory of `atelier`.
saved_plan sample() {
  saved_plan x;
  x.policy = "atelier";
  x.workers = {{3, {core::variant_id{2}}, 4, 0, joining::whole_batch, {}, {}},
               {1, {core::variant_id{0}}, 1, 5, joining::step, {}, {}}};
  for (uint32_t v = 0; v < 3; ++v) {
    leg whole;
    whole.any_of = {core::variant_id{v}};
    x.routes.push_back({"alone", {whole}, {}, {}, {}});
  }
  auto both = x.routes[2];
  both.name = "cascade";
  both.legs[0].check = gate{"eye", 0};
  both.legs.push_back(x.routes[0].legs[0]);
  x.routes.push_back(both);
  x.share = {{0, 0, 0.25, 0.75}};
  x.thresholds = {0.5};
  unified_memory m;
  m.searches = {1};
  m.blind = {{1, 0, 0, 0}};
  x.memory = m;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(plan_file_test)

BOOST_AUTO_TEST_CASE(random_plans_are_read_as_they_were_written) {
  const auto known = test::full_profile();
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    const auto x = random_plan(i);
    const auto text = to_json(x, known);
    const auto back =
      parse_plan(text, "p.json", known, papers::paper_policies());
    BOOST_REQUIRE_MESSAGE(back, "plan " << i << ": "
                                        << (back ? "" : back.why().text));
    BOOST_REQUIRE_MESSAGE((*back == x), "plan " << i << ":\n" << text);
    BOOST_REQUIRE(to_json(*back, known) == text);
  }
}

BOOST_AUTO_TEST_CASE(what_may_be_left_out_has_its_default) {
  const auto read = parse_plan(
    R"({"format": "atelier.plan", "version": 1, "policy": "vanilla",
        "workers": [{"count": 2, "hosting": [], "batch": 3}],
        "routes": [{"route": 0, "name": "a", "stages": [{"any_of": ["base@50"]}]},
                   {"route": 1, "name": "b", "stages": [{"any_of": ["base@20"]}]},
                   {"route": 2, "name": "c", "stages": [{"any_of": ["turbo@1"]}]}],
        "share": [{"0": 0.333, "2": 0.667}]})",
    "p.json", test::full_profile());
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.why().text));
  BOOST_TEST((read->workers[0] == worker_group{2, {}, 3, 0, {}, {}, {}}));
  BOOST_TEST((read->share[0] == std::vector<double>{0.333, 0, 0.667}));
  BOOST_TEST(!read->memory);
  BOOST_TEST(!read->saturated);
}

BOOST_AUTO_TEST_CASE(every_fault_is_told_with_its_place) {
  const auto read = parse_plan(
    R"({"format": "atelier.plans", "version": 2, "policy": "vanila", "more": 1,
        "workers": [{"count": 0, "hosting": ["base@51"], "batch": -1},
                    {"count": 2, "hosting": ["base@50", "base@50"], "batch": 1.5,
                     "join": "never", "level": null, "batch_time_ms": -1}, 7],
        "routes": [{"route": 1, "name": "", "stages": [
                      {"any_of": [], "from": "nothing", "skip": -3,
                       "capture": [5, 5], "record": 1,
                       "gate": {"judge": 3, "threshold": -1}}, []],
                    "store": ["text"], "late": "never"}],
        "share": [{"0": 2}, {"1": 1}, {"00": 1}, [], {"0": null}, {}],
        "thresholds": [1e300, "x"], "admitted_rates": [-1], "saturated": 2,
        "retry_after_ms": 1e300})",
    "p.json", test::full_profile());
  BOOST_REQUIRE(!read);
  BOOST_TEST((read.why().code == core::ec::bad_payload));
  for (const char* part :
       {"p.json: plan.format: \"atelier.plans\"",
        "plan.version: 2",
        "plan.policy: unknown policy 'vanila'",
        "plan.more",
        "workers[0].count: 0 is not a whole number in 1..20000",
        "workers[0].hosting[0]: \"base@51\" is not a variant of the "
        "profile, which has base@50, base@20, turbo@1",
        "workers[0].batch: -1",
        "workers[1].hosting[1]: \"base@50\" occurs twice",
        "workers[1].batch: 1.5",
        "workers[1].join: \"never\" is not one of step, "
        "whole_batch, single",
        "workers[1].level: null",
        "workers[1].batch_time_ms: -1",
        "workers[2]: 7 is not an object",
        "routes[0].route: 1 is not a whole number in 0..0",
        "routes[0].name: ",
        "routes[0].stages[0].any_of: [] is not a list of 1..3",
        "routes[0].stages[0].from: \"nothing\"",
        "routes[0].stages[0].skip: -3",
        "routes[0].stages[0].capture: does not rise",
        "routes[0].stages[0].record: 1 is neither",
        "routes[0].stages[0].gate.judge: 3 is not a text",
        "routes[0].stages[0].gate.threshold: -1",
        "routes[0].stages[1]: [] is not an object",
        "routes[0].store[0]: \"text\"",
        "routes[0].late: \"never\"",
        "plan.share[0].0: 2 is not a number in 0..1",
        "plan.share[1].1: is not the number of a route, 0..0",
        "plan.share[2].00: is not the number",
        "plan.share[3]: [] is not an",
        "plan.share[4].0: null",
        "plan.share[5]: sums to 0, not to 1",
        "thresholds[0]: 1e+300",
        "thresholds[1]: \"x\"",
        "admitted_rates[0]: -1",
        "plan.saturated: 2",
        "plan.retry_after_ms: 1e+300"})
    BOOST_TEST(read.why().text.find(part) != std::string::npos,
               part << "\nin\n"
                    << read.why().text);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_together_is_told) {
  const auto known = test::full_profile();
  const auto text = to_json(sample(), known);
  BOOST_REQUIRE(parse_plan(text, "p.json", known));
  const auto says = [&](const std::string& what, const std::string& by,
                        const std::string& part) {
    const auto read = parse_plan(replaced(text, what, by), "p.json", known);
    BOOST_REQUIRE_MESSAGE(!read, by);
    BOOST_TEST(read.why().text.find(part) != std::string::npos,
               part << " in " << read.why().text);
  };
  // NaN and infinity are not valid JSON, and their substitutes are not valid
  // numbers.
  says("0.25", "NaN", "is not JSON from here on");
  says("0.25", "1e999", "number overflow parsing '1e999'");
  says("\"count\":3", "\"count\":-3", "workers[0].count: -3");
  says("\"count\":3", "\"count\":20000",
       "plan.workers: 20001 of all groups are more than 20000");
  says("0.75", "0.7", "plan.share[0]: sums to 0.95");
  says("\"threshold\":0", "\"threshold\":1",
       "routes[3].stages[0].gate.threshold: 1 is not below the number of "
       "thresholds, 1");
  says("\"any_of\":[\"base@20\"]", "\"any_of\":[\"base@50\"]",
       "routes[1]: is not 'base@20' alone");
  says("\"name\":\"cascade\",\"stages\":[", "\"name\":\"cascade\",\"x\":[",
       "routes[3].x: is not a known key");
  says("\"first_route\":0", "\"first_route\":2",
       "memory.first_route: 2 does not begin 3 routes with stages");
  says("\"skips\":[0]", "\"skips\":[1]", "memory.skips: does not begin with 0");
  says("\"skips\":[0]", "\"skips\":[0,5]",
       "memory.classes: has 1 entries, not 2");
  says("\"classes\":[0]", "\"classes\":[1]",
       "memory.classes[0]: 1 is not a whole number in 0..0");
  says("\"searches\":[true]", "\"searches\":[]",
       "memory.searches: has 0 entries, not 1");
  says("\"blind\":[{\"0\":1.0}]", "\"blind\":[]",
       "memory.blind: has 0 entries, not 1");
  says("\"labels\":1", "\"labels\":0", "memory.labels: 0");
  says("\"of\":\"atelier\"", "\"of\":\"nobody\"", "memory.of: 'nobody'");
}

BOOST_AUTO_TEST_CASE(a_share_needs_stages) {
  const auto known = test::full_profile();
  auto x = sample();
  x.routes.push_back({"picture", {}, origin::image, {}, {}});
  x.share[0] = {0, 0, 0.25, 0.25, 0.5};
  const auto read = parse_plan(to_json(x, known), "p.json", known);
  BOOST_REQUIRE(!read);
  BOOST_TEST(read.why().text.find("plan.share[0].4: has a share of a route "
                                  "without stages")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_plan_for_another_profile_is_refused) {
  const auto text = to_json(sample(), test::full_profile());
  auto fewer = test::full_profile();
  fewer.variants.pop_back();
  const auto lacks = parse_plan(text, "p.json", fewer);
  BOOST_REQUIRE(!lacks);
  BOOST_TEST(
    lacks.why().text.find("\"turbo@1\" is not a variant of the profile")
    != std::string::npos);
  auto more = test::full_profile();
  auto another = more.variants[0];
  another.name = "other@3";
  more.variants.push_back(another);
  const auto has_not = parse_plan(text, "p.json", more);
  BOOST_REQUIRE(!has_not);
  BOOST_TEST(has_not.why().text.find("routes[3]: is not 'other@3' alone")
             != std::string::npos);
}

// These files are older than the memory types that only their policies know.
BOOST_AUTO_TEST_CASE(files_of_before_are_read_and_written_alike) {
  for (const auto& [name, profile, remembers] :
       {std::tuple{"argus", "argus-a100", true},
        {"atelier", "nirvana-a10g", true},
        {"diffserve", "diffserve-sd-turbo", true},
        {"instgenie", "instgenie-sdxl-h800", false},
        {"modm", "modm-mi210", true},
        {"nirvana", "nirvana-a10g", true}}) {
    BOOST_TEST_CONTEXT(name) {
      std::ifstream in{std::string{ATELIER_TEST_PLANS} + "/" + name + ".json"};
      std::ostringstream text;
      text << in.rdbuf();
      const auto known = test::read_profile(profile);
      const auto read = parse_plan(text.str(), name, known);
      BOOST_TEST_REQUIRE(static_cast<bool>(read),
                         (read ? "" : read.why().text));
      BOOST_TEST(read->policy == name);
      BOOST_TEST(read->memory.of() == (remembers ? name : ""));
      BOOST_TEST(to_json(*read, known) == text.str());
    }
  }
}

// The memory of a policy that is not built in: one word.
struct word_memory {
  static constexpr std::string_view name = "word";
  std::string word;
  friend bool operator==(const word_memory&, const word_memory&) = default;
};

struct word_policy : vanilla {
  std::string_view name() const override {
    return "wordy";
  }

  std::string_view memory_name() const override {
    return word_memory::name;
  }

  std::string save(const policy_memory& kept) const override {
    return "{\"word\": \"" + kept.as<word_memory>()->word + "\"}";
  }

  core::result<policy_memory> restore(const saved_memory& from) const override {
    const std::string json{from.json};
    const auto at = json.find("\"word\":\"");
    if (at == std::string::npos)
      return core::fail(core::ec::bad_payload, "{}: memory.word is missing",
                        from.file);
    return policy_memory{
      word_memory{json.substr(at + 8, json.find('"', at + 8) - at - 8)}};
  }
};

BOOST_AUTO_TEST_CASE(a_policy_of_ones_own_keeps_its_memory) {
  const auto known = test::full_profile();
  const policy_list own{std::make_shared<word_policy>()};
  plan made = own[0]->replan({}, known, {}, {});
  made.memory = word_memory{"before"};
  const auto kept = saved(made, "wordy", own);
  const auto text = to_json(kept, known, own);
  BOOST_TEST(text.find(R"("memory": {"of":"word","word":"before"})")
             != std::string::npos);
  const auto read = parse_plan(text, "p.json", known, own);
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.why().text));
  BOOST_TEST((*read == kept));
  BOOST_TEST(read->memory.as<word_memory>()->word == "before");
  const auto fails = [&](const std::string& of, const policy_list& by,
                         const std::string& part) {
    const auto not_read = parse_plan(of, "p.json", known, by);
    BOOST_REQUIRE(!not_read);
    BOOST_TEST(not_read.why().text.find(part) != std::string::npos,
               not_read.why().text);
  };
  fails(text, {}, "unknown policy 'wordy'");
  fails(
    replaced(text, "\"wordy\"", "\"vanilla\""), {},
    "p.json: memory.of: 'word' is not one of argus, atelier, diffserve, modm, "
    "nirvana");
  fails(replaced(text, "\"of\":\"word\"", "\"of\":\"words\""), own,
        "diffserve, modm, nirvana, word");
  fails(replaced(text, "\"word\":\"before\"", "\"w\":1"), own,
        "p.json: memory.word is missing");
  // A reader that does not know the policy leaves its memory out.
  BOOST_TEST(!saved(made, "vanilla").memory);
}

// After any change of one byte, a file is either read or refused.
BOOST_AUTO_TEST_CASE(changed_bytes_are_survived) {
  const auto known = test::full_profile();
  const auto text = to_json(sample(), known);
  constexpr std::string_view bytes = "{}[]\":,0123456789-.eEntf \xFF";
  for (size_t i = 0; i < test::scaled(50'000); ++i) {
    auto random = test::random_of(i);
    auto broken = text;
    for (size_t n = 1 + random.below(4); n > 0; --n)
      broken[random.below(broken.size())] = bytes[random.below(bytes.size())];
    const auto read = parse_plan(broken, "p.json", known);
    if (read)
      BOOST_TEST(
        static_cast<bool>(parse_plan(to_json(*read, known), "p.json", known)));
    else
      BOOST_TEST(read.why().text.starts_with("p.json:"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
