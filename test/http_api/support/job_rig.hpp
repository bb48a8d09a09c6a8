// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fake_images.hpp"
#include <atelier/runtime/http/jobs.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// Jobs over a fake engine, with clocks that the test advances.
struct job_rig {
  explicit job_rig(runtime::http::job_limits within = {})
    : images(std::make_shared<fake_images>()),
      all(std::make_shared<runtime::http::jobs>(images, within, clocks())) {}

  runtime::http::jobs::clocks clocks() {
    return {
      [this] { return now; },
      [this] {
        return std::chrono::system_clock::time_point{}
             + std::chrono::seconds{1'700'000'000}
             + std::chrono::duration_cast<std::chrono::system_clock::duration>(
                 now.time_since_epoch())
             + set_off;
      },
      [this] { return ++drawn; }};
  }

  static runtime::http::job_request wish(uint32_t n = 1) {
    runtime::http::job_request x;
    for (uint32_t i = 0; i < n; ++i) {
      generation g;
      g.prompt = fmt::format("p{}", i);
      x.images.push_back(g);
    }
    return x;
  }

  /// Records all events as "progressed 1/8", "imaged 0", "ended completed".
  runtime::http::job_listener note(std::vector<std::string>& into) {
    return {[&into](const auto& v) {
              into.push_back(
                fmt::format("progressed {}/{}", v.steps_done, v.steps));
            },
            [&into](const auto&, uint32_t index) {
              into.push_back(fmt::format("imaged {}", index));
            },
            [&into](const auto& v) {
              into.push_back(
                fmt::format("ended {}", runtime::http::to_string(v.state)));
            }};
  }

  runtime::http::job_view enter(runtime::http::job_request x,
                                runtime::http::job_listener news = {}) {
    auto got = all->submit(std::move(x), std::move(news));
    if (const auto* why = std::get_if<failure>(&got))
      throw std::runtime_error{why->text};
    return std::get<runtime::http::job_view>(got);
  }

  core::time_point now;
  /// The amount by which the wall clock was set.
  std::chrono::system_clock::duration set_off{};
  uint64_t drawn = 0;
  std::shared_ptr<fake_images> images;
  std::shared_ptr<runtime::http::jobs> all;
};

} // namespace atelier::test
