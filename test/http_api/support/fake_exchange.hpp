// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// A request of the test, and its reply.
/// Threads: one.
class fake_exchange : public runtime::http::exchange {
public:
  explicit fake_exchange(runtime::http::request_message x)
    : asked_(std::move(x)) {}

  const runtime::http::request_message& asked() const override {
    return asked_;
  }

  void drop_body() override {
    asked_.body = std::string{};
  }

  void reply(runtime::http::reply_message x) override {
    faulty = faulty || answered || streaming;
    answered = std::move(x);
  }

  void begin_events() override {
    faulty = faulty || answered || streaming;
    streaming = true;
  }

  void event(std::string_view name, std::string_view data) override {
    faulty = faulty || !streaming || ended;
    events.emplace_back(name, data);
  }

  uint64_t unread_limit() const override {
    return unread_bytes;
  }

  void end_events() override {
    faulty = faulty || !streaming || ended;
    ended = true;
  }

  void on_gone(std::function<void()> then) override {
    if (gone_)
      then();
    else
      then_ = std::move(then);
  }

  /// The client disconnects.
  void leave() {
    gone_ = true;
    if (const auto then = std::exchange(then_, {}))
      then();
  }

  nlohmann::json body() const {
    return answered ? nlohmann::json::parse(answered->body, nullptr, false)
                    : nlohmann::json{};
  }

  unsigned status() const {
    return answered ? answered->status : 0;
  }

  nlohmann::json event_data(size_t i) const {
    return nlohmann::json::parse(events.at(i).second, nullptr, false);
  }

  /// Returns the names of the events, separated by commas.
  std::string event_names() const {
    std::string all;
    for (const auto& [name, data] : events)
      all += (all.empty() ? "" : ",") + name;
    return all;
  }

  /// What unread_limit returns.
  uint64_t unread_bytes = UINT64_MAX;
  std::optional<runtime::http::reply_message> answered;
  bool streaming = false;
  bool ended = false;
  /// Whether a part of the reply was sent in a wrong order.
  bool faulty = false;
  std::vector<std::pair<std::string, std::string>> events;

private:
  runtime::http::request_message asked_;
  std::function<void()> then_;
  bool gone_ = false;
};

} // namespace atelier::test
