// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stages of random schedules: our own, stages that find facts and fetch
// images, and, if drawn, others at each hook that misbehave and resize images.

#include "actors/random_sizes.hpp"
#include "support/stage_orders.hpp"
#include "support/told_stage.hpp"
#include <atelier/actors/stage_path.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// The behaviour of a stage with one order.
enum class conduct : uint8_t {
  well,
  /// It reports a failure, which may permit another try.
  fails,
  tries_again,
  /// Its outcome cannot be entered.
  end_fails,
  /// Its worker stops here, for a while or until its process is found silent.
  late,
  hangs,
  dies,
  /// It answers as another stage, or with the body of another stage.
  wrong_stage,
  wrong_body,
  /// It reports a slot as written that it left empty.
  leaves_empty,
};

/// Numbers of questions. They are returned in `told_stage::work`, and an answer
/// must match its question.
inline constexpr uint64_t asked_nothing = 0;
inline constexpr uint64_t asked_near = 1;
inline constexpr uint64_t asked_tolerated = 2;

/// Outcomes, which `end` interprets.
inline constexpr uint64_t found_nothing = 0;
inline constexpr uint64_t found_some = 1;
inline constexpr uint64_t cannot_be_entered = 9;

/// Vanilla, except that requests that find images are answered with one. Some
/// ask a second question after the first.
struct finding_policy : planning::vanilla {
  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    auto next = vanilla::replan(asked, known, there, previous);
    planning::route r;
    r.name = "picture";
    r.from = planning::origin::image;
    next.routes.push_back(r);
    return next;
  }

  planning::choice choose(const planning::decision_context& by) const override {
    const auto& known = by.known;
    planning::need n;
    if (!known.near && !by.wanted.source) {
      n.near = true;
      return n;
    }
    if (!known.tolerated && by.wanted.id.value % 2 == 0) {
      n.tolerated = true;
      return n;
    }
    if (known.near && !known.near->empty())
      return planning::go{
        core::route_id{static_cast<uint32_t>(by.in_force.routes.size() - 1)},
        0};
    return vanilla::choose(by);
  }
};

/// Vanilla, except that most requests without a source draw several images,
/// each in the place of the one before or on it. If they are late, one of the
/// first is the answer.
struct several_legs : planning::vanilla {
  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    auto next = vanilla::replan(asked, known, there, previous);
    for (const auto then :
         {planning::origin::noise, planning::origin::stage_image})
      for (const uint32_t legs : {2u, 3u}) {
        planning::route r;
        r.name = std::to_string(legs) + " legs";
        r.late = planning::late_rule::answer_best;
        for (uint32_t i = 0; i < legs; ++i) {
          planning::leg x;
          x.any_of = {core::variant_id{i % 2}};
          x.from = i == 0 ? planning::origin::noise : then;
          x.skip = x.from == planning::origin::stage_image ? 1 : 0;
          r.legs.push_back(std::move(x));
        }
        next.routes.push_back(std::move(r));
      }
    return next;
  }

  planning::choice choose(const planning::decision_context& by) const override {
    const auto n = static_cast<uint32_t>(by.wanted.id.value % 6);
    if (n >= 4 || by.wanted.source)
      return vanilla::choose(by);
    const auto all = static_cast<uint32_t>(by.in_force.routes.size());
    return planning::go{core::route_id{all - 4 + n}, {}};
  }
};

using stage_run = std::function<core::result<told_stage::done>(
  std::string_view, const told_stage::work&, planning::worker_context&)>;

/// The options from which the stages of a schedule are drawn.
struct random_stage_options {
  /// Requests search for images, and are answered with one.
  bool finds = false;
  /// Some stages misbehave; some run beside the scheduler.
  bool strays = false;
  bool background = true;
  /// The bytes of an image slot; 0: slots keep none.
  uint64_t slot_bytes = 0;
  /// The `run` of these stages, whose name it gets.
  stage_run run = {};
};

