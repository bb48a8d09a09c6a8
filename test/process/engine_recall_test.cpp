// SPDX-License-Identifier: Apache-2.0

// Requests that start from the work of earlier ones, on a running engine.

#include <atelier/core/image/codec.hpp>
#include <atelier/index/forwarding.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>
#include <support/eventually.hpp>
#include <support/host_policy.hpp>
#include <support/scale.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

constexpr auto steps = test::recall_steps;
constexpr auto kept = test::recall_kept;

/// Counts the reads of what is kept.
class counted_reads final : public index::forwarding_work {
public:
  using forwarding_work::forwarding_work;

  core::result<index::payload> state(uint64_t entry, uint32_t after) override {
    ++reads;
    return forwarding_work::state(entry, after);
  }

  core::result<index::payload> image(uint64_t entry, core::extent px,
                                     uint32_t skips) override {
    ++reads;
    return forwarding_work::image(entry, px, skips);
  }

  std::atomic<uint64_t> reads{0};
};

struct fixture : test::recall_rig {
  // The files differ in their metadata about the cache, so their pixels are
  // compared.
  static image::bitmap pixels(const generated_image& x) {
    auto out = image::decode(x.bytes);
    BOOST_TEST_REQUIRE(bool{out});
    return *out;
  }

  // Checks that the answer and its file report the work that the image started
  // from.
  static void check_told(const generated_image& x, uint32_t steps_run,
                         const std::string& kind = "latent") {
    BOOST_TEST_REQUIRE(x.reused.has_value());
    BOOST_TEST(x.reused->kind == kind);
    BOOST_TEST(x.reused->steps + steps_run == x.steps);
    BOOST_TEST(x.reused->similarity > 0.9);
    BOOST_TEST(x.reused->entry > 0u);
    BOOST_TEST_REQUIRE(x.notes.size() == 1u);
    BOOST_TEST(x.notes.front().code == "from_cache");
    const std::string file{x.bytes.begin(), x.bytes.end()};
    BOOST_TEST(file.find("from_cache") != std::string::npos);
    BOOST_TEST(file.find("route '" + x.route + "', entry "
                         + std::to_string(x.reused->entry))
                 != std::string::npos,
               x.notes.front().text);
  }

  // Returns how often a stage failed, or was late.
  static uint64_t left_out(const engine& sut, std::string_view stage) {
    uint64_t sum = 0;
    for (const auto& x : sut.status().stages)
      sum += x.name == stage ? x.left_out : 0;
    return sum;
  }

