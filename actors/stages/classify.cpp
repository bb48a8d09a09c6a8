// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/classify.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/planning/policies/argus/labels.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

namespace atelier::actors {

namespace {

constexpr core::timespan classifying = std::chrono::milliseconds{5};

using classifier_ptr = std::shared_ptr<const gpu::prompt_classifier>;

core::error not_loaded(const core::error& why) {
  return core::fail(why.code, "classifier: {}", why.text);
}

/// Returns the loader's result, or its exception as an error: the loader is
/// called only once.
core::result<classifier_ptr> opened_by(const classifier_loader& by) {
  try {
    auto made = by();
    if (made && !*made)
      return core::fail(core::ec::internal, "the loader returned none");
    return made;
  } catch (const std::exception& x) {
    return core::fail(core::ec::internal, "the loader threw: {}", x.what());
  } catch (...) {
    return core::fail(core::ec::internal,
                      "the loader threw something that is not an exception");
  }
}

uint32_t tolerated_of(const classify_stage::ladder& x,
                      std::span<const std::string> known,
                      std::span<const float> qualities) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> expected;
  for (const auto& level : x.levels) {
    const auto at = std::ranges::find(known, level.variant) - known.begin();
    const auto i = static_cast<size_t>(at);
    expected.push_back(level.skip == 0 && i < qualities.size()
                         ? static_cast<double>(qualities[i])
                         : unknown);
  }
  // Without the first level the reference quality is unknown.
  if (expected.empty() || !(expected.front() >= 0))
    return 0;
  return planning::argus::tolerated_level(expected);
}

} // namespace

struct classify_stage::loaded {
  explicit loaded(classifier_loader by) : load(std::move(by)) {}

  const classifier_loader load;
  std::mutex mutex;
  /// Guarded by the mutex, and so are the calls of the classifier.
  std::optional<core::result<classifier_ptr>> classifier;
};

classify_stage::classify_stage(classifier_loader load, core::timespan budget,
                               double share)
  : classifies_(static_cast<bool>(load)),
    loaded_(std::make_shared<loaded>(std::move(load))) {
  row_.name = "classify";
  row_.place = planning::place::cpu_pool;
  row_.hook = planning::hook::before_route;
  row_.budget = budget;
  row_.budget_share = share;
  row_.otherwise = planning::if_failed::go_on;
  row_.on_demand = true;
}

std::optional<classify_stage::work> classify_stage::begin(
  const planning::row_view& row) const {
  if (!classifies_ || !row.asked.tolerated || row.costs.ladders.empty())
    return std::nullopt;
  work out;
  out.text = core::words_of(row.wanted.text.positive, row.wanted.syntax);
  for (const auto& from : row.costs.ladders) {
    auto& to = out.ladders.emplace_back();
    for (const auto& x : from.levels) {
      const auto i = x.variant.value;
      to.levels.push_back({i < row.costs.variants.size()
                             ? row.costs.variants[i].name
                             : std::string{},
                           x.skip});
    }
  }
  return out;
}

core::timespan classify_stage::takes(const work&,
                                     const planning::profile&) const {
  return classifying;
}

core::result<classify_stage::done> classify_stage::run(
  const work& order, planning::worker_context&) const {
  auto& own = *loaded_;
  const std::lock_guard guard{own.mutex};
  if (!own.classifier) {
    own.classifier = opened_by(own.load);
    if (!*own.classifier)
      core::log_warn("{}", not_loaded(own.classifier->why()).text);
  }
  if (!*own.classifier)
    return not_loaded(own.classifier->why());
  const auto& with = ***own.classifier;
  const auto qualities = with.qualities(order.text);
  if (!qualities)
    return qualities.why();
  done out;
  for (const auto& x : order.ladders)
    out.tolerated.push_back(tolerated_of(x, with.levels(), *qualities));
  return out;
}

core::result<void> classify_stage::end(const done& outcome,
                                       planning::facts& known) const {
  known.tolerated = outcome.tolerated;
  return {};
}

} // namespace atelier::actors
