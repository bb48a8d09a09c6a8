// SPDX-License-Identifier: Apache-2.0
// A long run of all kinds of requests. Every request is answered, cancelled,
// failed or refused exactly once, and at the end the engine is as large as
// before.
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

constexpr size_t in_flight = 64;

std::vector<pid_t> processes_of(const engine& of) {
  std::vector<pid_t> all{getpid()};
  for (const auto& p : of.status().processes)
    if (p.alive && p.pid != getpid())
      all.push_back(p.pid);
  return all;
}

size_t open_files(const std::vector<pid_t>& of) {
  size_t n = 0;
  for (const auto pid : of)
    for ([[maybe_unused]] const auto& x : std::filesystem::directory_iterator{
           "/proc/" + std::to_string(pid) + "/fd"})
      ++n;
  return n;
}

/// Returns the resident memory of these processes in MiB.
double resident_mib(const std::vector<pid_t>& of) {
  double pages = 0;
  for (const auto pid : of) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/statm"};
    double size = 0;
    double resident = 0;
    file >> size >> resident;
    pages += resident;
  }
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Returns the slope of a straight line through the points, by least squares.
double slope_of(const std::vector<std::pair<double, double>>& points) {
  double x = 0;
  double y = 0;
  for (const auto& p : points) {
    x += p.first;
    y += p.second;
  }
  const auto n = static_cast<double>(points.size());
  x /= n;
  y /= n;
  double both = 0;
  double square = 0;
  for (const auto& p : points) {
    both += (p.first - x) * (p.second - y);
    square += (p.first - x) * (p.first - x);
  }
  return both / square;
}

generation any_request(core::philox& random) {
  const char* const samplers[] = {"ddim", "euler", "euler_ancestral",
                                  "dpmpp_2m", "lcm"};
  generation x;
  x.prompt = random.below(2) == 0 ? "a" : "b";
  x.width = 16 + 16 * static_cast<uint32_t>(random.below(3));
  x.height = 16 + 16 * static_cast<uint32_t>(random.below(3));
  x.steps = 1 + static_cast<uint32_t>(random.below(4));
  x.sampler = samplers[random.below(5)];
  x.guidance = random.below(2) == 0 ? 1.0f : 3.0f;
  x.seed = random.next_u64();
  return x;
}

/// Makes one field of a request invalid.
void spoil(generation& x, core::philox& random) {
  switch (random.below(5)) {
    case 0:
      x.steps = 0;
      break;
    case 1:
      x.width = 17;
      break;
    case 2:
      x.guidance = std::numeric_limits<float>::quiet_NaN();
      break;
    case 3:
      x.prompt = "\xff\xfe";
      break;
    default:
      x.sampler = "none such";
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_conservation_test)

BOOST_AUTO_TEST_CASE(what_is_handed_in_comes_out_once_and_nothing_stays) {
  const test::tiny_folder folder;
  const std::string device =
    "executor='torch',threads=1,max_batch=4,variants=['tiny@3']}";
  auto sut = test::start(
    test::mode::split,
    {"models=[{name='tiny',path='" + folder.path.string() + "'}]",
     "devices=[{name='cpu:0'," + device + ",{name='cpu:1'," + device + "]"});
  core::philox random{test::seed(), core::purpose::test};
  const size_t count = test::scaled(10'000);
  const size_t settled = count / 2;

  struct one {
    test::in_flight got;
    bool cancelled = false;
  };

  std::deque<one> running;
  uint64_t delivered = 0;
  uint64_t cancelled = 0;
  uint64_t failed = 0;
  uint64_t refused = 0;
  std::vector<std::shared_ptr<std::atomic<uint32_t>>> answers;
  std::vector<std::pair<double, double>> memory;
  size_t files = 0;
  const auto end_oldest = [&] {
    const auto made = test::await(running.front().got);
    const auto code = test::code_of(made);
    delivered += code.empty();
    cancelled += code == "cancelled";
    failed += !code.empty() && code != "cancelled";
    if (code == "cancelled")
      BOOST_TEST(running.front().cancelled);
    running.pop_front();
  };
  const auto rest = [&] {
    while (!running.empty())
      end_oldest();
    BOOST_TEST_REQUIRE(test::comes_to_rest(*sut));
  };
  for (size_t i = 0; i < count; ++i) {
    if (i == settled) {
      rest();
      files = open_files(processes_of(*sut));
    }
    if (i >= settled && (i - settled) % 100 == 0)
      memory.emplace_back(static_cast<double>(i) / 1000,
                          resident_mib(processes_of(*sut)));
    auto wanted = any_request(random);
    if (random.below(100) == 0) {
      spoil(wanted, random);
      const auto got = sut->submit(wanted);
      BOOST_TEST(std::holds_alternative<failure>(got));
      ++refused;
      continue;
    }
    auto& x = running.emplace_back();
    x.got = test::hand_in(*sut, wanted);
    answers.push_back(x.got.answers);
    if (random.below(20) == 0) {
      auto& victim = running[random.below(running.size())];
      victim.cancelled = true;
      static_cast<void>(sut->cancel(victim.got.accepted.request));
    }
    while (running.size() >= in_flight)
      end_oldest();
  }
  rest();
  BOOST_TEST(delivered + cancelled + failed + refused == count);
  BOOST_TEST(failed == 0u);
  BOOST_TEST(test::eventually([&] {
    return std::all_of(answers.begin(), answers.end(),
                       [](const auto& n) { return *n == 1u; });
  }));
  const auto s = sut->status();
  BOOST_TEST(s.accepted == count - refused);
  BOOST_TEST(s.accepted == s.answered + s.failed + s.cancelled);
  BOOST_TEST(s.slots_in_use == 0u);
  BOOST_TEST(open_files(processes_of(*sut)) == files);
  BOOST_TEST_MESSAGE(count << " requests: " << delivered << " delivered, "
                           << cancelled << " cancelled, " << refused
                           << " refused");
  if (memory.size() >= 30) {
    const auto slope = slope_of(memory);
    BOOST_TEST_MESSAGE("memory: " << memory.front().second << " to "
                                  << memory.back().second << " MiB, " << slope
                                  << " MiB in 1,000 requests");
    BOOST_TEST(slope < 1.0);
  }
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