  // Draws while the device's process is killed at the first reported step.
  static generated_image drawn_through_a_kill(engine& sut,
                                              const generation& x) {
    const auto victim = test::pid_of(sut, "cpu:0");
    BOOST_TEST_REQUIRE(victim > 0);
    std::atomic<bool> killed = false;
    callbacks calls;
    calls.progressed = [&](const progress&) {
      if (!killed.exchange(true))
        kill(victim, SIGKILL);
    };
    auto got = sut.submit(x, calls);
    BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
    const auto made = std::get<submission>(got).result.get();
    BOOST_TEST(killed);
    // The next request dies in a new life.
    BOOST_TEST_REQUIRE(test::eventually([&] {
      const auto pid = test::pid_of(sut, "cpu:0");
      return pid > 0 && pid != victim && !sut.status().workers.empty();
    }));
    return test::image_in(made);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_recall_test, fixture)

BOOST_AUTO_TEST_CASE(a_repeated_prompt_starts_from_its_own_state) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how);
      const auto x = wanted("a red ball on a table");
      const auto first = test::answers_to(*sut, {x});
      const auto& undisturbed = test::image_in(first.front());
      BOOST_TEST(undisturbed.route == "scratch");
      BOOST_TEST(undisturbed.steps_run == steps);
      remembered(*sut);
      const auto compared = [&] {
        return sut->status().figure("cache_compared");
      };
      const auto before = compared();
      const auto again = repeated(*sut, x);
      BOOST_TEST(compared() > before);
      BOOST_TEST(again.steps_run == steps - kept);
      BOOST_TEST((pixels(again) == pixels(undisturbed)));
      check_told(again, steps - kept);
      BOOST_TEST(again.took.retrieve.count() > 0);
      BOOST_TEST(again.took.classify.count() == 0);
      BOOST_TEST(!undisturbed.reused.has_value());
      // Another text finds nothing.
      const auto other =
        test::answers_to(*sut, {wanted("some blue cubes under water")});
      BOOST_TEST(test::image_in(other.front()).route == "scratch");
      BOOST_TEST(test::comes_to_rest(*sut));
      const auto told = sut->status().cache.value();
      BOOST_TEST(told.most_bytes == 16u << 20);
      BOOST_TEST(told.captured >= 1u);
      BOOST_TEST(told.hits >= 1u);
      BOOST_TEST(told.misses >= 1u);
      BOOST_TEST(told.bytes > 0u);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(
  a_repeated_prompt_starts_from_its_own_state_after_a_restart) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      const auto cache = folder.path / (how == mode::split ? "two" : "one");
      auto set = settings();
      set.push_back("cache.folder='" + cache.string() + "'");
      const auto x = wanted("a red ball on a table");
      generated_image undisturbed;
      {
        auto sut = test::start(how, set);
        const auto first = test::answers_to(*sut, {x});
        undisturbed = test::image_in(first.front());
        BOOST_TEST(undisturbed.steps_run == steps);
        remembered(*sut);
        BOOST_TEST(sut->status().cache.value().most_bytes == 10ull << 30);
        // Its folder is in use.
        const auto why = refusal({set.back()});
        BOOST_TEST(why.find("cache.folder: " + cache.string()
                            + " is in use by process "
                            + std::to_string(getpid()))
                     != std::string::npos,
                   why);
        BOOST_TEST(sut->stop(10s));
      }
      {
        auto sut = test::start(how, set);
        BOOST_TEST(sut->status().cache.value().entries == 1u);
        const auto again = repeated(*sut, x);
        BOOST_TEST(again.steps_run == steps - kept);
        BOOST_TEST((pixels(again) == pixels(undisturbed)));
        BOOST_TEST(test::comes_to_rest(*sut));
        BOOST_TEST(sut->status().cache.value().torn == 0u);
        BOOST_TEST(sut->stop(10s));
      }
      // Other variants draw differently under the same key.
      for (auto& line : set)
        if (line.starts_with("devices="))
          line = "devices=[{name='cpu:0',executor='test_card',"
                 "variants=['card@10','card@4','card@2']}]";
      auto sut = test::start(how, set);
      BOOST_TEST(sut->status().cache.value().entries >= 1u);
      const auto first = test::answers_to(*sut, {x});
      BOOST_TEST(test::image_in(first.front()).route == "scratch");
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->status().cache.value().hits == 0u);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_cache_needs_a_folder_that_can_be_made) {
  const auto nowhere = (folder.path / "no" / "cache").string();
  const auto why = refusal({"cache.folder='" + nowhere + "'"});
  BOOST_TEST(why.find("cache.folder: " + nowhere + ": cannot be made")
               != std::string::npos,
             why);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_killed_changes_nothing_of_it) {
  auto sut = start(mode::split);
  const auto x = wanted("a red ball on a table");
  const auto first = test::answers_to(*sut, {x});
  const auto& undisturbed = test::image_in(first.front());
  remembered(*sut);
  for (int i = 0; i < 3; ++i) {
    const auto made = drawn_through_a_kill(*sut, x);
    BOOST_TEST((pixels(made) == pixels(undisturbed)));
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_repeated_prompt_refines_its_remembered_image) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how, "modm");
      const auto x = wanted("a red ball on a table");
      const auto first = test::answers_to(*sut, {x});
      const auto& drawn = test::image_in(first.front());
      BOOST_TEST(drawn.route == "miss");
      remembered(*sut);
      const auto again = test::answers_to(*sut, {x});
      const auto& made = test::image_in(again.front());
      BOOST_TEST(made.route == "hit, k=5");
      BOOST_TEST(made.steps_run < made.steps);
      // It is drawn like an edit of the first image's file.
      auto edit = x;
      edit.variant = made.variant;
      edit.image = drawn.bytes;
      edit.strength = made.strength;
      const auto edited = test::answers_to(*sut, {edit});
      const auto& expected = test::image_in(edited.front());
      BOOST_TEST(made.steps_run == expected.steps_run);
      BOOST_TEST((pixels(made) == pixels(expected)));
      check_told(made, made.steps_run, "image");
      // An image that was refined for the same prompt is not remembered.
      BOOST_TEST_REQUIRE(test::comes_to_rest(*sut));
      BOOST_TEST(sut->status().cache.value().entries == 1u);
      if (how == mode::split) {
        const auto killed = drawn_through_a_kill(*sut, x);
        BOOST_TEST(killed.route == "hit, k=5");
      }
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_repeated_prompt_is_answered_with_its_remembered_image) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how, "gptcache");
      const auto x = wanted("a red ball on a table");
      const auto first = test::answers_to(*sut, {x});
      remembered(*sut);
      const auto again = test::answers_to(*sut, {x});
      const auto& made = test::image_in(again.front());
      BOOST_TEST(made.route == "picture");
      BOOST_TEST(made.steps_run == 0u);
      BOOST_TEST((pixels(made) == pixels(test::image_in(first.front()))));
      check_told(made, 0, "image");
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

