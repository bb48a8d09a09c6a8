// SPDX-License-Identifier: Apache-2.0

// How long does it take from a submission to the first step of an idle worker?
// The path is: scheduler, preprocess (noise for 64x64 pixels), scheduler, the
// executor's first step call. All threads are idle for 100 ms before each
// request.
//
//   latency_bench [REQUESTS] [PROCESS-PROGRAM] [KEY=VALUE ...]
//
// The settings at the end apply to the split processes.

#include <atelier/atelier.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

double at(std::vector<double> x, double share) {
  std::sort(x.begin(), x.end());
  return x[std::min(
    x.size() - 1, static_cast<size_t>(share * static_cast<double>(x.size())))];
}

int measure(const char* mode, int requests, const std::string& program,
            const std::vector<std::string>& settings) {
  atelier::engine_options options;
  options.set = {std::string{"processes.mode="} + mode,
                 "devices[0].variants=[\"test_card@1\"]"};
  if (!program.empty())
    options.set.push_back("processes.program=" + program);
  options.set.insert(options.set.end(), settings.begin(), settings.end());
  auto started = atelier::engine::start(options);
  if (const auto* why = std::get_if<atelier::failure>(&started)) {
    std::fprintf(stderr, "%s\n", why->text.c_str());
    return 1;
  }
  auto& engine = *std::get<0>(started);
  std::vector<double> first;
  std::vector<double> total;
  std::string reference;
  for (int i = 0; i < requests; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    atelier::generation wanted;
    wanted.prompt = "a red circle";
    wanted.width = wanted.height = 64;
    wanted.seed = 7;
    auto submitted = engine.submit(wanted);
    auto* accepted = std::get_if<atelier::submission>(&submitted);
    if (accepted == nullptr)
      return 1;
    const auto answer = accepted->result.get();
    const auto* image = std::get_if<atelier::generated_image>(&answer);
    if (image == nullptr)
      return 1;
    // A result counts only if the same request produces the same bytes.
    if (reference.empty())
      reference = image->sha256;
    if (image->sha256 != reference || image->took.first_step.count() <= 0) {
      std::fprintf(stderr, "request %d: wrong image\n", i);
      return 1;
    }
    using micro = std::chrono::duration<double, std::micro>;
    first.push_back(micro{image->took.first_step}.count());
    total.push_back(micro{image->took.total}.count());
  }
  std::printf("%-6s submit to first step: p50 %7.1f us  p90 %7.1f us  p99 "
              "%7.1f us   whole request: p50 %7.1f us\n",
              mode, at(first, .5), at(first, .9), at(first, .99),
              at(total, .5));
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  const int requests = count > 1 ? std::atoi(arguments[1]) : 200;
  const std::string program = count > 2 ? arguments[2] : "";
  const std::vector<std::string> settings{arguments + std::min(count, 3),
                                          arguments + count};
  const int single = measure("single", requests, program, {});
  return single != 0 ? single : measure("split", requests, program, settings);
}
