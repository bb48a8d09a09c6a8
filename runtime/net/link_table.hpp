// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/transport.hpp>
#include <atelier/core/descriptor.hpp>

#include <caf/actor.hpp>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace atelier::runtime {

/// One end of a link, shared by its actor and the senders.
/// Threads: any.
class link_end_point {
public:
  /// Takes a second descriptor of the link's socket: shutting it down cuts a
  /// link that CAF would keep.
  explicit link_end_point(core::descriptor ours);

  /// Cuts the link at once, for both ends. Further calls do nothing.
  void cut();

  bool is_cut() const {
    return cut_;
  }

  /// Counts a record that waits. Returns false if it would exceed `most_bytes`.
  bool reserve(size_t bytes, size_t most_bytes);

  /// Counts a record that the far end took.
  void release(size_t bytes);

private:
  core::descriptor ours_;
  std::atomic<bool> cut_{false};
  std::atomic<size_t> unsent_bytes_{0};
};

/// The links of a node, for senders; the links' actors enter and leave.
/// Threads: any.
class link_table {
public:
  struct entry {
    caf::actor link;
    std::shared_ptr<link_end_point> end;
  };

  /// Returns false if the node is linked already.
  bool enter(actors::node_id who, entry link);
  void leave(actors::node_id who);
  /// Returns an empty entry if the node has no link.
  entry find(actors::node_id who) const;

  /// Remembers a link's actor from its first moment to its last. Returns false
  /// once the table is closed.
  bool began(const caf::actor& link);
  void ended(const caf::actor& link);
  /// Lets no further actor begin; returns the existing ones.
  std::vector<caf::actor> close();

private:
  mutable std::mutex mutex_;
  /// Guarded by the mutex.
  std::map<actors::node_id, entry> by_node_;
  std::map<caf::actor_id, caf::actor> all_;
  bool closed_ = false;
};

} // namespace atelier::runtime
