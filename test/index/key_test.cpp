// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/key.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace {

using namespace atelier;

planning::profile two_variants() {
  planning::profile p;
  for (const auto* name : {"base@50", "base@20"}) {
    auto v = *planning::parse_variant(name);
    v.step = {{1, 512 * 512, std::chrono::milliseconds{10}}};
    p.variants.push_back(v);
  }
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  return p;
}

core::request a_request() {
  core::request x;
  x.id = core::request_id{7};
  x.text = {"a red fox", "blurry"};
  x.seed = 3;
  x.tenant = core::tenant_id{4};
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(key_test)

BOOST_AUTO_TEST_CASE(a_search_and_a_whole_run_have_one_key) {
  const auto known = two_variants();
  const auto wanted = a_request();
  const auto how = planning::recipe_of(wanted, {}, core::variant_id{0}, known);
  BOOST_TEST((index::key_of(how, "blurry", wanted.tenant)
              == index::key_for(wanted, known)));
}

BOOST_AUTO_TEST_CASE(seed_prompt_and_deadline_do_not_count) {
  const auto known = two_variants();
  auto other = a_request();
  other.id = core::request_id{8};
  other.text.positive = "a blue fox";
  other.seed = 99;
  other.prio = core::priority::high;
  other.deadline = core::time_point{} + std::chrono::seconds{1};
  BOOST_TEST(
    (index::key_for(other, known) == index::key_for(a_request(), known)));
}

BOOST_AUTO_TEST_CASE(whatever_else_changes_the_run_counts) {
  const auto known = two_variants();
  const std::function<void(core::request&)> changes[] = {
    [](auto& x) { x.text.negative = "blurry "; },
    [](auto& x) { x.tenant = core::tenant_id{5}; },
    [](auto& x) {
      x.px = {512, 768};
    },
    [](auto& x) { x.fixed.steps = 49; },
    [](auto& x) { x.fixed.guidance = 7.0f; },
    [](auto& x) { x.fixed.guidance_rescale = 0.5f; },
    [](auto& x) { x.fixed.eta = 0.5f; },
    [](auto& x) { x.fixed.sampler = core::sampler::euler; },
    [](auto& x) { x.noise = core::noise_source::philox; },
    [](auto& x) { x.syntax = core::prompt_grammar::webui; },
    [](auto& x) { x.emphasis = core::emphasis_rule::no_norm; },
    [](auto& x) { x.clip_skip = 2; },
    [](auto& x) { x.deterministic = true; },
  };
  for (const auto& change : changes) {
    auto other = a_request();
    change(other);
    BOOST_TEST(
      (index::key_for(other, known) != index::key_for(a_request(), known)));
  }
  auto of_other = known;
  of_other.reuse->full = core::variant_id{1};
  BOOST_TEST((index::key_for(a_request(), of_other)
              != index::key_for(a_request(), known)));
}

BOOST_AUTO_TEST_CASE(weights_count_where_they_are_read) {
  const auto known = two_variants();
  const auto key = [&](std::string prompt, core::prompt_grammar syntax) {
    auto x = a_request();
    x.text.positive = std::move(prompt);
    x.syntax = syntax;
    return index::key_for(x, known);
  };
  const auto webui = core::prompt_grammar::webui;
  const std::string_view prompts[] = {
    "a red car",       "a (red) car",     "a ((red)) car",   "a [red] car",
    "a (red:1.3) car", "(a red car:0.5)", "(a red:1.3) car", "a (red car:1.3)",
    "a red BREAK car", "a red car (x:-1)"};
  std::set<std::string> keys;
  for (const auto x : prompts)
    keys.insert(key(std::string{x}, webui));
  BOOST_TEST(keys.size() == std::size(prompts));
  BOOST_TEST((key("a (red:1.3) car", webui) == key("a (blue:1.3) dog", webui)));
  BOOST_TEST((key("a red car", webui) == key("two blue dogs", webui)));
  const auto plain = core::prompt_grammar::plain;
  BOOST_TEST((key("a (red) car", plain) == key("a red car", plain)));
}

BOOST_AUTO_TEST_CASE(a_negative_prompt_cannot_pass_for_a_tenant) {
  const core::recipe how;
  const std::string four(4, '\0');
  BOOST_TEST((index::key_of(how, four, core::tenant_id{1})
              != index::key_of(how, "", core::tenant_id{1})));
}

BOOST_AUTO_TEST_CASE(a_request_says_whether_it_is_searched_for_and_remembered) {
  using core::cache_use;
  for (const auto use :
       {cache_use::off, cache_use::read, cache_use::write, cache_use::on}) {
    auto x = a_request();
    x.cache = use;
    BOOST_TEST(index::is_searched_for(x) == core::reads(use));
    BOOST_TEST(index::is_remembered(x) == core::writes(use));
  }
}

BOOST_AUTO_TEST_CASE(requests_with_a_source_and_probes_are_not_remembered) {
  BOOST_TEST(index::is_remembered(a_request()));
  auto with_source = a_request();
  with_source.source = std::make_shared<core::source_images>();
  BOOST_TEST(!index::is_remembered(with_source));
  auto probe = a_request();
  probe.kind = core::request_kind::probe;
  BOOST_TEST(!index::is_remembered(probe));
}

BOOST_AUTO_TEST_SUITE_END()