// The entry keeps the seed that drew it, and the answer reports that one.
BOOST_AUTO_TEST_CASE(the_seed_of_an_image_from_the_cache_makes_it_again) {
  struct turn {
    std::string policy;
    std::string route;
  };

  const auto says = [](const generated_image& x, const char* text) {
    return x.notes.front().text.find(text) != std::string::npos;
  };
  for (const auto& each : {turn{"nirvana", "latent"}, {"gptcache", "picture"}})
    for (const auto how : {mode::single, mode::split})
      BOOST_TEST_CONTEXT(each.policy << ", " << how) {
        auto sut = start(how, each.policy);
        auto x = wanted("a red ball on a table");
        test::answers_to(*sut, {x});
        remembered(*sut);
        // Every request has a seed that drew no entry.
        const auto from_cache = [&] {
          for (int i = 0; i < 40; ++i) {
            ++*x.seed;
            const auto made = test::answers_to(*sut, {x});
            if (test::image_in(made.front()).route.starts_with(each.route))
              return test::image_in(made.front());
          }
          BOOST_FAIL("no answer started from earlier work");
          return generated_image{};
        };
        const auto found = from_cache();
        BOOST_TEST(found.seed != *x.seed);
        BOOST_TEST(says(found, "makes it again"));
        auto alone = x;
        alone.seed = found.seed;
        alone.cache = "off";
        const auto drawn = test::answers_to(*sut, {alone});
        BOOST_TEST(!test::image_in(drawn.front()).reused.has_value());
        BOOST_TEST((pixels(test::image_in(drawn.front())) == pixels(found)));
        // A text with the same words may be read in another way. (`nirvana`
        // also keeps what it draws in full for that text.)
        if (each.policy == "gptcache") {
          x.prompt = "A red ball on a table!";
          const auto other = from_cache();
          BOOST_TEST(other.seed == *x.seed);
          BOOST_TEST(says(other, "alone does not make it"));
        }
        BOOST_TEST(test::comes_to_rest(*sut));
        BOOST_TEST(sut->stop(10s));
      }
}

