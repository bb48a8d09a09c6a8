// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>

#include <cstdint>

namespace atelier::planning {

/// One waiting leg, as a node of the tree of its lane and priority. Its owner
/// keeps it at one address while it is in a tree.
struct waiting_node {
  waiting what;
  core::lane_id lane;
  /// Arrival; smaller is earlier. Unique.
  int64_t order = 0;

  /// The tree's own: heap rank, children, and the most urgent node of the
  /// subtree.
  uint64_t rank = 0;
  waiting_node* left = nullptr;
  waiting_node* right = nullptr;
  const waiting_node* urgent = nullptr;
};

/// Returns whether `a` goes before `b` at one priority: the earlier deadline,
/// then the earlier arrival.
bool more_urgent(const waiting_node& a, const waiting_node& b);

/// A treap over the time since which nodes wait; every subtree knows its most
/// urgent node. So the most urgent of all that wait since a span of time are
/// found without looking at the others, whatever the time is now.
class waiting_tree {
public:
  /// @pre the node is in no tree
  void insert(waiting_node& node);

  /// @pre the node is in this tree
  void erase(waiting_node& node);

  const waiting_node* root() const {
    return root_;
  }

  /// Returns a node that waits longest among those since `from` or later.
  const waiting_node* first_since(core::time_point from) const;

private:
  waiting_node* root_ = nullptr;
};

} // namespace atelier::planning
