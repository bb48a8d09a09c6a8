// SPDX-License-Identifier: Apache-2.0

//  denoise_step       bordered_executor         the host's executor
//     |  open, run          |                         |
//     |-------------------->|  open (throws: noted)   |
//     |                     |------------------------>|
//     |                     |  run, of what was opened|
//     |                     |------------------------>|
//     |        ran          |        ran              |
//     |<--------------------|<------------------------|  each row, once

#include <atelier/core/guarded.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/host_executor.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace atelier::runtime {

namespace {

using core::ec;

core::result<void> called(std::string_view name, std::string_view function,
                          auto f) {
  return core::guarded("executor", name, function, [&]() -> core::result<void> {
    f();
    return {};
  });
}

/// The open work of a host's executor, and the receiver of its events. The
/// host's threads may report events after the executor is gone.
class news {
public:
  explicit news(std::string name) : name_(std::move(name)) {}

  void connect(gpu::executor_events to) {
    const std::lock_guard guard{mutex_};
    to_ = std::move(to);
  }

  /// No event is reported after this.
  void close() {
    connect({});
  }

  void not_opened(core::ticket who, core::error why) {
    const std::lock_guard guard{mutex_};
    unopened_.insert_or_assign(who, std::move(why));
  }

  /// Notes a run and returns the rows that were opened.
  std::vector<core::ticket> begin(const gpu::run_job& job) {
    const std::lock_guard guard{mutex_};
    running_.emplace();
    std::vector<core::ticket> opened;
    for (const auto who : job.rows)
      if (const auto at = unopened_.find(who); at != unopened_.end())
        running_->failed.push_back({who, 0, false, at->second});
      else
        opened.push_back(who);
    running_->opened = opened;
    return opened;
  }

  /// The pending run ended without a word of its executor.
  void ended(const core::error& why) {
    gpu::run_report x;
    for (const auto who : opened())
      x.rows.push_back({who, 0, false, why});
    ran(std::move(x));
  }

  void ran(gpu::run_report x) {
    std::function<void(gpu::run_report)> tell;
    {
      const std::lock_guard guard{mutex_};
      if (!running_)
        return core::log_warn("executor '{}' reported an unknown run", name_);
      x.rows = judged(std::move(x.rows));
      running_.reset();
      tell = to_.ran;
    }
    if (tell)
      tell(std::move(x));
  }

  void decoding(core::ticket who) {
    const std::lock_guard guard{mutex_};
    decoding_.insert(who);
  }

  void decoded(gpu::decode_report x) {
    std::function<void(gpu::decode_report)> tell;
    {
      const std::lock_guard guard{mutex_};
      if (decoding_.erase(x.ticket) == 0)
        return core::log_warn("executor '{}' reported an unknown decoding",
                              name_);
      tell = to_.decoded;
    }
    if (tell)
      tell(std::move(x));
  }

  void loaded(gpu::load_report x) {
    std::function<void(gpu::load_report)> tell;
    {
      const std::lock_guard guard{mutex_};
      tell = to_.loaded;
    }
    if (tell)
      tell(std::move(x));
  }

  void closed(core::ticket who) {
    const std::lock_guard guard{mutex_};
    unopened_.erase(who);
    decoding_.erase(who);
  }

private:
  struct run {
    std::vector<core::ticket> opened;
    /// The reports of the other rows.
    std::vector<gpu::row_report> failed;
  };

  std::vector<core::ticket> opened() {
    const std::lock_guard guard{mutex_};
    return running_ ? running_->opened : std::vector<core::ticket>{};
  }

  /// Returns one report for each row of the run.
  std::vector<gpu::row_report> judged(std::vector<gpu::row_report> told) {
    auto out = std::move(running_->failed);
    for (const auto who : running_->opened) {
      const auto at = std::ranges::find(told, who, &gpu::row_report::ticket);
      if (at != told.end())
        out.push_back(std::move(*at));
      else
        out.push_back(
          {who, 0, false,
           core::fail(ec::internal, "executor '{}' said nothing of the row",
                      name_)});
    }
    return out;
  }

  const std::string name_;
  std::mutex mutex_;
  /// Guarded by the mutex, as all below; called without it.
  gpu::executor_events to_;
  std::unordered_map<core::ticket, core::error> unopened_;
  std::optional<run> running_;
  std::unordered_set<core::ticket> decoding_;
};

class bordered_executor final : public gpu::executor {
public:
  bordered_executor(std::string name, std::shared_ptr<gpu::executor> own)
    : name_(std::move(name)), own_(std::move(own)) {}

  ~bordered_executor() override {
    news_->close();
  }