// Each prompt is nearest to the one before it, from whose image it starts.
BOOST_AUTO_TEST_CASE(work_made_of_work_is_kept_up_to_the_depth) {
  constexpr uint32_t depth = 3;
  folder.write("measured.json", planning::to_json(test::with_reuse(0.5)));
  auto set = settings("modm");
  set.push_back("cache.depth=" + std::to_string(depth));
  auto sut = test::start(mode::single, set);
  const auto generations = std::max<size_t>(test::scaled(50), 6);
  auto x = wanted("a red ball on a table in a room of an old house");
  size_t reused = 0;
  for (size_t i = 0; i < generations; ++i) {
    const auto made = test::answers_to(*sut, {x});
    reused += test::image_in(made.front()).reused ? 1u : 0u;
    BOOST_TEST(test::comes_to_rest(*sut));
    x.prompt += " word" + std::to_string(i);
  }
  BOOST_TEST(reused > depth);
  const auto all = sut->cache_entries({});
  BOOST_TEST_REQUIRE(std::holds_alternative<std::vector<cache_entry>>(all));
  uint32_t deepest = 0;
  for (const auto& entry : std::get<std::vector<cache_entry>>(all))
    deepest = std::max(deepest, entry.depth);
  BOOST_TEST(deepest == depth);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(exchanged_objects_are_another_prompt) {
  auto profile = test::with_reuse();
  profile.reuse->answers_from = 1;
  folder.write("measured.json", planning::to_json(profile));
  auto sut = start(mode::single, "gptcache");
  const auto route_of = [&](const char* prompt) {
    const auto made = test::answers_to(*sut, {wanted(prompt)});
    return test::image_in(made.front()).route;
  };
  BOOST_TEST(route_of("a cat on the left and a dog on the right") == "scratch");
  remembered(*sut);
  BOOST_TEST(route_of("a dog on the left and a cat on the right") == "scratch");
  BOOST_TEST(route_of("A cat on the left, and a dog on the right!")
             == "picture");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(published_thresholds_are_not_for_words) {
  auto profile = test::with_reuse();
  profile.reuse->answers_from.reset();
  profile.reuse->latents.clear();
  folder.write("measured.json", planning::to_json(profile));
  for (const auto* const policy : {"gptcache", "pinecone", "nirvana"}) {
    const auto why = refusal({}, policy);
    BOOST_TEST(
      why.starts_with("planner.profile: policy '" + std::string{policy} + "'"),
      why);
    BOOST_TEST(why.find("set cache.encoder") != std::string::npos, why);
  }
}

BOOST_AUTO_TEST_CASE(a_plan_file_may_start_from_what_is_kept) {
  folder.write("plan.json", R"({"format": "atelier.plan", "version": 1,
    "policy": "modm", "memory": {"of": "modm"},
    "workers": [{"count": 1, "batch": 1, "hosting": ["card@10", "card@4"]}],
    "routes": [{"route": 0, "name": "card@10",
                "stages": [{"any_of": ["card@10"]}]},
               {"route": 1, "name": "card@4",
                "stages": [{"any_of": ["card@4"]}]},
               {"route": 2, "name": "drawn", "store": ["image"],
                "stages": [{"any_of": ["card@10"]}]},
               {"route": 3, "name": "refined",
                "stages": [{"any_of": ["card@10"], "from": "image",
                            "skip": 5, "skip_of": 10}]}],
    "share": [{"2": 0.5, "3": 0.5}]})");
  const auto plan =
    "planner.plan='" + (folder.path / "plan.json").string() + "'";
  BOOST_TEST(refusal({plan, "cache.memory_mib=0"}, "fixed")
               .find("plan.routes[3].stages[0].from: \"image\": this server "
                     "stores no images (cache.memory_mib)")
             != std::string::npos);
  auto set = settings("fixed");
  set.push_back(plan);
  auto sut = test::start(mode::single, set);
  const auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  const auto again = test::answers_to(*sut, {x});
  const auto& made = test::image_in(again.front());
  BOOST_TEST(made.route == "refined");
  BOOST_TEST(made.steps_run == steps - kept);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_search_by_texts_is_compared_with_no_table_of_images) {
  auto of_images = test::with_reuse();
  of_images.reuse->latents.clear();
  of_images.reuse->images_by = planning::compared::images;
  folder.write("measured.json", planning::to_json(of_images));
  for (const auto* const policy : {"modm", "crs", "atelier"})
    BOOST_TEST_CONTEXT(policy) {
      const auto why = refusal({}, policy);
      for (const auto* const word :
           {"cache.memory_mib", policy, "reuse.images_by"})
        BOOST_TEST(why.find(word) != std::string::npos, why);
    }
  // This policy compares nothing.
  test::start(mode::single, settings("vanilla"));
  // As published, the thresholds for images count, too.
  of_images.reuse->images.clear();
  of_images.reuse->images_by = planning::compared::prompts;
  folder.write("measured.json", planning::to_json(of_images));
  BOOST_TEST(refusal({}, "modm").find("reuse.images_by") != std::string::npos);
}

// The request's own setting precedes the configuration. A client that chooses a
// seed wants exactly that image.
BOOST_AUTO_TEST_CASE(a_request_says_how_it_uses_the_cache) {
  using said = std::optional<std::string>;

  // The policy uses every match that is similar enough.
  const auto searches = [](const engine& sut) {
    const auto told = sut.status().cache.value();
    return told.hits + told.misses;
  };
  const auto ask = [&](engine& sut, const said& use, bool drawn) {
    auto x = wanted("a red ball on a table");
    x.cache = use;
    x.seed_drawn = drawn;
    const auto made = test::answers_to(sut, {x});
    BOOST_TEST(test::comes_to_rest(sut));
    return test::image_in(made.front()).route;
  };
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how, "modm");
      const auto entries = [&] { return sut->status().cache.value().entries; };
      // Nothing is kept, and nothing is searched for.
      for (const auto& use : {said{"off"}, said{"read"}})
        BOOST_TEST(ask(*sut, use, false) == "miss");
      BOOST_TEST(entries() == 0u);
      BOOST_TEST(searches(*sut) == 1u);
      // With a chosen seed the work is kept and not searched for.
      BOOST_TEST(ask(*sut, {}, false) == "miss");
      BOOST_TEST(entries() == 1u);
      BOOST_TEST(ask(*sut, {}, false) == "miss");
      BOOST_TEST(ask(*sut, said{"write"}, true) == "miss");
      BOOST_TEST(searches(*sut) == 1u);
      BOOST_TEST(ask(*sut, {}, true) == "hit, k=5");
      BOOST_TEST(ask(*sut, said{"read"}, false) == "hit, k=5");
      BOOST_TEST(ask(*sut, said{"off"}, true) == "miss");
      // A deterministic request never uses the cache.
      auto same = wanted("a red ball on a table");
      same.deterministic = true;
      const auto made = test::answers_to(*sut, {same});
      BOOST_TEST(test::image_in(made.front()).route == "miss");
      BOOST_TEST(sut->stop(10s));
    }
  auto set = settings("modm");
  set.push_back("cache.use='write'");
  auto sut = test::start(mode::single, set);
  BOOST_TEST(ask(*sut, {}, true) == "miss");
  BOOST_TEST(ask(*sut, {}, true) == "miss");
  BOOST_TEST(ask(*sut, said{"on"}, true) == "hit, k=5");
  BOOST_TEST(sut->stop(10s));
  auto odd = test::start(mode::single, settings("modm"));
  auto x = wanted("x");
  x.cache = "sometimes";
  const auto answer = odd->submit(x, {});
  const auto* const why = std::get_if<failure>(&answer);
  BOOST_TEST_REQUIRE(why != nullptr);
  BOOST_TEST(why->text
             == "cache 'sometimes' is not one of off, read, write, on");
}

