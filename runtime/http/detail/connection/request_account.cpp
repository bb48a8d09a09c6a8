// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/request_account.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

void request_account::work() {
  busy_ = true;
  {
    const std::lock_guard guard{server_->busy_mutex};
    ++server_->busy;
  }
  ++server_->counts->requests;
}

void request_account::close(unsigned status, const authentication::entry& entry,
                            const std::string& peer, core::time_point now) {
  const bool answered = std::exchange(status_, 0) != 0;
  if (!answered && !busy_)
    return;
  auto& replies = server_->counts->replies;
  ++replies[std::min<size_t>(status / 100, replies.size() - 1)];
  const auto seconds = core::to_seconds(now - began_);
  if (server_->done) {
    static const auto& none = *new std::string;
    server_->done(method_, entry.to ? entry.to->pattern : none, status,
                  seconds);
  }
  const auto sent = std::exchange(sent_bytes_, 0);
  if (server_->log)
    server_->log({entry.client.empty() ? peer : entry.client, entry.key,
                  method_, entry.path, status, sent, seconds,
                  entry.request_id});
  if (!std::exchange(busy_, false))
    return;
  const std::lock_guard guard{server_->busy_mutex};
  if (--server_->busy == 0)
    server_->rest.notify_all();
}

} // namespace atelier::runtime::http::detail
