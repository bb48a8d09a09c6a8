// SPDX-License-Identifier: Apache-2.0
// Devices of two kinds, one ten times as slow as the other.
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

/// Four devices, the last two of the kind "slow", and a judge between a light
/// variant and a heavy one. A heavy image takes a slow device two seconds, and
/// the deadline is one second.
struct fixture {
  fixture() {
    std::filesystem::create_directories(folder.path / "critic");
    folder.write("critic/config.json", "{}");
    folder.write("quick.json", planning::to_json(profile_of(quick_step)));
    folder.write("slow.json", planning::to_json(profile_of(slow_step)));
  }

  static planning::profile profile_of(core::timespan step) {
    planning::profile p;
    for (const auto& [name, quality] :
         {std::pair{light, 0.5}, std::pair{heavy, 0.75}}) {
      auto v = *planning::parse_variant(name);
      v.native_px = {64, 64};
      // The card's own size, and that of the requests.
      v.step = {{1, 64 * 64, step, 9}, {1, 256 * 256, step, 9}};
      v.quality = quality;
      p.variants.push_back(v);
    }
    planning::cascade_profile c;
    c.light = core::variant_id{0};
    c.heavy = core::variant_id{1};
    c.judge = "critic";
    c.deadline = 1s;
    for (int i = 0; i <= 20; ++i)
      c.deferred.emplace_back(i / 20.0, i / 20.0);
    p.cascades.push_back(c);
    return p;
  }

  /// @param told slow devices have their own profile
  std::unique_ptr<engine> start(bool told) const {
    const auto device = [&](int i) {
      const bool slow = i >= 2;
      std::string text = "{name='cpu:" + std::to_string(i)
                       + "',executor='test_card',variants=['" + light + "','"
                       + heavy + "'],max_batch=1,kind='"
                       + (slow ? "slow" : "quick") + "',test_card_step_ms="
                       + std::to_string((slow ? slow_step : quick_step) / 1ms);
      if (slow && told)
        text += ",profile='" + path("slow.json") + "'";
      return text + "}";
    };
    return test::start(mode::single,
                       {"devices=[" + device(0) + "," + device(1) + ","
                          + device(2) + "," + device(3) + "]",
                        "policy.name='atelier'",
                        "policy.judges='" + folder.path.string() + "'",
                        "planner.profile='" + path("quick.json") + "'",
                        "planner.period_s=0.5", "monitor.window_s=1"});
  }

  std::string path(const char* name) const {
    return (folder.path / name).string();
  }

  static generation wanted(uint64_t seed) {
    generation x;
    x.prompt = "a";
    x.width = x.height = 64;
    x.seed = seed;
    return x;
  }

  /// Returns the variants that the devices host, quick devices first.
  static std::vector<std::set<std::string>> hosted(const engine& sut) {
    std::vector<std::set<std::string>> out(4);
    for (const auto& w : sut.status().workers)
      if (!w.loading)
        out.at(static_cast<size_t>(w.device.back() - '0')) = {
          w.variants.begin(), w.variants.end()};
    return out;
  }

  /// Returns whether a slow device draws only heavy images.
  static bool is_slow(const std::vector<std::set<std::string>>& all) {
    const std::set only_heavy{heavy};
    return all[2] == only_heavy || all[3] == only_heavy;
  }

  static constexpr core::timespan quick_step = 10ms;
  static constexpr core::timespan slow_step = 100ms;
  static inline const std::string light = "light@2";
  static inline const std::string heavy = "heavy@20";
  const test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_kinds_test, fixture)

BOOST_AUTO_TEST_CASE(heavy_images_are_for_quick_devices) {
  auto sut = start(true);
  BOOST_TEST_REQUIRE(eventually([&] {
    const auto now = hosted(*sut);
    return std::ranges::all_of(now, [](const auto& x) { return !x.empty(); });
  }));
  BOOST_TEST(!is_slow(hosted(*sut)));
  std::vector<generation> all;
  for (uint64_t i = 1; i <= 5; ++i) {
    all.push_back(wanted(i));
    all.back().variant = heavy;
  }
  // A quick device draws them one after the other in a second. The steps of one
  // take a slow device two seconds.
  for (const auto& made : test::answers_to(*sut, all))
    BOOST_TEST((test::image_in(made).took.total < 2s));
  BOOST_TEST(!is_slow(hosted(*sut)));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(what_no_profile_says_of_a_kind_is_learnt) {
  // By the profile all devices are quick, so that slow ones draw heavy images.
  auto sut = start(false);
  BOOST_TEST_REQUIRE(eventually([&] { return is_slow(hosted(*sut)); }));
  std::vector<test::in_flight> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(test::hand_in(*sut, wanted(all.size() + 1)));
    std::this_thread::sleep_for(150ms);
  }
  // Only a few may be late, because two quick devices have time for all. A slow
  // device needs two seconds for only the steps of a heavy image.
  for (size_t i = 0; i < all.size(); ++i) {
    const auto made = test::await(all[i]);
    const auto& took = test::image_in(made).took;
    if (i >= all.size() / 2)
      BOOST_TEST((took.total < 2s), "request " << i);
  }
  // They belong to another kind, and are not slow for their kind.
  for (const auto& w : sut->status().workers) {
    BOOST_TEST(!w.slow, w.device);
    BOOST_TEST((w.kind == (w.device < "cpu:2" ? "quick" : "slow")), w.device);
  }
  BOOST_TEST(sut->stop(30s));
}

BOOST_AUTO_TEST_SUITE_END()
