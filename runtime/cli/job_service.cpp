// SPDX-License-Identifier: Apache-2.0
// Long, because one class owns the way of an image, from its submission to its
// file or its cancellation.
#include <atelier/core/json_text.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/generation_json.hpp>
#include <atelier/runtime/cli/job_service.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/note_json.hpp>
#include <atelier/runtime/http/prompt_class_json.hpp>
#include <atelier/runtime/http/reuse_json.hpp>
#include <atelier/runtime/http/timings_json.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using namespace std::chrono_literals;
using core::ec;
using core::fail;
using core::result;
using nlohmann::json;
using std::chrono::steady_clock;

/// Pauses between two queries of a job. The first ones are short, for images
/// that take only a moment.
constexpr auto first_pause = 10ms;
constexpr auto longest_pause = 250ms;
/// Maximum number of tries of a call whose connection breaks, and the pause
/// before the next one.
constexpr int most_tries = 5;
constexpr auto pause_of_try = 200ms;
/// Maximum wait before a request to a full server is repeated, whatever the
/// server says.
constexpr auto longest_wait = 10s;
/// Maximum number of replies that only ask for patience, such as a proxy's
/// whose server is down, after which an unwanted job is left.
constexpr int most_put_off = 3;

json to_json(const generation& x) {
  auto out = shared_fields(x);
  out["negative_prompt"] = x.negative;
  out["format"] = x.format;
  out["quality"] = x.quality;
  each_wanted([&](const core::parameter& p, auto, auto member) {
    if (const auto* const value = held(x.*member))
      out[p.name] = *value;
  });
  if (x.native_only)
    out["native_only"] = *x.native_only;
  if (!x.image.empty())
    out["image"] = http::to_base64(x.image);
  if (!x.mask.empty())
    out["mask"] = http::to_base64(x.mask);
  return out;
}

/// Returns the value with that name in a server's reply; a default value if it
/// is missing or has another type.
template <class T>
T said(const json& in, const char* name) {
  if (!in.is_object())
    return {};
  const auto i = in.find(name);
  if (i == in.end())
    return {};
  try {
    return i->get<T>();
  } catch (const json::exception&) {
    return {};
  }
}

failure broken(const core::error& why) {
  return {std::string{core::to_string(why.code)}, why.text, {}};
}

std::string draw_key() {
  std::random_device entropy;
  std::string out;
  for (int i = 0; i < 4; ++i)
    out += fmt::format("{:08x}", entropy());
  return out;
}

core::timespan wait_of(const http::client_reply& reply) {
  const auto text = http::find_field(reply.headers, "retry-after");
  uint32_t seconds = 1;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::min<core::timespan>(std::chrono::seconds{std::max(seconds, 1u)},
                                  longest_wait);
}

/// Whether a request about an accepted job is only to be repeated: the key has
/// used its requests of this minute, or the server is short of something.
bool comes_later(const http::client_reply& reply) {
  return (reply.status == 429 || reply.status == 503)
      && !http::find_field(reply.headers, "retry-after").empty();
}

struct task {
  uint64_t request = 0;
  generation wanted;
  callbacks calls;
  /// Guarded by the service's mutex.
  bool unwanted = false;
};

class job_service : public service {
public:
  explicit job_service(server_options options) : caller_(std::move(options)) {}

  ~job_service() override {
    end();
  }

  /// Also checks that the key is accepted: otherwise every request would be
  /// refused for it.
  result<void> check() const {
    if (auto ok = caller_.check(); !ok)
      return ok;
    const auto reply = caller_.ask("GET", "/v1/variants");
    if (!reply)
      return reply.why();
    if (reply->status == 401 || reply->status == 403)
      return fail(ec::invalid_argument, "{}: {}",
                  caller_.options().key ? "--key" : "--key is missing",
                  failure_in(*reply).text);
    return {};
  }

  void begin() {
    for (uint32_t i = 0; i < caller_.options().connections; ++i)
      threads_.emplace_back([this] { work(); });
  }

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    const std::lock_guard guard{mutex_};
    if (stopping_)
      return failure{"stopping", "the service is stopping", {}};
    const auto x = std::make_shared<task>();
    x->request = ++last_;
    x->wanted = wanted;
    x->calls = std::move(calls);
    open_.emplace(x->request, x);
    waiting_.push_back(x);
    changed_.notify_all();
    return x->request;
  }

  bool cancel(uint64_t request) override {
    const std::lock_guard guard{mutex_};
    const auto i = open_.find(request);
    if (i == open_.end())
      return false;
    i->second->unwanted = true;
    changed_.notify_all();
    return true;
  }

  bool stop(std::chrono::nanoseconds) override {
    end();
    return true;
  }

