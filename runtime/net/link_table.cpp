// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/net/link_table.hpp>

#include <sys/socket.h>

#include <utility>

namespace atelier::runtime {

link_end_point::link_end_point(core::descriptor ours)
  : ours_(std::move(ours)) {}

void link_end_point::cut() {
  if (!cut_.exchange(true))
    shutdown(ours_.number(), SHUT_RDWR);
}

bool link_end_point::reserve(size_t bytes, size_t most_bytes) {
  if (unsent_bytes_.fetch_add(bytes) + bytes <= most_bytes)
    return true;
  unsent_bytes_ -= bytes;
  return false;
}

void link_end_point::release(size_t bytes) {
  unsent_bytes_ -= bytes;
}

bool link_table::enter(actors::node_id who, entry link) {
  const std::lock_guard guard{mutex_};
  return by_node_.emplace(who, std::move(link)).second;
}

void link_table::leave(actors::node_id who) {
  const std::lock_guard guard{mutex_};
  by_node_.erase(who);
}

link_table::entry link_table::find(actors::node_id who) const {
  const std::lock_guard guard{mutex_};
  const auto i = by_node_.find(who);
  return i == by_node_.end() ? entry{} : i->second;
}

bool link_table::began(const caf::actor& link) {
  const std::lock_guard guard{mutex_};
  if (!closed_)
    all_[link.id()] = link;
  return !closed_;
}

void link_table::ended(const caf::actor& link) {
  const std::lock_guard guard{mutex_};
  all_.erase(link.id());
}

std::vector<caf::actor> link_table::close() {
  const std::lock_guard guard{mutex_};
  closed_ = true;
  std::vector<caf::actor> xs;
  for (const auto& [id, x] : all_)
    xs.push_back(x);
  return xs;
}

} // namespace atelier::runtime
