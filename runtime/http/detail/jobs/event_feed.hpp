// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/shared_text.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <list>
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

  /// Sends an event whose data other streams send, too.
  /// @param data not null; one line
  void send(std::string name, std::shared_ptr<shared_text> data);

  /// Sends an event that a later one replaces: see exchange::passing_event.
  void send_passing(std::string name, std::string data);

  struct item {
    std::string name;
    std::string data;
    bool last = false;
    bool ready = true;
    bool left_out = false;
    /// Whether a later event replaces it.
    bool passing = false;
    /// In place of `data`, if other streams send them, too.
    std::shared_ptr<shared_text> shared = nullptr;
  };

  /// Takes the place of an event whose data come later, with `fill`. What is
  /// sent after it waits for it. A later event replaces it.
  item* reserve(std::string name);

  /// Sends the event of a reserved place; later events follow.
  void fill(item* place, std::string data);

  /// Sends nothing in a reserved place; later events follow.
  void leave_out(item* place);

  /// Sends no more after that.
  void close();

private:
  item* push(item x);
  void drain();

  std::shared_ptr<exchange> to_;
  std::mutex mutex_;
  /// Places keep their addresses.
  std::list<item> waiting_;
  bool open_ = false;
  bool sending_ = false;
};

} // namespace atelier::runtime::http::detail