private:
  using task_ptr = std::shared_ptr<task>;

  void work() {
    for (;;) {
      task_ptr next;
      {
        std::unique_lock guard{mutex_};
        changed_.wait(guard, [this] { return stopping_ || !waiting_.empty(); });
        if (waiting_.empty())
          return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      auto done = make(*next);
      {
        const std::lock_guard guard{mutex_};
        open_.erase(next->request);
      }
      next->calls.answered(done);
    }
  }

  bool unwanted(const task& x) {
    const std::lock_guard guard{mutex_};
    return stopping_ || x.unwanted;
  }

  /// Waits, unless the task is unwanted. Returns false if it is unwanted or the
  /// service stops.
  bool pause(const task& x, core::timespan most) {
    std::unique_lock guard{mutex_};
    return !changed_.wait_for(guard, most,
                              [&] { return stopping_ || x.unwanted; });
  }

  /// Waits, also for an unwanted task. Returns false if the service stops.
  bool rest(core::timespan most) {
    std::unique_lock guard{mutex_};
    return !changed_.wait_for(guard, most, [&] { return stopping_; });
  }

  /// Sends a call until a reply arrives, at most `most_tries` times.
  result<http::client_reply> ask(const task& x, std::string_view method,
                                 const std::string& path,
                                 const std::string& body = {},
                                 const http::fields& headers = {}) {
    auto reply = caller_.ask(method, path, body, headers);
    for (int i = 1; i < most_tries && !reply; ++i) {
      if (!pause(x, pause_of_try))
        break;
      reply = caller_.ask(method, path, body, headers);
    }
    return reply;
  }

  /// Makes one image, from the submission of its job to its answer.
  answer make(const task& x) {
    const auto began = steady_clock::now();
    for (;;) {
      const auto id = hand_in(x);
      if (const auto* why = std::get_if<failure>(&id))
        return *why;
      auto got = await(x, "/v1/jobs/" + std::get<std::string>(id));
      // An accepted job is refused if other requests have filled the engine in
      // the meantime. It is submitted again, like one that was not accepted.
      const auto* why = std::get_if<failure>(&got);
      const bool late = x.wanted.deadline
                     && core::after(steady_clock::now(), pause_of_try)
                          > core::after(began, *x.wanted.deadline);
      if (why == nullptr || why->code != "overloaded" || late
          || !pause(x, pause_of_try))
        return got;
    }
  }

  /// Submits a job and returns its name.
  std::variant<std::string, failure> hand_in(const task& x) {
    const auto began = steady_clock::now();
    const auto body = core::json_text(to_json(x.wanted));
    // The key keeps a repeated call whose reply was lost from starting another
    // job.
    const http::fields headers{{"Idempotency-Key", draw_key()}};
    const failure taken_back{"cancelled", "cancelled before it was sent", {}};
    for (;;) {
      if (unwanted(x))
        return taken_back;
      const auto reply = ask(x, "POST", "/v1/jobs", body, headers);
      if (!reply)
        return broken(reply.why());
      if (reply->status == 202) {
        auto id =
          said<std::string>(json::parse(reply->body, nullptr, false), "id");
        if (!id.empty())
          return id;
        return failure{"io_failed", "the server's reply has no job ID", {}};
      }
      auto why = failure_in(*reply);
      const auto wait = wait_of(*reply);
      const bool late = x.wanted.deadline
                     && core::after(steady_clock::now(), wait)
                          > core::after(began, *x.wanted.deadline);
      if (reply->status != 429 || late)
        return why;
      if (!pause(x, wait))
        return taken_back;
    }
  }

  /// Waits for a job's end. A job that is left before is cancelled, unless the
  /// server puts off the call that does so.
  answer await(const task& x, const std::string& job) {
    bool told = false;
    int put_off = 0;
    core::timespan between = first_pause;
    for (;;) {
      const auto reply = ask(x, "GET", job + "?images=url");
      if (!reply)
        return give_up(job, broken(reply.why()));
      if (reply->status == 404 || reply->status == 410)
        return failure{"unavailable",
                       "the server no longer knows the job: it was "
                       "restarted, or keeps too few results",
                       {}};
      core::timespan wait = between;
      if (comes_later(*reply)) {
        wait = wait_of(*reply);
      } else if (reply->status != 200) {
        return give_up(job, failure_in(*reply));
      } else {
        const auto seen = json::parse(reply->body, nullptr, false);
        const auto state = said<std::string>(seen, "status");
        if (state == "completed")
          return take(x, job, seen);
        if (state == "failed" || state == "cancelled")
          return failure_in(*reply);
        if (state != "queued" && state != "running")
          return give_up(
            job,
            failure{"io_failed", "the server's reply has no job status", {}});
        if (x.calls.progressed && state == "running")
          x.calls.progressed({x.request,
                              said<uint32_t>(seen, "step"),
                              said<uint32_t>(seen, "steps"),
                              {}});
      }
      between = std::min<core::timespan>(between * 3 / 2, longest_pause);
      if (!told && pause(x, wait))
        continue;
      if (told) {
        put_off += comes_later(*reply) ? 1 : 0;
      } else {
        // The end of a cancelled job is seen like any other end. If the server
        // does not respond, the wait ends.
        const auto heard = caller_.ask("POST", job + "/cancel");
        if (!heard)
          return broken(heard.why());
        told = !comes_later(*heard);
        put_off += told ? 0 : 1;
        wait = told ? core::timespan{first_pause} : wait_of(*heard);
      }
      const bool stops = !rest(wait);
      if (put_off == most_put_off || (stops && told))
        return failure{
          "cancelled", "the server has not said that the job ended", {}};
      // A service that stops cancels again without a long wait.
      if (stops)
        std::this_thread::sleep_for(
          std::min<core::timespan>(wait, pause_of_try));
    }
  }

  /// Cancels a job that no caller waits for any longer, as far as one call can.
  failure give_up(const std::string& job, failure why) const {
    static_cast<void>(caller_.ask("POST", job + "/cancel"));
    return why;
  }

  answer take(const task& x, const std::string& job, const json& seen) {
    const auto images = said<json>(said<json>(seen, "result"), "images");
    if (!images.is_array() || images.size() != 1 || !images[0].is_object())
      return failure{"io_failed", "the server's reply has no image", {}};
    auto reply = ask(x, "GET", job + "/images/0");
    while (reply && comes_later(*reply) && pause(x, wait_of(*reply)))
      reply = ask(x, "GET", job + "/images/0");
    if (!reply)
      return broken(reply.why());
    if (reply->status != 200)
      return failure_in(*reply);
    const auto& from = images[0];
    generated_image out;
    out.request = x.request;
    out.bytes.assign(reply->body.begin(), reply->body.end());
    out.format = x.wanted.format;
    out.prompt = x.wanted.prompt;
    out.negative = x.wanted.negative;
    out.seed = said<uint64_t>(from, "seed");
    out.model = without_controls(said<std::string>(from, "model"));
    out.variant = without_controls(said<std::string>(from, "variant"));
    out.route = without_controls(said<std::string>(from, "route"));
    out.sampler = without_controls(said<std::string>(from, "sampler"));
    out.steps = said<uint32_t>(from, "steps");
    out.steps_run = said<uint32_t>(from, "steps_run");
    out.guidance = said<float>(from, "guidance");
    out.strength = said<float>(from, "strength");
    out.strength_rule =
      without_controls(said<std::string>(from, "strength_rule"));
    out.width = said<uint32_t>(from, "width");
    out.height = said<uint32_t>(from, "height");
    out.drawn_width = said<uint32_t>(from, "drawn_width");
    out.drawn_height = said<uint32_t>(from, "drawn_height");
    out.notes = said<std::vector<note>>(from, "notes");
    for (auto& one : out.notes)
      one.text = without_controls(one.text);
    out.prompt_class = said<std::vector<ladder_level>>(from, "prompt_class");
    if (from.contains("reused"))
      out.reused = said<reuse>(from, "reused");
    out.took = http::read_timings(said<json>(from, "timings_ms"));
    out.sha256 = core::sha256_hex(reply->body);
    if (out.sha256 != said<std::string>(from, "sha256"))
      return failure{"io_failed", "the image was damaged on its way", {}};
    return out;
  }

  void end() {
    {
      const std::lock_guard guard{mutex_};
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& x : threads_)
      if (x.joinable())
        x.join();
  }

  const server_caller caller_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// Guarded by the mutex, like the next three members.
  std::deque<task_ptr> waiting_;
  std::map<uint64_t, task_ptr> open_;
  uint64_t last_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

} // namespace

result<std::unique_ptr<service>> reach_jobs(server_options options) {
  auto made = std::make_unique<job_service>(std::move(options));
  if (auto ok = made->check(); !ok)
    return ok.why();
  made->begin();
  return std::unique_ptr<service>{std::move(made)};
}

} // namespace atelier::runtime::cli
