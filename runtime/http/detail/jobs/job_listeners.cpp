// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/detail/jobs/job_listeners.hpp>

#include <exception>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

void call(const job_listener& to, const job_news& news) {
  try {
    if (news.change == job_news::kind::progressed && to.progressed)
      to.progressed(*news.view);
    else if (news.change == job_news::kind::imaged && to.imaged)
      to.imaged(*news.view, news.index);
    else if (news.change == job_news::kind::ended && to.ended)
      to.ended(*news.view);
  } catch (const std::exception& e) {
    core::log_error("a listener of job {} threw: {}", news.view->id, e.what());
  }
}

} // namespace

void deliver(const job_news& x) {
  for (const auto& listener : x.to)
    call(*listener, x);
}

uint64_t job_listeners::add(job_listener news) {
  listeners_.emplace(++last_,
                     std::make_shared<const job_listener>(std::move(news)));
  return last_;
}

std::shared_ptr<const job_listener> job_listeners::remove(uint64_t number) {
  auto gone = listeners_.extract(number);
  return gone.empty() ? nullptr : std::move(gone.mapped());
}

void job_listeners::push(job_news::kind what,
                         std::shared_ptr<const job_view> view, uint32_t index,
                         uint64_t first) {
  if (!listeners_.empty())
    waiting_.push_back({{what, std::move(view), index, {}}, first, last_});
}

bool job_listeners::begin_telling() {
  return !std::exchange(telling_, true);
}

std::optional<job_news> job_listeners::next() {
  if (waiting_.empty())
    return std::nullopt;
  auto x = std::move(waiting_.front());
  waiting_.pop_front();
  const auto from = listeners_.lower_bound(x.first);
  const auto until = listeners_.upper_bound(x.last);
  for (auto i = from; i != until; ++i)
    x.news.to.push_back(i->second);
  if (x.news.change == job_news::kind::ended)
    listeners_.erase(from, until);
  return std::move(x.news);
}

std::vector<std::shared_ptr<const job_listener>> job_listeners::remove_all() {
  std::vector<std::shared_ptr<const job_listener>> out;
  for (auto& [number, x] : listeners_)
    out.push_back(std::move(x));
  listeners_.clear();
  return out;
}

} // namespace atelier::runtime::http::detail
