// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>

#include <cstdint>

namespace atelier::planning {

/// One waiting leg, as a node of the tree of its queue and priority. Its owner
/// must not move it while it is in a tree.
struct waiting_node {
  waiting entry;
  core::queue_id queue;
  /// The arrival; smaller is earlier. Unique.
  int64_t order = 0;

  /// Fields of the tree: heap rank, children, and the most urgent node of the
  /// subtree.
  uint64_t rank = 0;
  waiting_node* left = nullptr;
  waiting_node* right = nullptr;
  const waiting_node* urgent = nullptr;
};

/// Returns whether `a` is served before `b` at the same priority: the earlier
/// deadline first, then the earlier arrival.
bool more_urgent(const waiting_node& a, const waiting_node& b);

/// A treap, ordered by the time since which nodes wait; every subtree knows its
/// most urgent node. The most urgent node among all whose wait began in a given
/// span of time is found without visiting the others, whatever the current time
/// is.
class waiting_tree {
public:
  /// @pre the node is in no tree
  void insert(waiting_node& node);

  /// @pre the node is in this tree
  void erase(waiting_node& node);

  const waiting_node* root() const {
    return root_;
  }

  /// Returns the node that has waited longest among those that wait since
  /// `from` or later.
  const waiting_node* first_since(core::time_point from) const;

private:
  waiting_node* root_ = nullptr;
};

} // namespace atelier::planning
