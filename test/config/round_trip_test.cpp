// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/config/device_kind.hpp>
#include <atelier/config/schema.hpp>
#include <atelier/core/philox.hpp>

namespace atelier::config {

namespace {

/// Draws a value of each type that a place can hold. Most values are valid.
struct drawer {
  const option& x;
  core::philox& random;

  /// Returns a whole number of the settings' own unit, often at an end of the
  /// range.
  double number() const {
    const double scale = unit_of(x).scale;
    switch (random.below(4)) {
      case 0:
        return x.least * scale;
      case 1:
        return x.most * scale;
      default: {
        // Small values are as frequent as large ones.
        const auto u = random.uniform() * random.uniform() * random.uniform();
        return std::ceil((x.least + u * (x.most - x.least)) * scale);
      }
    }
  }

  template <class T>
  void operator()(T* to) const {
    *to = static_cast<T>(number());
    if constexpr (std::is_integral_v<T>) {
      if (x.shape == form::multiple_of_64)
        *to -= *to % 64;
      if (x.shape == form::power_of_two)
        *to = std::bit_floor(*to);
    } else {
      *to = static_cast<T>(x.least + random.uniform() * (x.most - x.least));
    }
  }

  void operator()(core::timespan* to) const {
    *to = core::timespan{static_cast<int64_t>(number())};
  }

  void operator()(process_mode* to) const {
    *to = static_cast<process_mode>(random.below(x.choices.size()));
  }

  void operator()(std::string* to) const {
    if (!x.choices.empty()) {
      *to = x.choices[random.below(x.choices.size())];
    } else if (x.shape == form::device_name) {
      *to = (random.below(2) ? "cpu:" : "cuda:")
          + std::to_string(random.below(1000));
    } else if (x.shape == form::kind_name) {
      *to = "kind-" + std::to_string(random.below(1000));
    } else if (x.shape == form::endpoint) {
      *to = (random.below(2) ? "[::1]:" : "localhost:")
          + std::to_string(random.below(65'536));
    } else if (x.shape == form::core_set) {
      const auto first = random.below(500);
      *to = std::to_string(first) + "-"
          + std::to_string(first + random.below(500)) + ",1023";
    } else {
      constexpr std::string_view pieces[] = {
        "a", "\"", "\\", "'", "#", " ", "é", "😀", "=", "\\u0041", "]"};
      *to = "x";
      for (auto n = random.below(12); n > 0; --n)
        *to += pieces[random.below(std::size(pieces))];
    }
  }

  void operator()(std::vector<std::string>* to) const {
    constexpr std::string_view types[] = {"", "/f32", "/f16", "/bf16"};
    to->clear();
    if (x.shape == form::origin_list)
      return to->push_back("https://host" + std::to_string(random.below(9)));
    if (x.shape == form::network_list)
      return to->push_back("10.0.0.0/" + std::to_string(random.below(33)));
    for (auto n = 1 + random.below(4); n > 0; --n)
      to->push_back("m" + std::to_string(n) + "@"
                    + std::to_string(1 + random.below(200))
                    + std::string{types[random.below(4)]});
  }
};

settings draw(core::philox& random) {
  settings x;
  x.devices.resize(1 + random.below(3));
  x.models.resize(4);
  for (const auto& each : options())
    for (size_t i = 0; i < count_of(each, x); ++i)
      if (random.below(2))
        std::visit(drawer{each, random}, each.at(x, i));
  // These options belong together.
  x.http.private_key = x.http.certificate;
  x.http.bodies_bytes = std::max(x.http.bodies_bytes, x.http.body_bytes);
  if (x.http.results_disk_bytes == 0)
    x.http.journal = "off";
  if (x.cache.memory_bytes == 0)
    x.cache.folder = x.cache.encoder = "";
  if (x.cache.encoder.empty())
    x.cache.compares = "prompts";
  x.cache.tenants = std::min(x.cache.tenants, x.cache.entries);
  // Cores need processes that can be bound, and crashes need processes that can
  // be killed.
  if (x.processes.mode == process_mode::single) {
    x.preprocess.test_crash_seed = x.postprocess.test_crash_seed = 0;
    x.processes.cpu_cores.clear();
    for (auto& device : x.devices)
      device.cores.clear();
  }
  // Devices of one kind have one profile.
  for (auto& device : x.devices)
    if (const auto first = device_with_profile(x, device_kind(device)))
      device.profile = x.devices[*first].profile;
  // The variants drawn above may use these names.
  for (size_t i = 0; i < x.models.size(); ++i) {
    x.models[i].name = "m" + std::to_string(i + 1);
    if (x.models[i].path.empty())
      x.models[i].path = "folder";
  }
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(round_trip)

BOOST_AUTO_TEST_CASE(settings_survive_being_written_and_read) {
  core::philox random{test::seed(), core::purpose::test};
  size_t valid = 0;
  const size_t n = test::scaled(100'000);
  for (size_t i = 0; i < n; ++i) {
    const auto x = draw(random);
    const auto text = to_toml(x);
    const auto read = parse(text, "written");
    // The same rules apply to both.
    BOOST_REQUIRE_EQUAL(read.faults.size(), validate(x).size());
    if (!read)
      continue;
    ++valid;
    BOOST_REQUIRE_EQUAL(to_toml(read.values), text);
    BOOST_REQUIRE(read.values.processes.grace == x.processes.grace);
    BOOST_REQUIRE(read.values.planner.period == x.planner.period);
    BOOST_REQUIRE_EQUAL(read.values.arena.image_slot_bytes,
                        x.arena.image_slot_bytes);
    BOOST_REQUIRE_EQUAL(read.values.limits.guidance, x.limits.guidance);
    BOOST_REQUIRE_EQUAL(read.values.processes.program, x.processes.program);
  }
  BOOST_CHECK_MESSAGE(valid * 50 > n, valid << " of " << n << " were valid");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
