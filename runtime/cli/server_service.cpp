// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/generation_json.hpp>
#include <atelier/runtime/cli/server_service.hpp>
#include <atelier/runtime/http/timings_json.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::result;
using nlohmann::json;

json to_json(const generation& x) {
  auto out = shared_fields(x);
  out["n"] = 1;
  out["response_format"] = "b64_json";
  out["output_format"] = x.format;
  return out;
}

/// Returns the parts of the time of a reply's image.
timings timings_in(const std::string& reply) {
  const auto all = json::parse(reply, nullptr, false);
  const json::json_pointer at{"/data/0/timings_ms"};
  return all.is_object() && all.contains(at) ? http::read_timings(all.at(at))
                                             : timings{};
}

class server_service : public service {
public:
  explicit server_service(server_options options)
    : caller_(std::move(options)) {
    for (uint32_t i = 0; i < caller_.options().connections; ++i)
      threads_.emplace_back([this] { work(); });
  }

  ~server_service() override {
    end();
  }

  result<void> check() const {
    return caller_.check();
  }

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    uint64_t request = 0;
    {
      const std::lock_guard guard{mutex_};
      if (stopping_)
        return failure{"stopping", "the service is stopping", {}};
      request = ++last_;
      waiting_.push_back({request, to_json(wanted).dump(), std::move(calls)});
    }
    wake_.notify_one();
    return request;
  }

  bool cancel(uint64_t request) override {
    callbacks calls;
    {
      const std::lock_guard guard{mutex_};
      const auto at =
        std::find_if(waiting_.begin(), waiting_.end(),
                     [&](const auto& x) { return x.request == request; });
      if (at == waiting_.end())
        return false;
      calls = std::move(at->calls);
      waiting_.erase(at);
    }
    calls.answered(failure{"cancelled", "cancelled before it was sent", {}});
    return true;
  }

  bool stop(std::chrono::nanoseconds) override {
    end();
    return true;
  }

  std::vector<uint64_t> batches() override {
    const auto reply = caller_.ask("GET", "/metrics");
    std::vector<uint64_t> out;
    if (!reply || reply->status != 200)
      return out;
    constexpr std::string_view name = "atelier_batch_steps_total{rows=\"";
    std::istringstream lines{reply->body};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(name))
        continue;
      const auto* const end = line.data() + line.size();
      size_t rows = 0;
      double steps = 0;
      const auto read = std::from_chars(line.data() + name.size(), end, rows);
      // Length of the quote, brace and blank after the number.
      constexpr auto between = 3;
      if (read.ec != std::errc{} || end - read.ptr <= between || rows > 1024)
        continue;
      std::from_chars(read.ptr + between, end, steps);
      if (out.size() <= rows)
        out.resize(rows + 1, 0);
      out[rows] += static_cast<uint64_t>(steps);
    }
    return out;
  }

private:
  struct call {
    uint64_t request = 0;
    std::string body;
    callbacks calls;
  };

  void work() {
    for (;;) {
      call next;
      {
        std::unique_lock guard{mutex_};
        wake_.wait(guard, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_)
          return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      const auto reply =
        caller_.ask("POST", "/v1/images/generations", std::move(next.body));
      if (!reply)
        next.calls.answered(
          failure{std::string{core::to_string(reply.why().code)},
                  reply.why().text,
                  {}});
      else if (reply->status != 200)
        next.calls.answered(failure_in(*reply));
      else {
        generated_image made;
        made.request = next.request;
        made.took = timings_in(reply->body);
        next.calls.answered(std::move(made));
      }
    }
  }

  void end() {
    std::deque<call> left;
    {
      const std::lock_guard guard{mutex_};
      stopping_ = true;
      left.swap(waiting_);
    }
    wake_.notify_all();
    for (auto& x : left)
      x.calls.answered(failure{"stopping", "the service is stopping", {}});
    for (auto& x : threads_)
      if (x.joinable())
        x.join();
  }

  const server_caller caller_;
  std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex, like the next two members.
  std::deque<call> waiting_;
  uint64_t last_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

} // namespace

result<std::unique_ptr<service>> reach_server(server_options options) {
  auto made = std::make_unique<server_service>(std::move(options));
  if (auto ok = made->check(); !ok)
    return ok.why();
  return std::unique_ptr<service>{std::move(made)};
}

} // namespace atelier::runtime::cli
