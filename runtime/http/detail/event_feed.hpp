// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace atelier::runtime::http::detail {

/// A stream of events whose first ones may come before it is begun: a job's
/// news before its submission returned. They keep their order.
/// Threads: any; exchange is called without a lock.
class event_feed {
public:
  explicit event_feed(std::shared_ptr<exchange> to) : to_(std::move(to)) {}

  /// Begins the stream: with an event of its own, unless that has no data, and
  /// with what was sent so far.
  void open(std::string name = {}, std::string data = {});

  void send(std::string name, std::string data);

  /// Sends no more after that.
  void close();

private:
  struct item {
    std::string name;
    std::string data;
    bool last = false;
  };

  void push(item x);
  void drain();

  std::shared_ptr<exchange> to_;
  std::mutex mutex_;
  std::deque<item> waiting_;
  bool open_ = false;
  bool sending_ = false;
};

} // namespace atelier::runtime::http::detail