BOOST_AUTO_TEST_CASE(an_entry_leaves_with_its_last_answer) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      auto set = settings("modm");
      set.push_back("cache.answers=2");
      if (on_disk)
        set.push_back("cache.folder='" + (folder.path / "kept").string() + "'");
      auto sut = test::start(mode::single, set);
      // A request that is answered with earlier work keeps nothing itself.
      auto x = wanted("a red ball on a table");
      test::answers_to(*sut, {x});
      remembered(*sut);
      x.cache = "read";
      for (const auto* const route : {"hit, k=5", "hit, k=5", "miss"}) {
        const auto made = test::answers_to(*sut, {x});
        BOOST_TEST(test::image_in(made.front()).route == route);
      }
      BOOST_TEST(test::comes_to_rest(*sut));
      const auto told = sut->status().cache.value();
      BOOST_TEST(told.spent == 1u);
      BOOST_TEST(told.entries == 0u);
      BOOST_TEST(told.evicted == 0u);
      BOOST_TEST(sut->stop(10s));
    }
}

// These are searches that no request waits for.
BOOST_AUTO_TEST_CASE(a_plan_has_probes_sent) {
  struct probing_policy : test::turn_policy {
    planning::plan replan(const planning::demand& asked,
                          const planning::profile& known,
                          const planning::cluster_view& there,
                          const planning::plan& previous) const override {
      for (const auto& x : asked.windows)
        retrieved += x.retrievals.size();
      auto next = turn_policy::replan(asked, known, there, previous);
      if (sends)
        next.probe_every = 1ms;
      return next;
    }

    bool sends = false;
    mutable std::atomic<uint64_t> retrieved{0};
  };

  for (const auto how : {mode::single, mode::split})
    for (const bool sends : {false, true})
      BOOST_TEST_CONTEXT(how << ", " << sends) {
        const auto own = std::make_shared<probing_policy>();
        own->sends = sends;
        auto set = settings("turns");
        set.insert(set.end(), {"planner.period_s=0.2", "monitor.window_s=0.2"});
        auto options = test::options_of(how, std::move(set));
        options.extend.policies = {own};
        auto sut = test::start(std::move(options));
        // This policy makes no searches for its requests.
        for (int i = 0; i < 3; ++i)
          test::answers_to(*sut, {wanted("a red ball on a table")});
        BOOST_TEST(test::comes_to_rest(*sut));
        const auto searches = [&] {
          const auto told = sut->status().cache.value();
          return told.hits + told.misses;
        };
        if (sends) {
          BOOST_TEST(test::eventually([&] { return searches() > 0; }));
          BOOST_TEST(test::eventually([&] { return own->retrieved > 0; }));
        } else {
          BOOST_TEST(searches() == 0u);
        }
        BOOST_TEST(sut->stop(10s));
      }
}