/// The pipeline of one schedule.
class random_stages {
public:
  random_stages(core::philox& random, const random_stage_options& o)
    : finds_(o.finds), run_(o.run) {
    const bool finds = o.finds;
    const bool strays = o.strays;
    using planning::access;
    using planning::held;
    using planning::hook;
    using planning::if_failed;
    using uses = std::vector<planning::slot_use>;
    const auto chance = [&](uint64_t percent) {
      return strays && random.below(100) < percent;
    };
    sizes_ = std::make_shared<random_sizes>(chance(70), o.slot_bytes);
    const auto rule = [&] { return static_cast<if_failed>(random.below(3)); };
    const auto side_rule = [&] {
      return random.below(3) == 0 ? if_failed::fail : if_failed::go_on;
    };
    const auto brings = [](const planning::leg*, bool x) { return x; };
    const auto at_all = [](const planning::leg* in, bool) {
      return in != nullptr;
    };
    const auto on_it = [](const planning::leg* in, bool) {
      return in != nullptr && in->from == planning::origin::stage_image;
    };
    const auto where = [&] {
      return o.background && random.below(3) == 0 ? planning::place::background
                                                  : planning::place::cpu_pool;
    };
    // Where a stage of a leg or before the answer runs.
    const auto on_path = [&] {
      return random.below(3) == 0 ? planning::place::device : where();
    };
    const auto budget = [&] {
      return core::timespan{std::chrono::milliseconds{random.below(2'000)}};
    };
    actors::standard_stages own;
    std::vector<actors::added_stage> more;
    if (chance(40))
      own.classify =
        told("guess", hook::before_route, side_rule(),
             random.below(3) == 0 ? uses{{held::files, access::reads, brings}}
                                  : uses{},
             stray("guess", true), where(), budget());
    if (finds) {
      own.search = told("find", hook::before_route, if_failed::go_on, {},
                        finding(), planning::place::cpu_pool, budget());
      own.fetch =
        told("fetch", hook::each_leg, if_failed::choose_again,
             {{held::pixels, access::writes,
               [](const planning::leg* in, bool) { return in == nullptr; }}},
             fetching(), planning::place::background);
    }
    // It stands before `prepare`, in the place of `fetch`.
    if (!finds && chance(40))
      own.fetch = told("smooth", hook::each_leg, rule(),
                       {{held::pixels, access::replaces, on_it}},
                       stray("smooth", false), where());
    if (chance(40)) {
      const std::array each{uses{}, uses{{held::files, access::reads, brings}},
                            uses{{held::state, access::reads, at_all}},
                            uses{{held::state, access::replaces, at_all}}};
      more.push_back(
        {told("early", hook::each_leg, rule(), each[random.below(each.size())],
              stray("early", false), on_path()),
         "prepare"});
    }
    const uses replaces{{held::pixels, access::replaces}};
    const std::array images{uses{}, uses{{held::pixels, access::reads}},
                            replaces, replaces};
    if (chance(40))
      more.push_back({told("grade", hook::each_leg, rule(),
                           images[random.below(images.size())],
                           stray("grade", false), on_path()),
                      "denoise"});
    if (chance(40))
      more.push_back(
        {told("check", hook::before_answer, rule(),
              images[random.below(images.size())], stray("check", false),
              on_path()),
         more.empty() || more.back().after != "denoise" ? "denoise" : "grade"});
    if (chance(40))
      own.remember =
        told("keep", hook::after_answer, side_rule(),
             random.below(2) == 0 ? uses{{held::pixels, access::reads}}
                                  : uses{{held::files, access::reads, brings}},
             stray("keep", false), where());
    all_ = pipeline_with(own, more);
    sizes_->note(*all_);
    path_.emplace(all_);
  }

  const std::shared_ptr<const planning::pipeline>& all() const {
    return all_;
  }

  const actors::stage_path& path() const {
    return *path_;
  }

  std::string_view name(size_t stage) const {
    return all_->at(stage).row().name;
  }

  bool finds() const {
    return finds_;
  }

  /// Returns whether a stage is one that may misbehave.
  bool is_stray(size_t stage) const {
    const auto n = name(stage);
    return n != "prepare" && n != "denoise" && n != "finish";
  }

  bool is_side(size_t stage) const {
    const auto at = all_->at(stage).row().hook;
    return at == planning::hook::before_route
        || at == planning::hook::after_answer;
  }

  planning::if_failed otherwise(size_t stage) const {
    return all_->at(stage).row().otherwise;
  }

  /// Returns the code by which a stage fails before it runs: `begin` throws, or
  /// the size is impossible. None if it does not.
  core::ec fault_of(size_t stage, core::request_id id) const {
    const auto n = name(stage);
    if (!is_stray(stage))
      return core::ec::none;
    if (throws(n, id))
      return core::ec::internal;
    return has_work(n, id) ? sizes_->refusal(n, id) : core::ec::none;
  }

  /// Returns whether such a fault of any stage fails a request by that code.
  bool may_fail(core::request_id id, core::ec code) const {
    for (size_t i = 0; i < all_->size(); ++i)
      if (otherwise(i) == planning::if_failed::fail && fault_of(i, id) == code)
        return true;
    return false;
  }

  /// Returns whether a request that passes every stage fails so. If it is late,
  /// it may pass no stage of its last leg.
  bool must_fail(const core::request& what) const {
    for (size_t i = 0; i < all_->size(); ++i)
      if (otherwise(i) == planning::if_failed::fail && !is_side(i)
          && fault_of(i, what.id) != core::ec::none
          && (what.deadline == core::never
              || all_->at(i).row().hook == planning::hook::before_answer))
        return true;
    return false;
  }

  /// Returns whether `begin` throws for a request, or has work for it.
  static bool throws(std::string_view stage, core::request_id id) {
    return (id.value * 7 + number_of(stage)) % 13 == 0;
  }

  static bool has_work(std::string_view stage, core::request_id id) {
    return (id.value * 5 + number_of(stage)) % 4 != 0;
  }

  /// Returns the stage of the path that follows `stage` for a request.
  /// @param drawn its route has a leg
  size_t next(core::request_id id, size_t stage, bool drawn) const {
    for (size_t i = stage + 1; i < all_->size(); ++i) {
      const auto n = name(i);
      if (n == "finish" || (n == "denoise" && drawn)
          || (n == "prepare" && !finds_))
        return i;
      if (n != "prepare" && n != "fetch" && !is_side(i)
          && fault_of(i, id) == core::ec::none && has_work(n, id))
        return i;
    }
    return stage;
  }

private:
  told_stage::script stray(std::string_view name, bool always) const {
    told_stage::script x;
    if (run_)
      x.run = [name, run = run_](const auto& work, auto& here) {
        return run(name, work, here);
      };
    x.begin =
      [name, always, sizes = sizes_](
        const planning::row_view& of) -> std::optional<told_stage::work> {
      const auto id = of.wanted.id;
      if (throws(name, id))
        throw std::runtime_error("scripted");
      if (!always && !has_work(name, id))
        return std::nullopt;
      return told_stage::work{id.value, of.px, sizes->said(name, id, of.px)};
    };
    x.px = [name, sizes = sizes_](const told_stage::work& of) {
      if (sizes->of(name, core::request_id{of.about}) == resizing::throws)
        throw std::runtime_error("scripted");
      return of.becomes;
    };
    x.end = entering;
    x.takes = std::chrono::milliseconds{2};
    return x;
  }

  // Its orders contain the question; its outcome contains the answer.
  static told_stage::script finding() {
    told_stage::script x;
    x.begin =
      [](const planning::row_view& of) -> std::optional<told_stage::work> {
      if (of.asked.near)
        return told_stage::work{asked_near};
      if (of.asked.tolerated)
        return told_stage::work{asked_tolerated};
      return std::nullopt;
    };
    // The outcome is the question plus ten times the number found.
    x.end = [](const told_stage::done& done, planning::facts& known) {
      if (done.found % 10 == asked_near)
        known.near.emplace(done.found / 10);
      if (done.found % 10 == asked_tolerated)
        known.tolerated = std::vector<uint32_t>{7};
      return entering(done, known);
    };
    return x;
  }

  static told_stage::script fetching() {
    told_stage::script x;
    x.begin =
      [](const planning::row_view& of) -> std::optional<told_stage::work> {
      if (of.from == nullptr)
        return std::nullopt;
      return told_stage::work{asked_nothing, of.recipe->px};
    };
    x.end = entering;
    return x;
  }

  static core::result<void> entering(const told_stage::done& x,
                                     planning::facts&) {
    if (x.found == cannot_be_entered)
      return core::fail(core::ec::bad_payload, "scripted");
    return {};
  }

  bool finds_ = false;
  std::shared_ptr<random_sizes> sizes_;
  stage_run run_;
  std::shared_ptr<const planning::pipeline> all_;
  std::optional<actors::stage_path> path_;
};

} // namespace atelier::test
