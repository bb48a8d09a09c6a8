// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/reply_check.hpp>

#include <algorithm>
#include <type_traits>
#include <variant>

namespace atelier::runtime {

reply_check::reply_check(ipc::process_life who) : who_(who) {}

void reply_check::asked(const actors::to_process& x) {
  std::visit(
    [this]<class T>(const T& body) {
      if constexpr (std::is_same_v<
                      T, actors::
                           run_stage> || std::is_same_v<T, actors::denoise>) {
        const std::lock_guard guard{mutex_};
        open_.insert(body.ticket);
      } else if constexpr (std::is_same_v<T, actors::ask_order>) {
        const std::lock_guard guard{mutex_};
        questions_.insert(body.ticket);
      }
    },
    x.body);
}

bool reply_check::has(core::ticket x) {
  const std::lock_guard guard{mutex_};
  return open_.count(x) == 1;
}

bool reply_check::answers(core::ticket x) {
  const std::lock_guard guard{mutex_};
  return open_.erase(x) == 1;
}

bool reply_check::answers_question(const actors::has_order& x) {
  const std::lock_guard guard{mutex_};
  const auto asked = questions_.find(x.ticket);
  if (asked == questions_.end())
    return false;
  questions_.erase(asked);
  if (!x.has)
    open_.erase(x.ticket);
  return true;
}

bool reply_check::accepts(const actors::from_process& x) {
  return std::visit(
    [this]<class T>(const T& body) {
      if constexpr (std::is_same_v<T, actors::stepping>)
        return body.worker.process == who_
            && std::ranges::all_of(body.rows,
                                   [this](auto row) { return has(row); });
      else if constexpr (std::is_same_v<T, actors::stepped>)
        return body.worker.process == who_
            && std::ranges::all_of(body.rows, [this](const auto& row) {
                 return has(row.ticket);
               });
      else if constexpr (std::is_same_v<T, actors::has_order>)
        return answers_question(body);
      else if constexpr (requires { body.worker; })
        return body.worker.process == who_;
      else if constexpr (requires { body.process; })
        return body.process == who_;
      else
        return answers(body.ticket);
    },
    x.body);
}

} // namespace atelier::runtime
