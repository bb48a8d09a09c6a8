// SPDX-License-Identifier: Apache-2.0
#include "fuzzed_door.hpp"

#include <atelier/core/sha256.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/reply_text.hpp>
#include <atelier/runtime/http/detail/connection/request_reader.hpp>
#include <atelier/runtime/http/metrics.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/series.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace atelier::test {

namespace {

using namespace runtime::http;
using nlohmann::json;

/// Waits for a handler's reply, on any thread.
class waiting_exchange : public exchange {
public:
  explicit waiting_exchange(request_message x) : asked_(std::move(x)) {}

  const request_message& asked() const override {
    return asked_;
  }

  void drop_body() override {
    asked_.body = std::string{};
  }

  void reply(reply_message x) override {
    const std::lock_guard guard{mutex_};
    if (streaming_ || answered_)
      fault_ = "a second answer";
    answered_ = std::move(x);
    news_.notify_all();
  }

  void begin_events() override {
    const std::lock_guard guard{mutex_};
    if (streaming_ || answered_)
      fault_ = "a second answer";
    streaming_ = true;
  }

  void event(std::string_view name, std::string_view data) override {
    const std::lock_guard guard{mutex_};
    if (!streaming_ || ended_)
      fault_ = "an event outside of a stream";
    const auto x = json::parse(data, nullptr, false);
    if (x.is_discarded() || name.empty())
      fault_ = "an event that is not JSON";
  }

  void end_events() override {
    const std::lock_guard guard{mutex_};
    if (!streaming_ || ended_)
      fault_ = "an end without a stream";
    ended_ = true;
    news_.notify_all();
  }

  void on_gone(std::function<void()>) override {}

  /// Returns nothing if the reply was a stream, or none arrived.
  std::optional<reply_message> wait(std::string& fault) {
    std::unique_lock guard{mutex_};
    if (!news_.wait_for(guard, std::chrono::seconds{60},
                        [&] { return answered_ || ended_; }))
      fault_ = "no answer";
    fault = fault_;
    return answered_;
  }

private:
  request_message asked_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::optional<reply_message> answered_;
  bool streaming_ = false;
  bool ended_ = false;
  std::string fault_;
};

core::time_point steady_now() {
  return std::chrono::steady_clock::now();
}

bool is_text(const json& in, const char* name) {
  const auto i = in.find(name);
  return i != in.end() && i->is_string();
}

bool has_shape(const json& x, error_shape how) {
  if (!x.is_object() || !x.contains("error"))
    return false;
  if (how == error_shape::a1111)
    return is_text(x, "error") && is_text(x, "detail") && is_text(x, "errors");
  const auto& error = x["error"];
  if (!error.is_object() || !is_text(error, "message")
      || !is_text(error, "code"))
    return false;
  return is_text(error, "type") && error.contains("param");
}

bool is_head(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find("\r\n");
    if (end == std::string_view::npos)
      return false;
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty())
      return text.empty();
    const auto bad = [](unsigned char c) {
      // A tab counts as a blank there.
      return (c < 0x20 && c != '\t') || c == 0x7f;
    };
    if (std::any_of(line.begin(), line.end(), bad)
        || (line.find(": ") == std::string_view::npos
            && !line.starts_with("HTTP/1.")))
      return false;
  }
  return false;
}

} // namespace

std::string fault_of(const reply_message& x, error_shape how) {
  const bool speaks_not = x.status == 501 || x.status == 505;
  if (x.status < 200 || (x.status >= 500 && !speaks_not))
    return fmt::format("status {}: {}", x.status, x.body);
  if (!is_head(detail::head_text(x, {}, x.body.size())))
    return "a head that is none: " + detail::head_text(x, {}, x.body.size());
  if (x.content_type.starts_with("application/json") && !json::accept(x.body))
    return "a body that is no JSON: " + x.body;
  if (x.status < 400)
    return {};
  if (!has_shape(json::parse(x.body, nullptr, false), how))
    return fmt::format("an error of another shape: {}", x.body);
  return {};
}

