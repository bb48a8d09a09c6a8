// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/lanes.hpp>

#include <algorithm>

namespace atelier::planning {

namespace {

// What one lane holds at one priority, read from the longest waiting on: all
// that the same number of raises puts at one level, then the next level.
struct cursor {
  const waiting_tree* tree = nullptr;
  int64_t priority = 0;
  // The level of the longest waiting that is still unread.
  int64_t level = 0;
  // The unread part of that level waits since `from` to `to`.
  core::time_point from = core::time_point::min();
  core::time_point to = core::time_point::max();
};

// Sets the cursor to what waits since `from` or later. False where that is
// nothing.
bool seek(cursor& c, core::time_point from, core::time_point now,
          core::timespan ageing) {
  const waiting_node* first = c.tree->first_since(from);
  if (first == nullptr)
    return false;
  const core::time_point since = first->what.since;
  int64_t raises = 0;
  if (ageing.count() > 0 && since < now)
    raises = (now - since) / ageing;
  c.level = c.priority + raises;
  c.from = from;
  c.to = raises > 0 ? now - raises * ageing : core::time_point::max();
  return true;
}

// Yields the nodes of parts of trees, the most urgent first.
class urgent_first {
public:
  urgent_first() {
    parts_.reserve(64);
  }

  void add(const cursor& c) {
    const waiting_node* t = c.tree->root();
    while (t != nullptr && !(t->what.since >= c.from && t->what.since <= c.to))
      t = t->what.since < c.from ? t->right : t->left;
    if (t == nullptr)
      return;
    add_node(t);
    add_from(t->left, c.from);
    add_to(t->right, c.to);
  }

  const waiting_node* next() {
    if (parts_.empty())
      return nullptr;
    std::pop_heap(parts_.begin(), parts_.end(), later);
    const part top = parts_.back();
    parts_.pop_back();
    if (top.whole)
      add_without(top.tree, top.urgent);
    return top.urgent;
  }

private:
  // A whole subtree, or its top alone.
  struct part {
    const waiting_node* tree;
    const waiting_node* urgent;
    bool whole;
  };

  static bool later(const part& a, const part& b) {
    return more_urgent(*b.urgent, *a.urgent);
  }

  void push(part added) {
    parts_.push_back(added);
    std::push_heap(parts_.begin(), parts_.end(), later);
  }

  void add_node(const waiting_node* t) {
    push({t, t, false});
  }

  void add_tree(const waiting_node* t) {
    if (t != nullptr)
      push({t, t->urgent, true});
  }

  void add_from(const waiting_node* t, core::time_point from) {
    if (from == core::time_point::min()) {
      add_tree(t);
      return;
    }
    while (t != nullptr) {
      if (t->what.since < from) {
        t = t->right;
      } else {
        add_node(t);
        add_tree(t->right);
        t = t->left;
      }
    }
  }

  void add_to(const waiting_node* t, core::time_point to) {
    if (to == core::time_point::max()) {
      add_tree(t);
      return;
    }
    while (t != nullptr) {
      if (t->what.since > to) {
        t = t->left;
      } else {
        add_node(t);
        add_tree(t->left);
        t = t->right;
      }
    }
  }

  // Adds all of the subtree but its most urgent node.
  void add_without(const waiting_node* t, const waiting_node* urgent) {
    while (t != urgent) {
      add_node(t);
      const bool is_left = t->left != nullptr && t->left->urgent == urgent;
      add_tree(is_left ? t->right : t->left);
      t = is_left ? t->left : t->right;
    }
    add_tree(t->left);
    add_tree(t->right);
  }

