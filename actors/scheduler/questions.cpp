// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/questions.hpp>
#include <atelier/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::actors {

namespace {

/// Maximum number of questions of a policy per request; it needs two at most.
constexpr uint32_t most_questions = 4;

} // namespace

bool questions::count_question(core::request_id id) {
  return all_[id].number++ < most_questions;
}

void questions::begin(core::request_id id, const planning::need& wanted,
                      core::time_point now) {
  auto& x = all_[id];
  ATELIER_EXPECTS(x.stages.empty(), "the last question is over");
  x.wanted = wanted;
  x.since = x.until = now;
  x.search.reset();
}

void questions::looks(core::request_id id, size_t stage,
                      core::time_point until) {
  auto& x = all_.at(id);
  if (!x.stages.empty())
    times_.erase({x.until, id});
  x.stages.push_back(stage);
  x.until = std::max(x.until, until);
  times_.emplace(x.until, id);
}

uint32_t questions::number(core::request_id id) const {
  const auto i = all_.find(id);
  return i == all_.end() ? 0 : i->second.number;
}

bool questions::is_open(core::request_id id) const {
  const auto i = all_.find(id);
  return i != all_.end() && !i->second.stages.empty();
}

bool questions::answered(core::request_id id, uint32_t number, size_t stage) {
  const auto i = all_.find(id);
  if (i == all_.end() || i->second.number != number)
    return false;
  auto& x = i->second;
  if (std::erase(x.stages, stage) == 0)
    return false;
  if (x.stages.empty())
    times_.erase({x.until, id});
  return true;
}

void questions::found_near(core::request_id id, core::timespan took) {
  all_.at(id).search = took;
}

questions::ended questions::end(core::request_id id, core::time_point now) {
  auto& x = all_.at(id);
  ended out{x.wanted, now - x.since, x.search, x.stages};
  close(id, x);
  return out;
}

void questions::forget(core::request_id id) {
  const auto i = all_.find(id);
  if (i == all_.end())
    return;
  close(id, i->second);
  all_.erase(i);
}

void questions::close(core::request_id id, question& x) {
  if (!x.stages.empty())
    times_.erase({x.until, id});
  x.stages.clear();
}

std::optional<core::request_id> questions::late(core::time_point now) const {
  if (times_.empty() || times_.begin()->first > now)
    return std::nullopt;
  return times_.begin()->second;
}

bool questions::any() const {
  return !times_.empty();
}

std::string questions::check() const {
  size_t open = 0;
  for (const auto& [id, x] : all_) {
    if (x.stages.empty())
      continue;
    ++open;
    if (!times_.contains({x.until, id}))
      return fmt::format("the question of request {} is not found by its time",
                         id.value);
  }
  if (open != times_.size())
    return "a question is found by a time that is not its own";
  return {};
}

} // namespace atelier::actors
