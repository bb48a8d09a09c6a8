// SPDX-License-Identifier: Apache-2.0

// How many requests of a real service do eight devices answer, and how late, if
// each holds 1, 2, 4 or 10 of the service's checkpoints? The policy `atelier`
// runs beside two rules without foresight on the same requests, times and
// loads. A rule that knows all future requests runs too, as a bound.
//
//   gentd26_bench [SPEED [RESIDENT [SEED]]]
//
// reads data/gentd26/requests.csv in the folder that ATELIER_REFERENCE_DATA
// names: all rows with a checkpoint, in order. SPEED divides the times between
// them. The exit status is 1 if `atelier` loses more requests than the better
// rule, or has a higher mean latency, by more than a tenth of a point, or 2 %.

#include "farm.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

using namespace atelier;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in{line};
  for (std::string cell; std::getline(in, cell, ',');)
    out.push_back(cell);
  return out;
}

double seconds_of(const std::string& text) {
  std::tm at{};
  if (strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &at) == nullptr)
    return 0;
  return static_cast<double>(timegm(&at));
}

uint32_t number_or(const std::string& text, uint32_t otherwise) {
  const double x = std::strtod(text.c_str(), nullptr);
  return x >= 1 ? static_cast<uint32_t>(x) : otherwise;
}

/// Reads the requests. The columns of the file are: time, kind, status,
/// seconds, group, lengths of both prompts, images, steps, checkpoint, LoRAs.
bench::farm read(const std::string& path) {
  constexpr size_t images = 7;
  constexpr size_t steps = 8;
  constexpr size_t checkpoint = 9;
  bench::farm out;
  std::map<std::string, uint32_t> known;
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto cells = cells_of(line);
    if (cells.size() <= checkpoint || cells[checkpoint].empty())
      continue;
    planning::traced_arrival x;
    x.seconds = seconds_of(cells[0]);
    x.content = out.requests.size();
    x.images = number_or(cells[images], 1);
    x.steps = number_or(cells[steps], 30);
    x.variant =
      known.emplace(cells[checkpoint], static_cast<uint32_t>(known.size()))
        .first->second;
    out.requests.push_back(x);
  }
  const double first = out.requests.empty() ? 0 : out.requests.front().seconds;
  for (auto& x : out.requests)
    x.seconds -= first;
  out.profile = std::make_shared<const planning::profile>(
    bench::farm_profile(static_cast<uint32_t>(known.size())));
  return out;
}

void show(double speed, const bench::farm& x, const char* rule,
          const bench::fared& y) {
  std::printf("| %gx | %u | %llu | %s | %.2f | %.2f | %llu | %.0f |\n", speed,
              x.resident, static_cast<unsigned long long>(x.seed), rule,
              y.lost_percent(), y.mean_seconds,
              static_cast<unsigned long long>(y.loads), 100 * y.busy);
  std::fflush(stdout);
}

/// Returns whether `atelier` is as good as the better rule in one cell.
bool run_cell(const bench::farm& whole, double speed, uint32_t resident,
              uint64_t seed) {
  auto x = whole;
  x.resident = resident;
  x.seed = seed;
  for (auto& r : x.requests)
    r.seconds /= speed;
  const auto first = bench::earliest_finish(x);
  const auto second = bench::affinity(x);
  const auto ours = bench::simulated(x, "atelier");
  show(speed, x, "earliest finish", first);
  show(speed, x, "affinity, LRU", second);
  show(speed, x, "affinity, clairvoyant eviction", bench::clairvoyant(x));
  if (!ours) {
    std::fprintf(stderr, "gentd26_bench: %s\n", ours.why().text.c_str());
    return false;
  }
  show(speed, x, "atelier", *ours);
  const auto within = [](double value, double bound) {
    return value <= std::max(bound + 0.1, bound * 1.02);
  };
  const bool good =
    within(ours->lost_percent(),
           std::min(first.lost_percent(), second.lost_percent()))
    && within(ours->mean_seconds,
              std::min(first.mean_seconds, second.mean_seconds));
  if (!good)
    std::printf("| | | | `atelier` is behind | | | | |\n");
  return good;
}

} // namespace

int main(int n, char** words) {
  const char* root = std::getenv("ATELIER_REFERENCE_DATA");
  if (root == nullptr) {
    std::puts("skipped: ATELIER_REFERENCE_DATA is not set");
    return 0;
  }
  const auto path = std::string{root} + "/data/gentd26/requests.csv";
  const auto whole = read(path);
  if (whole.requests.empty()) {
    std::printf("skipped: %s is not there, or empty\n", path.c_str());
    return 0;
  }
  const auto word = [&](int i) {
    return n > i ? std::strtod(words[i], nullptr) : 0;
  };
  std::puts("| load | checkpoints held | seed | rule | lost % | mean s | loads "
            "| busy % |\n| --- | --- | --- | --- | --- | --- | --- | --- |");
  bool good = true;
  for (const double speed : {1.0, 3.0, 6.0})
    for (const uint32_t resident : {1u, 2u, 4u, 10u})
      for (const uint64_t seed : {1u, 2u})
        if ((n <= 1 || word(1) == speed) && (n <= 2 || word(2) == resident)
            && (n <= 3 || word(3) == static_cast<double>(seed)))
          good = run_cell(whole, speed, resident, seed) && good;
  return good ? 0 : 1;
}
