// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/caller_turns.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http {

bool caller_turns::run(const std::string& caller, std::function<void()> work) {
  {
    const std::lock_guard guard{mutex_};
    if (count_ >= most_)
      return false;
    const auto most_of_caller = std::max<size_t>(1, most_ / 4);
    if (const auto at = waiting_.find(caller);
        at != waiting_.end() && at->second.size() >= most_of_caller)
      return false;
    auto& own = waiting_[caller];
    if (own.empty())
      turns_.push_back(caller);
    own.push_back(std::move(work));
    ++count_;
  }
  return threads_.run({}, [this] { run_next(); });
}

void caller_turns::run_next() {
  std::function<void()> work;
  {
    const std::lock_guard guard{mutex_};
    auto caller = std::move(turns_.front());
    turns_.pop_front();
    const auto own = waiting_.find(caller);
    work = std::move(own->second.front());
    own->second.pop_front();
    --count_;
    if (own->second.empty())
      waiting_.erase(own);
    else
      turns_.push_back(std::move(caller));
  }
  work();
}

} // namespace atelier::runtime::http
