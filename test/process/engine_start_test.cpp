// SPDX-License-Identifier: Apache-2.0
// A fault that keeps an engine from starting is reported, and leaves nothing
// behind.
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

namespace fs = std::filesystem;

failure expect_failure(const engine_options& options) {
  const auto descriptors = test::count_descriptors();
  auto started = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(started));
  BOOST_TEST(test::count_descriptors() == descriptors);
  BOOST_TEST(test::engine_processes_of(getpid()).empty());
  return std::get<failure>(started);
}

failure expect_failure(mode how, std::vector<std::string> more) {
  return expect_failure(test::options_of(how, std::move(more)));
}

/// A shell script in its own folder.
struct script {
  fs::path folder;

  explicit script(const std::string& text) {
    auto name = (fs::temp_directory_path() / "start-XXXXXX").string();
    BOOST_TEST_REQUIRE((mkdtemp(name.data()) != nullptr));
    folder = name;
    std::ofstream{folder / "program"} << "#!/bin/sh\n" << text << "\n";
    fs::permissions(folder / "program", fs::perms::owner_all);
  }

  ~script() {
    fs::remove_all(folder);
  }

  std::string option() const {
    return "processes.program=\"" + (folder / "program").string() + '"';
  }
};

bool says(const failure& why, const std::string& part) {
  return why.text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_start_test)

BOOST_AUTO_TEST_CASE(every_fault_of_a_configuration_is_told) {
  const auto why = expect_failure(mode::single, {"limits.steps=0", "devices=[]",
                                                 "processes.heartbeat_ms=-1"});
  BOOST_TEST(why.code == "bad_config");
  for (const auto* part : {"limits.steps", "devices", "processes.heartbeat_ms"})
    BOOST_TEST(says(why, part), part);
}

BOOST_AUTO_TEST_CASE(an_unknown_policy_is_told_with_the_known_ones) {
  const auto why = expect_failure(mode::split, {"policy.name=nosuch"});
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(says(why, "policy.name"));
  BOOST_TEST(says(why, "nosuch"));
  BOOST_TEST(says(why, "vanilla"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_told) {
  auto options = test::options_of(mode::single);
  options.config_file = "/no/such/file.toml";
  const auto why = expect_failure(options);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(says(why, "/no/such/file.toml"));
}

BOOST_AUTO_TEST_CASE(a_ring_too_small_for_the_longest_text_is_told) {
  const auto why = expect_failure(mode::split, {"arena.ring_kib=64"});
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(says(why, "arena.ring_kib"));
  BOOST_TEST(says(why, "limits.prompt_bytes"));
  // Two texts of this length fit, but not with all notes that may follow.
  BOOST_TEST(says(expect_failure(mode::split, {"arena.ring_kib=64",
                                               "limits.prompt_bytes=30000"}),
                  "with notes"));
  // Without other processes no ring is used.
  test::start(mode::single, {"arena.ring_kib=64"});
  test::start(mode::split, {"arena.ring_kib=64", "limits.prompt_bytes=1000"});
}

BOOST_AUTO_TEST_CASE(an_arena_too_small_for_any_image_is_told) {
  for (const auto how : {mode::single, mode::split})
    for (const std::string option :
         {"arena.state_slot_kib", "arena.image_slot_kib"}) {
      const auto why = expect_failure(how, {option + "=4"});
      BOOST_TEST(why.code == "bad_config");
      BOOST_TEST(says(why, "size 256x256 needs"), why.text);
      BOOST_TEST(says(why, option), why.text);
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_must_crash_is_not_this_one) {
  const auto why =
    expect_failure(mode::single, {"preprocess.test_crash_seed=1"});
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(says(why, "preprocess.test_crash_seed"), why.text);
}

BOOST_AUTO_TEST_CASE(an_arena_too_large_for_the_machine_is_told) {
  for (const auto how : {mode::single, mode::split}) {
    const auto why = expect_failure(
      how, {"arena.image_slots=65536", "arena.image_slot_kib=67108864"});
    BOOST_TEST((why.code == "out_of_resources" || why.code == "bad_config"),
               why.code);
    BOOST_TEST(!why.text.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_told) {
  const auto why =
    expect_failure(mode::split, {"processes.program='/no/such/program'"});
  BOOST_TEST(why.code == "not_found");
  BOOST_TEST(says(why, "/no/such/program"));
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_run_is_told) {
  const script x{"exit 0"};
  std::ofstream{x.folder / "program"} << "\x7f"
                                      << "ELF nonsense";
  const auto why =
    expect_failure(mode::split, {x.option(), "processes.restart_first_ms=1"});
  BOOST_TEST(why.code == "not_found");
  BOOST_TEST(says(why, "cannot start "));
  BOOST_TEST(says(why, "processes.program"));
}

BOOST_AUTO_TEST_CASE(a_program_that_exits_at_once_is_told) {
  for (const auto* text : {"exit 0", "exit 1", "kill -9 $$"}) {
    const script x{text};
    const auto why =
      expect_failure(mode::split, {x.option(), "processes.restart_first_ms=1"});
    BOOST_TEST(why.code == "unavailable", text);
    BOOST_TEST(says(why, "ended 3 times while starting"), text);
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_prints_nonsense_is_told) {
  const script x{"echo nonsense; exec head -c 100000 /dev/zero"};
  const auto why =
    expect_failure(mode::split, {x.option(), "processes.restart_first_ms=1"});
  BOOST_TEST(why.code == "unavailable");
}

BOOST_AUTO_TEST_CASE(a_program_that_never_speaks_is_told) {
  const script x{"exec sleep 1000"};
  const auto begin = std::chrono::steady_clock::now();
  const auto why = expect_failure(
    mode::split, {x.option(), "processes.restart_first_ms=1",
                  "processes.heartbeat_ms=10", "processes.silence_ms=100",
                  "processes.setup_ms=100", "processes.grace_ms=100"});
  BOOST_TEST(why.code == "unavailable");
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 20s));
}

BOOST_AUTO_TEST_CASE(a_model_that_loads_longer_than_silence_is_waited_for) {
  const auto sut = test::start(
    mode::split, {"devices=[{name='cpu:0',test_card_load_ms=1500}]",
                  "processes.heartbeat_ms=20", "processes.silence_ms=300"});
  for (const auto& x : sut->status().processes) {
    BOOST_TEST(x.alive, x.role);
    BOOST_TEST(x.restarts == 0u, x.role);
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_does_not_load_in_time_is_told) {
  const auto why = expect_failure(
    mode::split, {"devices=[{name='cpu:0',test_card_load_ms=600000}]",
                  "processes.setup_ms=1500", "processes.restart_first_ms=1",
                  "processes.heartbeat_ms=10", "processes.silence_ms=100",
                  "processes.grace_ms=100"});
  BOOST_TEST(why.code == "unavailable");
  BOOST_TEST(says(why, "cpu:0 ended 3 times while starting"), why.text);
}

BOOST_AUTO_TEST_SUITE_END()