config::settings fuzzed_door::settings() {
  config::settings x;
  x.devices.front().executor = "test_card";
  x.devices.front().variants = {"test_card@8", "test_card@50"};
  x.http.body_bytes = 1 << 20;
  x.http.header_bytes = 4096;
  x.http.jobs = 200;
  x.http.origins = {"https://studio.example"};
  x.limits.source_px = 1 << 20;
  return x;
}

fuzzed_door::fuzzed_door(bool keys) {
  const auto images = std::make_shared<strict_images>(settings_);
  condition_ = std::make_shared<health>(images, "1.2.3", steady_now);
  condition_->refresh();
  condition_->enter(health::stage::running);
  doors_ = doors::make({images, condition_, settings_});
  std::vector<access_key> all;
  if (keys) {
    all.push_back({"ann", core::sha256_hex("apple"), scope::user, 0});
    all.push_back({"bob", core::sha256_hex("pear"), scope::admin, 600});
    all.push_back({"cid", core::sha256_hex("plum"), scope::admin, 0});
  }
  gate_ =
    std::make_unique<detail::authentication>(detail::authentication::options{
      doors_.routes, std::make_shared<access>(std::move(all)),
      settings_.http.origins, !keys, [this] { return ++count_; }});
}

fuzzed_door::outcome fuzzed_door::say(std::string_view bytes, mutator& cuts) {
  std::string method;
  std::string pattern;
  auto out = have_answered(bytes, cuts, method, pattern);
  if (out.status != 0)
    doors_.counted->count_exchange(method, pattern, out.status, 0);
  return out;
}

size_t fuzzed_door::series() const {
  return series_of(doors_.counted->exposition({}));
}

fuzzed_door::outcome fuzzed_door::have_answered(std::string_view bytes,
                                                mutator& cuts,
                                                std::string& method,
                                                std::string& pattern) {
  using stage = detail::request_reader::stage;
  if (++count_ % 512 == 0)
    for (const auto& chore : doors_.chores)
      chore();
  detail::request_reader reader{
    {settings_.http.header_bytes, settings_.http.body_bytes}};
  detail::authentication::entry to;
  bool judged = false;
  std::string waiting;
  while (reader.where() != stage::done) {
    const auto used = reader.feed(waiting);
    waiting.erase(0, used);
    if (reader.where() == stage::failed) {
      const auto& why = reader.why();
      method = reader.message().method;
      if (!judged)
        to.errors = gate_->shape_for(reader.target());
      const auto reply = error_reply(to.errors, why.status, why.code, why.text);
      return {why.status, fault_of(reply, to.errors)};
    }
    if (!judged && reader.where() != stage::head) {
      judged = true;
      to = gate_->judge(reader.message(), reader.target(), steady_now());
      method = reader.message().method;
      if (to.to)
        pattern = to.to->pattern;
      if (to.refused)
        reader.discard();
      continue;
    }
    if (used > 0 || reader.where() == stage::done)
      continue;
    if (bytes.empty())
      return {};
    const auto n = 1 + cuts.below(bytes.size() + 1);
    waiting += bytes.substr(0, n);
    bytes.remove_prefix(std::min<size_t>(n, bytes.size()));
  }
  if (to.refused)
    return {to.refused->status, fault_of(*to.refused, to.errors)};
  return hand_over(to, std::move(reader.message()));
}

fuzzed_door::outcome fuzzed_door::hand_over(
  const detail::authentication::entry& to, request_message asked) {
  const auto x = std::make_shared<waiting_exchange>(std::move(asked));
  to.to->answer(x);
  outcome out;
  const auto reply = x->wait(out.fault);
  out.status = reply ? reply->status : 200;
  if (out.fault.empty() && reply)
    out.fault = fault_of(*reply, to.errors);
  return out;
}

fuzzed_door::outcome fuzzed_door::post(std::string_view path,
                                       std::string_view type,
                                       std::string_view body, mutator& cuts) {
  return say(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                         "{}\r\nContent-Length: {}\r\n\r\n{}",
                         path, type, body.size(), body),
             cuts);
}

} // namespace atelier::test
