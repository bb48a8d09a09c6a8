// SPDX-License-Identifier: Apache-2.0
// An engine whose processes and devices stand in a file:
// topology_from_file FILE [KEY=VALUE ...]

#include <atelier/atelier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

constexpr int pictures = 8;

int complain(const atelier::failure& why) {
  std::cerr << "topology_from_file: " << why.text << '\n';
  return 1;
}

/// Which process runs what: one is named after each device, one is "cpu".
void show(const atelier::engine_status& now,
          const std::map<std::string, uint32_t>& most_running) {
  for (const auto& process : now.processes) {
    std::cout << "process " << process.pid << " is " << process.role;
    for (const auto& worker : now.workers)
      if (worker.device == process.role)
        for (const auto& variant : worker.variants)
          std::cout << ", hosts " << variant;
    if (const auto i = most_running.find(process.role); i != most_running.end())
      std::cout << ", ran up to " << i->second << " at a time";
    std::cout << ", " << process.restarts << " restarts\n";
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: topology_from_file FILE [KEY=VALUE ...]\n";
    return 2;
  }
  atelier::engine_options options;
  options.config_file = argv[1];
  options.set.assign(argv + 2, argv + argc);

  // Every fault of the file is told at once, a line each.
  auto started = atelier::engine::start(options);
  if (const auto* why = std::get_if<atelier::failure>(&started))
    return complain(*why);
  auto& engine = *std::get<std::unique_ptr<atelier::engine>>(started);

  std::vector<atelier::submission> requests;
  for (int i = 0; i < pictures; ++i) {
    atelier::generation wanted;
    wanted.prompt = "picture " + std::to_string(i);
    auto handed_in = engine.submit(wanted);
    if (const auto* why = std::get_if<atelier::failure>(&handed_in))
      return complain(*why);
    requests.push_back(std::get<atelier::submission>(std::move(handed_in)));
  }

  // A snapshot may be taken at any time.
  std::map<std::string, uint32_t> most_running;
  for (auto& request : requests) {
    while (request.result.wait_for(std::chrono::milliseconds{5})
           != std::future_status::ready)
      for (const auto& worker : engine.status().workers)
        most_running[worker.device] =
          std::max(most_running[worker.device], worker.running);
    const auto answer = request.result.get();
    if (const auto* why = std::get_if<atelier::failure>(&answer))
      return complain(*why);
  }
  const auto end = engine.status();
  show(end, most_running);
  std::cout << end.answered << " of " << end.accepted << " answered\n";
  return end.answered == pictures && engine.stop(std::chrono::seconds{10}) ? 0
                                                                           : 1;
}