BOOST_AUTO_TEST_CASE(short_of_slots_the_latest_state_is_kept) {
  auto measured = test::with_reuse();
  measured.reuse->latents = {{2, 0.3}, {5, 0.99}};
  folder.write("measured.json", planning::to_json(measured));
  auto set = settings();
  std::replace(set.begin(), set.end(), std::string{"arena.capture_slots=8"},
               std::string{"arena.capture_slots=1"});
  auto sut = test::start(mode::single, set);
  const auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  BOOST_TEST(sut->status().figure("cache_captures_without_slot") == 1u);
  BOOST_TEST(repeated(*sut, x).reused.value().steps == 5u);
}

// An entry of one policy may lack what another starts from.
BOOST_AUTO_TEST_CASE(states_and_images_share_a_cache) {
  const auto x = wanted("a red ball on a table");
  const auto start_with = [&](const std::string& policy) {
    auto set = settings(policy);
    set.push_back("cache.folder='" + (folder.path / "both").string() + "'");
    return test::start(mode::single, set);
  };
  const auto draw = [&](engine& sut, const std::string& route) {
    const auto made = test::answers_to(sut, {x});
    BOOST_TEST(test::image_in(made.front()).route == route);
    BOOST_TEST(test::comes_to_rest(sut));
  };
  {
    auto sut = start_with("nirvana");
    draw(*sut, "scratch");
    remembered(*sut);
    BOOST_TEST(sut->stop(10s));
  }
  {
    auto sut = start_with("modm");
    draw(*sut, "miss");
    draw(*sut, "hit, k=5");
    BOOST_TEST(sut->stop(10s));
  }
  {
    auto sut = start_with("nirvana");
    const auto made = repeated(*sut, x);
    BOOST_TEST(made.reused.value().kind == "latent");
    BOOST_TEST(sut->stop(10s));
  }
}

