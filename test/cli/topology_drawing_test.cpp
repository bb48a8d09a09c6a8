// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/topology_drawing.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>

namespace {

using namespace atelier;
using namespace runtime::cli;

config::settings two_devices() {
  config::settings x;
  x.processes.mode = config::process_mode::split;
  x.processes.cpu_cores = "4";
  config::device_settings d;
  d.cores = "0-1";
  d.threads = 2;
  d.variants = {"base@50", "turbo@8"};
  x.devices = {d};
  d.name = "cuda:0";
  d.kind = "old-gpu";
  d.cores = "";
  d.threads = 0;
  d.variants.clear();
  x.devices.push_back(d);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(topology_drawing_test)

BOOST_AUTO_TEST_CASE(each_process_is_a_part) {
  const auto got = topology_of(two_devices());
  BOOST_TEST(got.title == "4 processes, joined only by shared memory");
  BOOST_REQUIRE(got.parts.size() == 4u);
  BOOST_TEST(got.parts[0].name == "control");
  BOOST_TEST(got.parts[1].name == "cpu");
  BOOST_TEST(got.parts[1].lines.back() == "cores 4");
  BOOST_TEST(got.parts[2].name == "cpu:0");
  BOOST_TEST(got.parts[2].lines[1] == "executor auto, 2 threads, cores 0-1");
  BOOST_TEST(got.parts[2].lines[2] == "kind cpu");
  BOOST_TEST(got.parts[2].lines[4] == "hosts turbo@8");
  BOOST_TEST(got.parts[3].lines[1] == "executor auto, all cores");
  BOOST_TEST(got.parts[3].lines[2] == "kind old-gpu");
  BOOST_TEST(got.shared.back() == "3 pairs of rings of 1 MiB");
}

BOOST_AUTO_TEST_CASE(one_process_has_no_rings_and_no_cores) {
  const auto got = topology_of({});
  BOOST_TEST(got.title == "one process");
  for (const auto& line : got.shared)
    BOOST_TEST(line.find("rings") == std::string::npos);
  for (const auto& part : got.parts)
    for (const auto& line : part.lines)
      BOOST_TEST(line.find("cores") == std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(the_text_shows_every_line_within_80_columns) {
  const auto x = topology_of(two_devices());
  const auto text = to_text(x);
  for (const auto& part : x.parts)
    for (const auto& line : part.lines)
      BOOST_TEST(text.find(line) != std::string::npos, line);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    BOOST_TEST(line.size() <= 80u, line);
}

BOOST_AUTO_TEST_CASE(names_cannot_break_the_svg) {
  auto x = two_devices();
  x.devices[0].variants = {"a<b&c@4"};
  const auto svg = to_svg(topology_of(x));
  BOOST_TEST(svg.starts_with("<svg "));
  BOOST_TEST(svg.ends_with("</svg>\n"));
  BOOST_TEST(svg.find("a&lt;b&amp;c@4") != std::string::npos);
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("rx=\"6\"", at)) != svg.npos; ++at)
    ++boxes;
  // The drawing has four processes and the arena.
  BOOST_TEST(boxes == 5u);
}

BOOST_AUTO_TEST_SUITE_END()
