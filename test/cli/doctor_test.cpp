// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/doctor.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using namespace atelier::runtime::cli;
using enum finding::grade;

namespace {

system_facts healthy() {
  system_facts x;
  x.cpu = "Some CPU";
  x.cores = 4;
  x.memory_bytes = 8ull << 30;
  x.memory_available_bytes = 4ull << 30;
  x.memory_free_bytes = 4ull << 30;
  x.gpus = {"Some GPU"};
  x.data = "/data";
  x.data_exists = x.data_writable = true;
  x.data_free_bytes = 1ull << 30;
  return x;
}

finding about(const std::string& subject, const system_facts& machine,
              const config::outcome& configuration = {}) {
  const auto all = diagnose(machine, configuration);
  const auto found =
    std::find_if(all.begin(), all.end(),
                 [&](const finding& x) { return x.subject == subject; });
  BOOST_TEST_REQUIRE((found != all.end()));
  return *found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(doctor_test)

BOOST_AUTO_TEST_CASE(a_healthy_machine_has_no_problem) {
  for (const auto& x : diagnose(healthy(), {}))
    BOOST_TEST((x.severity != problem), x.subject);
}

BOOST_AUTO_TEST_CASE(what_is_not_well_comes_with_advice) {
  auto machine = healthy();
  machine.gpus.clear();
  machine.core_quota = 1.5;
  machine.open_files = 256;
  machine.file_bytes = 1 << 20;
  machine.data_writable = false;
  for (const auto* subject :
       {"GPU", "cores", "open files", "file size", "data folder"}) {
    const auto sut = about(subject, machine);
    BOOST_TEST((sut.severity == finding::grade::note), subject);
    BOOST_TEST(!sut.advice.empty(), subject);
  }
}

BOOST_AUTO_TEST_CASE(little_shared_memory_hinders_several_processes_only) {
  auto machine = healthy();
  machine.memory_free_bytes = 64ull << 20;
  config::outcome configuration;
  BOOST_TEST((about("shared memory", machine, configuration).severity
              == finding::grade::note));
  configuration.values.processes.mode = config::process_mode::split;
  BOOST_TEST(
    (about("shared memory", machine, configuration).severity == problem));
  // A kernel that does not tell is no problem.
  machine.memory_free_bytes.reset();
  BOOST_TEST((about("shared memory", machine, configuration).severity == ok));
}

BOOST_AUTO_TEST_CASE(the_instruction_set_is_the_configured_one) {
  using core::instruction_set;
  auto machine = healthy();
  machine.instruction_sets = {instruction_set::portable, instruction_set::avx2};
  config::outcome configuration;
  BOOST_TEST(about("instructions", machine, configuration).found
             == "avx2 in use (available: portable, avx2)");
  configuration.values.processes.instruction_set = "portable";
  BOOST_TEST(about("instructions", machine, configuration).found
             == "portable in use (available: portable, avx2)");
  configuration.values.processes.instruction_set = "avx512";
  const auto lacking = about("instructions", machine, configuration);
  BOOST_TEST((lacking.severity == problem));
  BOOST_TEST(lacking.found
             == "processes.instruction_set: this processor lacks the "
                "instruction set avx512 (available: portable, avx2)");
  BOOST_TEST(!lacking.advice.empty());
}

BOOST_AUTO_TEST_CASE(every_fault_of_the_configuration_is_a_problem) {
  const auto faulty = config::parse(
    "", "x", std::vector<std::string>{"limits.steps=0", "no.such=1"});
  const auto all = diagnose(healthy(), faulty);
  BOOST_TEST(std::count_if(all.begin(), all.end(),
                           [](const finding& x) {
                             return x.subject == "configuration"
                                 && x.severity == problem;
                           })
             == 2);
}

BOOST_AUTO_TEST_CASE(looking_around_finds_this_machine) {
  const auto sut = look_around("/tmp/no/such/folder");
  BOOST_TEST(sut.cores > 0u);
  BOOST_TEST((sut.instruction_sets.back() == core::instruction_set_in_use()));
  BOOST_TEST(sut.memory_bytes.has_value());
  BOOST_TEST(!sut.data_exists);
  BOOST_TEST(sut.data_free_bytes.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