// After a change of policy on one folder, ten entries that are nearer than the
// useful one lack what the policy starts from.
BOOST_AUTO_TEST_CASE(entries_of_another_policy_hide_none) {
  const std::string asked = "a red ball on a wooden table";

  struct turn {
    std::string keeps;
    std::string hides;
    std::string route;
  };

  folder.write("measured.json", planning::to_json(test::with_reuse(0.5)));
  for (const auto& each : {turn{"gptcache", "nirvana", "picture"},
                           turn{"pinecone", "nirvana", "picture"},
                           turn{"modm", "nirvana", "hit, k=5"},
                           turn{"nirvana", "gptcache", "latent, K=5"},
                           turn{"nirvana", "modm", "latent, K=5"}})
    BOOST_TEST_CONTEXT(each.keeps << " after " << each.hides) {
      const auto cache =
        "cache.folder='"
        + (folder.path / (each.keeps + "_" + each.hides)).string() + "'";
      const auto with = [&](const std::string& policy) {
        auto out = settings(policy);
        out.push_back(cache);
        return out;
      };
      const auto keep = [&](const std::string& policy, const std::string& text,
                            size_t entries, size_t times) {
        auto sut = test::start(mode::single, with(policy));
        auto x = wanted(text);
        x.cache = "write";
        for (size_t i = 0; i < times; ++i)
          test::answers_to(*sut, {x});
        remembered(*sut, entries);
        BOOST_TEST(sut->stop(10s));
      };
      keep(each.keeps, asked + " today", 1, 1);
      keep(each.hides, asked, 11, 10);
      auto options = test::options_of(mode::single, with(each.keeps));
      std::shared_ptr<counted_reads> reads;
      options.extend.cache = [&](std::shared_ptr<index::kept_work> inner) {
        reads = std::make_shared<counted_reads>(std::move(inner));
        return reads;
      };
      auto sut = test::start(options);
      auto x = wanted(asked);
      x.cache = "read";
      const auto made = repeated(*sut, x, each.route);
      BOOST_TEST(made.route == each.route);
      BOOST_TEST_REQUIRE(made.reused.has_value());
      BOOST_TEST(made.reused->similarity < 1);
      BOOST_TEST(reads->reads == 1u);
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->status().cache.value().hits == 1u);
      BOOST_TEST(sut->stop(10s));
    }
}

