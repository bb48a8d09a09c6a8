// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "support/each_instruction_set.hpp"
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <array>
#include <string>

using namespace atelier;
using core::instruction_set;

namespace {

config::settings named(std::string_view set) {
  config::settings x;
  x.processes.instruction_set = set;
  return x;
}

/// The settings of a card, and profiles of it in a folder.
struct measured_card : test::scratch_folder {
  measured_card() {
    x.devices.resize(2);
    x.devices[0].kind = "first";
    x.devices[1].name = "cpu:1";
    x.devices[1].kind = "second";
    for (auto& device : x.devices)
      device.variants = {"card@10"};
  }

  std::string measured(const std::string& name,
                       std::optional<instruction_set> with) {
    auto of = *runtime::profile_of(named("auto"));
    of.variants = {*planning::parse_variant("card@10")};
    of.variants[0].step = {{1, 4096, std::chrono::milliseconds{5}, 9}};
    of.measured_with = with;
    write(name, planning::to_json(of));
    return (path / name).string();
  }

  std::vector<std::string> told(instruction_set in_use) const {
    const auto known = runtime::profile_of(x);
    BOOST_REQUIRE(known.operator bool());
    return runtime::other_measurements(x, *known, in_use);
  }

  config::settings x;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(instruction_set_test, measured_card)

BOOST_AUTO_TEST_CASE(settings_name_the_set_or_leave_the_fastest) {
  constexpr std::array has{instruction_set::portable, instruction_set::avx2,
                           instruction_set::avx512};
  const auto set_of = [&](std::string_view name) {
    return *runtime::instruction_set_of(named(name), has);
  };
  BOOST_TEST((set_of("auto") == instruction_set::avx512));
  BOOST_TEST((set_of("avx512") == instruction_set::avx512));
  BOOST_TEST((set_of("avx2") == instruction_set::avx2));
  BOOST_TEST((set_of("portable") == instruction_set::portable));
}

BOOST_AUTO_TEST_CASE(a_set_that_is_not_there_is_told_with_its_key) {
  constexpr std::array has{instruction_set::portable, instruction_set::avx2};
  const auto refused = runtime::instruction_set_of(named("avx512_bf16"), has);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == core::ec::bad_config));
  BOOST_TEST(refused.why().text
             == "processes.instruction_set: this processor lacks the "
                "instruction set avx512_bf16 (available: portable, avx2)");
}

BOOST_AUTO_TEST_CASE(the_process_is_limited_until_other_settings_are_used) {
  const auto fastest = core::instruction_set_in_use();
  // Its end removes the limit.
  const test::limited_instructions before{fastest};
  BOOST_TEST(runtime::use_instruction_set(named("portable")).operator bool());
  BOOST_TEST((core::instruction_set_in_use() == instruction_set::portable));
  BOOST_TEST(runtime::use_instruction_set(named("auto")).operator bool());
  BOOST_TEST((core::instruction_set_in_use() == fastest));
}

BOOST_AUTO_TEST_CASE(engines_of_one_process_use_one_set) {
  const auto fastest = core::instruction_set_in_use();
  const test::limited_instructions before{fastest};
  const auto hold = runtime::use_instruction_set(named("portable"));
  BOOST_TEST_REQUIRE(hold.operator bool());
  BOOST_TEST(runtime::use_instruction_set(named("portable")).operator bool());
  BOOST_TEST(runtime::use_instruction_set(named("auto")).operator bool());
  BOOST_TEST((core::instruction_set_in_use() == instruction_set::portable));
  if (fastest == instruction_set::portable)
    return;
  const auto other =
    runtime::use_instruction_set(named(core::to_string(fastest)));
  BOOST_TEST_REQUIRE(!other);
  BOOST_TEST((other.why().code == core::ec::bad_config));
  BOOST_TEST(other.why().text
             == fmt::format("processes.instruction_set: {} is not portable, "
                            "which another engine of this process uses",
                            core::to_string(fastest)));
  BOOST_TEST((core::instruction_set_in_use() == instruction_set::portable));
}

BOOST_AUTO_TEST_CASE(a_profile_of_another_set_is_told) {
  x.planner.profile = measured("p.json", instruction_set::avx2);
  BOOST_TEST(told(instruction_set::avx2).empty());
  const auto lines = told(instruction_set::avx512);
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0]
             == fmt::format("planner.profile: {}: its times were measured with "
                            "the instruction set avx2, and avx512 is in use",
                            x.planner.profile));
}

BOOST_AUTO_TEST_CASE(a_profile_that_does_not_name_its_set_is_not_told) {
  x.planner.profile = measured("p.json", std::nullopt);
  BOOST_TEST(told(instruction_set::portable).empty());
}

BOOST_AUTO_TEST_CASE(a_devices_profile_is_told_by_itself) {
  x.planner.profile = measured("all.json", instruction_set::avx2);
  x.devices[1].profile = measured("second.json", instruction_set::avx512);
  const auto lines = told(instruction_set::avx2);
  BOOST_TEST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(lines[0].starts_with("devices[1].profile: "), lines[0]);
  BOOST_TEST(told(instruction_set::portable).size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
