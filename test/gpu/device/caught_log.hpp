// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/log.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace atelier::test {

/// Captures the process's log from warnings on, until its destruction.
class caught_log {
public:
  caught_log() : file_(std::tmpfile(), &std::fclose) {
    BOOST_REQUIRE(file_);
    auto log = core::start_log("warn", "test", file_.get());
    BOOST_REQUIRE(log);
    log_ = std::move(*log);
  }

  caught_log(const caught_log&) = delete;
  caught_log& operator=(const caught_log&) = delete;

  /// Ends the log and returns how many of its lines contain `what`.
  size_t lines_with(const std::string& what) {
    log_.reset();
    std::rewind(file_.get());
    size_t found = 0;
    char line[1024];
    while (std::fgets(line, sizeof line, file_.get()))
      found += std::string{line}.find(what) != std::string::npos ? 1u : 0u;
    return found;
  }

private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::shared_ptr<core::started_log> log_;
};

} // namespace atelier::test
