// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"
#include <atelier/config/device_kind.hpp>

#include <cmath>
#include <functional>
#include <limits>

namespace atelier::config {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(validating)

BOOST_AUTO_TEST_CASE(defaults_are_valid) {
  BOOST_CHECK(validate(settings{}).empty());
}

BOOST_AUTO_TEST_CASE(what_a_program_got_wrong_is_told) {
  const struct {
    const char* key;
    std::function<void(settings&)> spoil;
  } cases[] = {
    {"limits.steps", [](auto& x) { x.limits.steps = 0; }},
    {"limits.guidance", [](auto& x) { x.limits.guidance = NAN; }},
    {"limits.guidance", [](auto& x) { x.limits.guidance = INFINITY; }},
    {"limits.picture_px", [](auto& x) { x.limits.picture_px = ~0ull; }},
    {"limits.request_mib", [](auto& x) { x.limits.request_bytes = ~0ull; }},
    {"arena.state_slot_kib", [](auto& x) { x.arena.state_slot_bytes = 4097; }},
    {"arena.ring_kib", [](auto& x) { x.arena.ring_bytes = 65537; }},
    {"arena.ring_kib", [](auto& x) { x.arena.ring_bytes = 0; }},
    {"processes.mode", [](auto& x) { x.processes.mode = process_mode{7}; }},
    {"processes.program", [](auto& x) { x.processes.program = "\xFF"; }},
    {"processes.program",
     [](auto& x) { x.processes.program = std::string("a\0b", 3); }},
    {"processes.program", [](auto& x) { x.processes.program = "\xC2\x9B"; }},
    {"processes.program",
     [](auto& x) { x.processes.program = std::string(4097, 'a'); }},
    {"processes.grace_ms", [](auto& x) { x.processes.grace = -1ns; }},
    {"processes.grace_ms",
     [](auto& x) { x.processes.grace = core::timespan::max(); }},
    {"processes.grace_ms",
     [](auto& x) { x.processes.grace = core::timespan::min(); }},
    {"processes.silence_ms", [](auto& x) { x.processes.silence = 1s; }},
    {"processes.restart_first_ms",
     [](auto& x) { x.processes.restart_first = 31s; }},
    {"policy.name", [](auto& x) { x.policy.name = ""; }},
    {"http.journal", [](auto& x) { x.http.journal = "true"; }},
    {"http.journal",
     [](auto& x) {
       x.http.journal = "on";
       x.http.results_disk_bytes = 0;
     }},
    {"cache.eviction", [](auto& x) { x.cache.eviction = "lfu"; }},
    {"cache.encoder", [](auto& x) { x.cache.encoder = "clip"; }},
    {"cache.compares", [](auto& x) { x.cache.compares = "pixels"; }},
    {"cache.compares", [](auto& x) { x.cache.compares = "images"; }},
    {"cache.encoder",
     [](auto& x) {
       x.cache.compares = "images";
       x.cache.encoder = "clip";
     }},
    {"cache.folder", [](auto& x) { x.cache.folder = "cache"; }},
    {"cache.disk_mib", [](auto& x) { x.cache.disk_bytes = 0; }},
    {"cache.fresh", [](auto& x) { x.cache.fresh = 1.5; }},
    {"cache.tenant_floor", [](auto& x) { x.cache.tenant_floor = 1.5; }},
    {"cache.tenants", [](auto& x) { x.cache.tenants = x.cache.entries + 1; }},
    {"cache.disk_wait_ms", [](auto& x) { x.cache.disk_wait = 0ns; }},
    {"cache.disk_write_wait_ms",
     [](auto& x) { x.cache.disk_write_wait = 0ns; }},
    {"cache.pending", [](auto& x) { x.cache.pending = 257; }},
    {"cache.disk_retry_s", [](auto& x) { x.cache.disk_retry = 0ns; }},
    {"log.level", [](auto& x) { x.log.level = "WARN"; }},
    {"devices", [](auto& x) { x.devices.clear(); }},
    {"devices", [](auto& x) { x.devices.resize(65); }},
    {"devices[1].name", [](auto& x) { x.devices.resize(2); }},
    {"devices[0].name", [](auto& x) { x.devices[0].name = "cpu:-1"; }},
    {"devices[0].executor", [](auto& x) { x.devices[0].executor = ""; }},
    {"devices[0].variants", [](auto& x) { x.devices[0].variants = {"a@1"}; }},
    {"devices[0].variants",
     [](auto& x) { x.devices[0].variants = {"base@1/"}; }},
    {"devices[0].max_batch", [](auto& x) { x.devices[0].max_batch = 17; }},
    {"arena.image_slots",
     [](auto& x) {
       x.arena.image_slots = 65536;
       x.arena.image_slot_bytes = 64ull << 30;
     }},
  };

  for (const auto& x : cases) {
    settings sut;
    x.spoil(sut);
    const auto found = validate(sut);
    BOOST_TEST_CONTEXT(x.key) {
      BOOST_REQUIRE_EQUAL(found.size(), 1);
      BOOST_CHECK_EQUAL(found[0].source, "settings");
      BOOST_CHECK_EQUAL(found[0].key, x.key);
    }
    // Invalid settings can still be printed.
    BOOST_CHECK(!to_toml(sut).empty() && !to_error(found).text.empty());
  }
}

BOOST_AUTO_TEST_CASE(limits_of_ranges_are_inside) {
  settings x;
  x.limits.steps = 10'000;
  x.processes.heartbeat = 1ms;
  x.processes.silence = 2ms;
  x.processes.grace = 0ms;
  x.processes.restart_first = x.processes.restart_most;
  x.arena.ring_bytes = 64 << 10;
  x.arena.state_slot_bytes = 4 << 10;
  x.devices[0].seats = x.devices[0].max_batch;
  x.devices[0].variants = {"base@10000"};
  for (const auto& found : validate(x))
    BOOST_ERROR(to_string(found));
  BOOST_CHECK(validate(x).empty());
}

BOOST_AUTO_TEST_CASE(arena_may_be_exactly_one_tebibyte) {
  settings x;
  x.arena.capture_slots = 0;
  x.arena.ring_bytes = 64 << 10;
  x.arena.state_slots = 2;
  x.arena.state_slot_bytes = 1 << 20;
  x.arena.image_slots = 2;
  const uint64_t rings = 2 * 2 * x.arena.ring_bytes;
  const uint64_t rest = (1ull << 40) - rings - (2 << 20);
  x.arena.image_slots = 32;
  x.arena.image_slot_bytes = rest / 32;
  BOOST_REQUIRE_EQUAL(x.arena.image_slot_bytes % 64, 0);
  BOOST_CHECK(validate(x).empty());
  x.arena.image_slot_bytes += 64;
  BOOST_CHECK_EQUAL(validate(x).size(), 1);
}

BOOST_AUTO_TEST_CASE(models_have_names_of_their_own_and_devices_know_them) {
  const auto faults_in = [](std::string_view toml) {
    const auto read = parse(toml, "a.toml");
    std::string all;
    for (const auto& x : read.faults)
      all += to_string(x) + "\n";
    return all;
  };
  const std::string model = "[[models]]\nname = 'sd'\npath = '/m'\n";
  const std::string device = "[[devices]]\nexecutor = 'torch'\n";
  BOOST_TEST(faults_in(model + device + "variants = ['sd@20/bf16']") == "");
  BOOST_TEST(faults_in(model + device + "variants = ['other@20']")
             == "a.toml:6: devices[0].variants: \"other@20\" names a model "
                "that is neither in [[models]] nor one of Atelier's own\n");
  BOOST_TEST(faults_in(device + "variants = ['tiny@20', 'turbo@4']") == "");
  BOOST_TEST(faults_in("[[devices]]\nvariants = ['test_card@9']\n") == "");
  BOOST_TEST(faults_in("[[devices]]\nvariants = ['card@9']\n")
             == "a.toml:2: devices[0].variants: \"card@9\" names a model "
                "that is neither in [[models]] nor one of Atelier's own\n");
  BOOST_TEST(
    faults_in("[[devices]]\nexecutor = 'test_card'\nvariants = ['card@9']\n")
    == "");
  BOOST_TEST(faults_in(model + model)
             == "a.toml:5: models[1].name: \"sd\" names the same model as "
                "models[0]\n");
  BOOST_TEST(faults_in("[[models]]\nname = 's d'\npath = '/m'\n")
             == "a.toml:2: models[0].name: \"s d\" is not 1..64 of the "
                "characters a-z, A-Z, 0-9, _, - and .\n");
  BOOST_TEST(faults_in("[[models]]\nname = 'sd'\n")
             == "a.toml:1: models[0].path: \"\" is not a text of at least one "
                "character\n");
}

BOOST_AUTO_TEST_CASE(devices_of_a_kind_have_one_profile) {
  settings x;
  x.devices.resize(3);
  for (size_t i = 0; i < 3; ++i)
    x.devices[i].name = "cpu:" + std::to_string(i);
  const auto faults = [&] {
    std::string all;
    for (const auto& f : validate(x))
      all += f.key + ": " + f.text + "\n";
    return all;
  };
  x.devices[0].profile = "a.json";
  BOOST_TEST(faults() == "");
  x.devices[2].profile = "a.json";
  BOOST_TEST(faults() == "");
  x.devices[2].profile = "b.json";
  BOOST_TEST(faults()
             == "devices[2].profile: devices[2].profile \"b.json\" is another "
                "file than devices[0].profile \"a.json\" for devices of one "
                "kind, \"cpu\"\n");
  x.devices[2].kind = "slow";
  BOOST_TEST(faults() == "");
  BOOST_TEST(device_kind(x.devices[0]) == "cpu");
  BOOST_TEST(device_kind(x.devices[2]) == "slow");
  BOOST_TEST(device_with_profile(x, "cpu").value() == 0u);
  BOOST_TEST(device_with_profile(x, "slow").value() == 2u);
  BOOST_TEST(!device_with_profile(x, "cuda").has_value());
  for (const auto* name : {"a b", "a:b", "\xC3\xA4", "a,b"}) {
    x.devices[2].kind = name;
    BOOST_TEST(faults().find("devices[2].kind") == 0u, name);
  }
  x.devices[2].kind = std::string(64, 'k');
  BOOST_TEST(faults() == "");
  x.devices[2].kind += 'k';
  BOOST_TEST(faults().find("1..64") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
