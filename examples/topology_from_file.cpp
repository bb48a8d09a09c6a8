// SPDX-License-Identifier: Apache-2.0
// Starts an engine whose processes and devices are listed in a file:
// topology_from_file FILE [KEY=VALUE ...]

#include <atelier/atelier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int images = 8;

/// Prints what each process runs. One process is named after each device, and
/// one is named "cpu".
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
  try {
    if (argc < 2) {
      std::cerr << "usage: topology_from_file FILE [KEY=VALUE ...]\n";
      return 2;
    }
    atelier::engine_options options;
    options.config_file = argv[1];
    options.set.assign(argv + 2, argv + argc);

    // The error lists every fault of the file, one on each line.
    const auto engine = atelier::engine::start(options).value();

    std::vector<atelier::submission> requests;
    for (int i = 0; i < images; ++i) {
      atelier::generation wanted;
      wanted.prompt = "image " + std::to_string(i);
      requests.push_back(engine->submit(wanted).value());
    }

    // The status is available at any time.
    std::map<std::string, uint32_t> most_running;
    for (auto& request : requests) {
      while (request.result.wait_for(std::chrono::milliseconds{5})
             != std::future_status::ready)
        for (const auto& worker : engine->status().workers)
          most_running[worker.device] =
            std::max(most_running[worker.device], worker.running);
      request.result.get().value();
    }
    const auto end = engine->status();
    show(end, most_running);
    std::cout << end.answered << " of " << end.accepted << " answered\n";
    return end.answered == images && engine->stop(std::chrono::seconds{10}) ? 0
                                                                            : 1;
  } catch (const atelier::failed& e) {
    std::cerr << "topology_from_file: " << e.what() << '\n';
    return 1;
  }
}