  std::vector<part> parts_;
};

} // namespace

bool lanes::push(core::lane_id lane, const waiting& entry) {
  if (!put(lane, entry, back_))
    return false;
  ++back_;
  return true;
}

bool lanes::push_front(core::lane_id lane, const waiting& entry) {
  if (!put(lane, entry, front_))
    return false;
  --front_;
  return true;
}

bool lanes::put(core::lane_id where, const waiting& entry, int64_t order) {
  const auto [at, added] = nodes_.try_emplace(entry.request);
  if (!added)
    return false;
  waiting_node& node = at->second;
  node.what = entry;
  node.what.lane = where;
  node.lane = where;
  node.order = order;
  queue& to = queues_[where];
  to.by_priority[static_cast<size_t>(entry.prio)].insert(node);
  ++to.count;
  return true;
}

bool lanes::remove(core::request_id request) {
  const auto at = nodes_.find(request);
  if (at == nodes_.end())
    return false;
  waiting_node& node = at->second;
  const auto from = queues_.find(node.lane);
  from->second.by_priority[static_cast<size_t>(node.what.prio)].erase(node);
  if (--from->second.count == 0)
    queues_.erase(from);
  nodes_.erase(at);
  return true;
}

std::vector<waiting> lanes::best(std::span<const core::lane_id> served,
                                 core::time_point now, core::timespan ageing,
                                 size_t most) const {
  std::vector<cursor> cursors;
  cursors.reserve(3 * served.size());
  for (size_t i = 0; i < served.size(); ++i) {
    const auto seen = served.first(i);
    const auto at = queues_.find(served[i]);
    if (at == queues_.end()
        || std::find(seen.begin(), seen.end(), served[i]) != seen.end())
      continue;
    for (size_t prio = 0; prio < at->second.by_priority.size(); ++prio) {
      cursor c;
      c.tree = &at->second.by_priority[prio];
      c.priority = static_cast<int64_t>(prio);
      if (seek(c, core::time_point::min(), now, ageing))
        cursors.push_back(c);
    }
  }
  std::vector<waiting> found;
  found.reserve(std::min(most, nodes_.size()));
  while (found.size() < most && !cursors.empty()) {
    const auto lower = [](const cursor& a, const cursor& b) {
      return a.level < b.level;
    };
    const int64_t level =
      std::max_element(cursors.begin(), cursors.end(), lower)->level;
    urgent_first rows;
    for (const cursor& c : cursors)
      if (c.level == level)
        rows.add(c);
    while (found.size() < most) {
      const waiting_node* node = rows.next();
      if (node == nullptr)
        break;
      found.push_back(node->what);
    }
    std::erase_if(cursors, [&](cursor& c) {
      if (c.level != level)
        return false;
      return c.to == core::time_point::max()
          || !seek(c, c.to + core::timespan{1}, now, ageing);
    });
  }
  return found;
}

std::vector<core::request_id> lanes::of(core::lane_id lane) const {
  std::vector<const waiting_node*> nodes;
  if (const auto at = queues_.find(lane); at != queues_.end()) {
    nodes.reserve(at->second.count);
    for (const waiting_tree& tree : at->second.by_priority)
      if (tree.root() != nullptr)
        nodes.push_back(tree.root());
  }
  // The vector grows while it is read: every node adds its children.
  for (size_t i = 0; i < nodes.size(); ++i) {
    const waiting_node* node = nodes[i];
    if (node->left != nullptr)
      nodes.push_back(node->left);
    if (node->right != nullptr)
      nodes.push_back(node->right);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const waiting_node* a, const waiting_node* b) {
              return a->order < b->order;
            });
  std::vector<core::request_id> found;
  found.reserve(nodes.size());
  for (const waiting_node* node : nodes)
    found.push_back(node->what.request);
  return found;
}

bool lanes::empty(core::lane_id lane) const {
  return !queues_.contains(lane);
}

size_t lanes::size() const {
  return nodes_.size();
}

size_t lanes::size(core::lane_id lane) const {
  const auto at = queues_.find(lane);
  return at == queues_.end() ? 0 : at->second.count;
}

std::optional<core::lane_id> lanes::where(core::request_id request) const {
  const auto at = nodes_.find(request);
  if (at == nodes_.end())
    return std::nullopt;
  return at->second.lane;
}

bool lanes::contains(core::request_id request) const {
  return nodes_.contains(request);
}

} // namespace atelier::planning