// The plan of `atelier` starts requests with matches from what its profile has
// thresholds for, and the newest entry has the other.
BOOST_AUTO_TEST_CASE(atelier_takes_the_state_or_the_image_of_a_cache_of_both) {
  struct kind {
    std::string name;
    const char* older;
    const char* newer;
  };

  const auto x = wanted("a red ball on a table");
  for (const auto& [name, older, newer] :
       {kind{"latent", "nirvana", "modm"}, kind{"image", "modm", "nirvana"}})
    BOOST_TEST_CONTEXT(name) {
      const auto in_cache =
        "cache.folder='" + (folder.path / name).string() + "'";
      folder.write("measured.json", planning::to_json(test::with_reuse()));
      uint64_t entries = 0;
      for (const auto* const policy : {older, newer}) {
        auto set = settings(policy);
        set.push_back(in_cache);
        auto sut = test::start(mode::single, set);
        const auto made = test::answers_to(*sut, {x});
        BOOST_TEST(test::image_in(made.front()).steps_run == steps);
        remembered(*sut, ++entries);
        BOOST_TEST(sut->stop(10s));
      }
      auto profile = test::with_reuse();
      if (name == "image")
        profile.reuse->latents.clear();
      folder.write("measured.json", planning::to_json(profile));
      folder.write("plan.json", R"({"format": "atelier.plan", "version": 1,
        "policy": "atelier",
        "memory": {"of": "atelier", "first_route": 2, "labels": 1, "ladder": 0,
                   "skips": [0, 5], "classes": [0, 1], "edits": [],
                   "searches": [true], "blind": [{"2": 1}]},
        "workers": [{"count": 1, "batch": 1, "hosting": ["card@10", "card@4"]}],
        "routes": [{"route": 0, "name": "card@10",
                    "stages": [{"any_of": ["card@10"]}]},
                   {"route": 1, "name": "card@4",
                    "stages": [{"any_of": ["card@4"]}]},
                   {"route": 2, "name": "drawn",
                    "stages": [{"any_of": ["card@10"]}]},
                   {"route": 3, "name": "drawn small",
                    "stages": [{"any_of": ["card@4"]}]},
                   {"route": 4, "name": "reused",
                    "stages": [{"any_of": ["card@10"], "from": ")"
                                  + name + R"(",
                                "skip": 5, "skip_of": 10}]}],
        "share": [{"2": 1}, {"4": 1}]})");
      auto set = settings("fixed");
      set.insert(set.end(),
                 {in_cache, "planner.plan='"
                              + (folder.path / "plan.json").string() + "'"});
      auto sut = test::start(mode::single, set);
      const auto answers = test::answers_to(*sut, {x});
      const auto& made = test::image_in(answers.front());
      BOOST_TEST(made.route == "reused");
      BOOST_TEST(made.steps_run == steps - kept);
      check_told(made, steps - kept, name);
      // The newest entry shows that it has no state, but not that it has no
      // image.
      if (name == "latent")
        BOOST_TEST(left_out(*sut, "fetch") == 0u);
      // Without a match, its class has no other route.
      const auto other =
        test::answers_to(*sut, {wanted("some blue cubes under water")});
      BOOST_TEST(test::image_in(other.front()).route == "drawn");
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_share_of_the_requests_is_drawn_in_full) {
  auto set = settings("modm");
  set.push_back("cache.fresh=0.5");
  auto sut = test::start(mode::single, set);
  auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  x.cache = "read";
  size_t hits = 0;
  constexpr size_t requests = 40;
  for (const auto& answer :
       test::answers_to(*sut, std::vector<generation>(requests, x)))
    hits += test::image_in(answer).route == "miss" ? 0u : 1u;
  // Both occur, but by a chance of two in 2^40.
  BOOST_TEST(hits > 0u);
  BOOST_TEST(hits < requests);
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->status().cache.value().hits == hits);
  BOOST_TEST(sut->stop(10s));
}

// A search counts as a hit from the similarity on from which its policy reuses.
BOOST_AUTO_TEST_CASE(a_word_in_common_is_no_hit) {
  auto sut = start(mode::single, "modm");
  test::answers_to(*sut, {wanted("a red ball on a table")});
  remembered(*sut);
  const auto made = test::answers_to(*sut, {wanted("a red fox in the snow")});
  BOOST_TEST(test::image_in(made.front()).route == "miss");
  BOOST_TEST(test::comes_to_rest(*sut));
  const auto told = sut->status().cache.value();
  BOOST_TEST(told.hits == 0u);
  BOOST_TEST(told.misses == 2u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(remembering_needs_slots_to_remember_through) {
  BOOST_TEST(refusal({"arena.capture_slots=0"}).find("arena.capture_slots")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