  /// Asks for what does not change, and listens.
  core::result<void> begin(const planning::profile& known) {
    auto asked =
      called(name_, "resident", [&] { resident_ = own_->resident(); });
    if (!asked)
      return asked;
    asked = called(name_, "failed_at_start",
                   [&] { failed_ = own_->failed_at_start(); });
    if (!asked)
      return asked;
    const auto unknown = [&](std::string_view which, core::variant_id v) {
      return core::fail(ec::bad_config,
                        "executor '{}': its {} variant {} is outside 0..{}",
                        name_, which, v.value, known.variants.size());
    };
    for (const auto v : resident_)
      if (v.value >= known.variants.size())
        return unknown("resident", v);
    for (const auto& x : failed_)
      if (x.variant.value >= known.variants.size())
        return unknown("failed", x.variant);
    asked = called(name_, "loads_beside",
                   [&] { loads_beside_ = own_->loads_beside(); });
    if (!asked)
      return asked;
    return called(name_, "connect", [&] {
      own_->connect(
        {[to = news_](gpu::run_report x) { to->ran(std::move(x)); },
         [to = news_](gpu::decode_report x) { to->decoded(std::move(x)); },
         [to = news_](gpu::load_report x) { to->loaded(std::move(x)); }});
    });
  }

  void connect(gpu::executor_events events) override {
    news_->connect(std::move(events));
  }

  void rouse() override {
    note(called(name_, "rouse", [&] { own_->rouse(); }));
  }

  void open(const gpu::open_job& job) override {
    if (auto opened = called(name_, "open", [&] { own_->open(job); }); !opened)
      news_->not_opened(job.ticket, std::move(opened).why());
  }

  void run(const gpu::run_job& job) override {
    auto opened = news_->begin(job);
    if (opened.empty())
      return news_->ended({});
    const auto ran = called(name_, "run", [&] {
      own_->run({std::move(opened), job.steps});
    });
    if (!ran)
      news_->ended(ran.why());
  }

  void interrupt() override {
    note(called(name_, "interrupt", [&] { own_->interrupt(); }));
  }

  void decode(core::ticket who) override {
    news_->decoding(who);
    auto begun = called(name_, "decode", [&] { own_->decode(who); });
    if (begun)
      return;
    gpu::decode_report x;
    x.ticket = who;
    x.failure = std::move(begun).why();
    news_->decoded(std::move(x));
  }

  void call(std::function<void()> work) override {
    note(called(name_, "call", [&] { own_->call(std::move(work)); }));
  }

  bool load(const std::vector<core::variant_id>& variants,
            const std::vector<core::variant_id>& keep) override {
    bool there = false;
    auto begun =
      called(name_, "load", [&] { there = own_->load(variants, keep); });
    if (!begun)
      news_->loaded({std::move(begun).why()});
    return there;
  }

  void forget(const std::vector<core::variant_id>& variants) override {
    note(called(name_, "forget", [&] { own_->forget(variants); }));
  }

  bool loads_beside() const override {
    return loads_beside_;
  }

  std::vector<core::variant_id> resident() const override {
    return resident_;
  }

  std::vector<gpu::load_failure> failed_at_start() const override {
    return failed_;
  }

  void close(core::ticket who) override {
    news_->closed(who);
    note(called(name_, "close", [&] { own_->close(who); }));
  }

private:
  /// Where no row depends on it.
  static void note(const core::result<void>& x) {
    if (!x)
      core::log_warn("{}", core::to_string(x.why()));
  }

  const std::string name_;
  std::shared_ptr<news> news_ = std::make_shared<news>(name_);
  std::vector<core::variant_id> resident_;
  std::vector<gpu::load_failure> failed_;
  bool loads_beside_ = false;
  // Last: its threads end before what they tell.
  std::shared_ptr<gpu::executor> own_;
};

} // namespace

core::result<std::shared_ptr<gpu::executor>> make_host_executor(
  const host_executor& by, const executor_setup& from) {
  const auto fail_with = [&](const core::error& why) {
    return core::fail(why.code, "devices: {}: {}", from.device, why.text);
  };
  using made_executor = core::result<std::shared_ptr<gpu::executor>>;
  auto made = core::guarded("executor", by.name, "its factory",
                            [&]() -> made_executor { return by.make(from); });
  if (!made)
    return fail_with(made.why());
  if (*made == nullptr)
    return fail_with(core::fail(
      ec::bad_config, "executor '{}': its factory made none", by.name));
  auto out = std::make_shared<bordered_executor>(by.name, std::move(*made));
  if (auto begun = out->begin(*from.profile); !begun)
    return fail_with(begun.why());
  return std::shared_ptr<gpu::executor>{std::move(out)};
}

} // namespace atelier::runtime
