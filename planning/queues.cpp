// SPDX-License-Identifier: Apache-2.0
// The queues of rows. Long, because the orders in which rows leave and the
// tenants' turns share the cursors over a queue.
#include <atelier/planning/queues.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning {

namespace {

// A position among the entries of one queue and priority, in order of waiting
// time: first all entries with the same number of raises, then the next level.
struct cursor {
  const waiting_tree* tree = nullptr;
  int64_t priority = 0;
  // The level of the longest waiting that is still unread.
  int64_t level = 0;
  // The unread part of that level waits since `from` to `to`.
  core::time_point from = core::time_point::min();
  core::time_point to = core::time_point::max();
};

// Sets the cursor to the entries that wait since `from` or later. Returns false
// if no entry does.
bool seek(cursor& c, core::time_point from, core::time_point now,
          core::timespan ageing) {
  const waiting_node* first = c.tree->first_since(from);
  if (first == nullptr)
    return false;
  const core::time_point since = first->entry.since;
  int64_t raises = 0;
  if (ageing.count() > 0 && since < now)
    raises = (now - since) / ageing;
  c.level = c.priority + raises;
  c.from = from;
  c.to = raises > 0 ? now - raises * ageing : core::time_point::max();
  return true;
}

// Reading the first few rows of a queue needs no more parts at a time, and that
// of a tenant no more cursors. They are read for every dispatch, so they need
// no memory of the heap.
constexpr size_t usual_parts = 32;
constexpr size_t usual_cursors = 4;

// Queues whose queues are kept without entries.
constexpr size_t most_kept = 32;

// Yields the nodes of parts of trees, the most urgent first.
class urgent_first {
public:
  void clear() {
    parts_.clear();
  }

  void add(const cursor& c) {
    const waiting_node* t = c.tree->root();
    while (t != nullptr
           && !(t->entry.since >= c.from && t->entry.since <= c.to))
      t = t->entry.since < c.from ? t->right : t->left;
    if (t == nullptr)
      return;
    add_node(t);
    add_from(t->left, c.from);
    add_to(t->right, c.to);
  }

  const waiting_node* peek() const {
    return parts_.empty() ? nullptr : parts_.front().urgent;
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
      if (t->entry.since < from) {
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
      if (t->entry.since > to) {
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

  boost::container::small_vector<part, usual_parts> parts_;
};

// Reads what one tenant has in the queues that are served, best first.
class tenant_reader {
public:
  tenant_reader(core::time_point now, core::timespan ageing)
    : now_(now), ageing_(ageing) {}

  void add(const waiting_tree& tree, size_t prio) {
    cursor c;
    c.tree = &tree;
    c.priority = static_cast<int64_t>(prio);
    if (!seek(c, core::time_point::min(), now_, ageing_))
      return;
    oldest_ =
      std::min(oldest_, tree.first_since(core::time_point::min())->entry.since);
    cursors_.push_back(c);
  }

  // Nothing where all is read.
  const waiting_node* peek() {
    while (rows_.peek() == nullptr && !cursors_.empty())
      begin_level();
    return rows_.peek();
  }

  const waiting_node* next() {
    return peek() == nullptr ? nullptr : rows_.next();
  }

  core::time_point oldest() const {
    return oldest_;
  }

private:
  void begin_level() {
    const auto lower = [](const cursor& a, const cursor& b) {
      return a.level < b.level;
    };
    const int64_t level =
      std::max_element(cursors_.begin(), cursors_.end(), lower)->level;
    rows_.clear();
    const auto read = [&](cursor& c) {
      if (c.level != level)
        return false;
      rows_.add(c);
      return c.to == core::time_point::max()
          || !seek(c, c.to + core::timespan{1}, now_, ageing_);
    };
    cursors_.erase(std::remove_if(cursors_.begin(), cursors_.end(), read),
                   cursors_.end());
  }

  core::time_point now_;
  core::timespan ageing_;
  core::time_point oldest_ = core::never;
  boost::container::small_vector<cursor, usual_cursors> cursors_;
  urgent_first rows_;
};

// One tenant in the choice between several.
struct turn {
  core::tenant_id tenant;
  tenant_reader rows;
  // Seconds of work for its share, as far as tenants are compared by it.
  double used = 0;
  double share = 1;
  // Since when it waits for anything at all.
  core::time_point unserved;
};

bool goes_before(turn& a, turn& b, core::time_point now,
                 core::timespan ageing) {
  const auto raises = [&](const turn& x) -> int64_t {
    return ageing.count() > 0 && x.unserved < now ? (now - x.unserved) / ageing
                                                  : 0;
  };
  const auto one = raises(a);
  const auto other = raises(b);
  if (one != other)
    return one > other;
  if (a.used != b.used)
    return a.used < b.used;
  return more_urgent(*a.rows.peek(), *b.rows.peek());
}

} // namespace

bool queues::push(core::queue_id queue, const waiting& entry) {
  if (!put(queue, entry, back_))
    return false;
  ++back_;
  return true;
}

bool queues::push_front(core::queue_id queue, const waiting& entry) {
  if (!put(queue, entry, front_))
    return false;
  --front_;
  return true;
}

bool queues::put(core::queue_id where, const waiting& entry, int64_t order) {
  const auto [at, added] = nodes_.try_emplace(entry.request);
  if (!added)
    return false;
  waiting_node& node = at->second;
  node.entry = entry;
  node.entry.queue = where;
  node.queue = where;
  node.order = order;
  contents& to = queues_[where];
  to.by_tenant[entry.tenant][static_cast<size_t>(entry.prio)].insert(node);
  enter(entry.tenant, entry.share);
  ++to.count;
  return true;
}

std::optional<core::queue_id> queues::remove(core::request_id request) {
  const auto at = nodes_.find(request);
  if (at == nodes_.end())
    return std::nullopt;
  waiting_node& node = at->second;
  const auto queue = node.queue;
  const auto from = queues_.find(queue);
  auto& all = from->second.by_tenant;
  const auto own = all.find(node.entry.tenant);
  own->second[static_cast<size_t>(node.entry.prio)].erase(node);
  if (std::all_of(own->second.begin(), own->second.end(),
                  [](const auto& tree) { return tree.root() == nullptr; }))
    all.erase(own);
  --accounts_.at(node.entry.tenant).waiting;
  if (--from->second.count == 0 && queues_.size() > most_kept)
    queues_.erase(from);
  nodes_.erase(at);
  return queue;
}

std::vector<waiting> queues::best(
  std::span<const core::queue_id> served, core::time_point now,
  core::timespan ageing, size_t most,
  std::span<const core::tenant_id> without) const {
  boost::container::small_vector<const contents*, 8> waiting_queues;
  size_t entries = 0;
  for (const auto queue : served)
    if (const auto at = queues_.find(queue);
        at != queues_.end() && at->second.count > 0
        && std::find(waiting_queues.begin(), waiting_queues.end(), &at->second)
             == waiting_queues.end()) {
      waiting_queues.push_back(&at->second);
      entries += at->second.count;
    }
  // Most dispatches find one entry: there is nothing to compare it with.
  if (entries == 1 && most > 0 && without.empty()) {
    const trees& own = waiting_queues.front()->by_tenant.begin()->second;
    const auto filled = std::find_if(own.begin(), own.end(), [](const auto& x) {
      return x.root() != nullptr;
    });
    return {filled->root()->entry};
  }
  std::vector<turn> turns;
  for (const auto* from : waiting_queues)
    for (const auto& [tenant, all] : from->by_tenant) {
      if (std::binary_search(without.begin(), without.end(), tenant))
        continue;
      // Only another queue may have the same tenant.
      auto to = from == waiting_queues.front()
                ? turns.end()
                : std::find_if(turns.begin(), turns.end(), [&](const turn& x) {
                    return x.tenant == tenant;
                  });
      if (to == turns.end()) {
        const account& own = accounts_.at(tenant);
        turns.push_back(
          turn{tenant, tenant_reader{now, ageing}, own.used, own.share, now});
        to = turns.end() - 1;
      }
      for (size_t prio = 0; prio < all.size(); ++prio)
        to->rows.add(all[prio], prio);
    }
  for (turn& x : turns)
    x.unserved = std::max(accounts_.at(x.tenant).served, x.rows.oldest());
  std::vector<waiting> found;
  found.reserve(std::min(most, nodes_.size()));
  while (found.size() < most) {
    std::erase_if(turns, [](turn& x) { return x.rows.peek() == nullptr; });
    if (turns.empty())
      break;
    auto& next =
      *std::min_element(turns.begin(), turns.end(), [&](turn& a, turn& b) {
        return goes_before(a, b, now, ageing);
      });
    found.push_back(next.rows.next()->entry);
    next.used += core::to_seconds(found.back().still_needs) / next.share;
    next.unserved = now;
  }
  return found;
}

void queues::charge(core::tenant_id tenant, core::timespan work,
                    core::time_point now) {
  const auto at = accounts_.find(tenant);
  if (at == accounts_.end())
    return;
  const double more = core::to_seconds(work) / at->second.share;
  at->second.used += more;
  at->second.served = now;
  // One bound for all of them keeps their order.
  double largest = 1;
  for (const auto& [who, own] : accounts_)
    if (own.waiting > 0)
      largest = std::max(largest, own.share);
  const double least =
    at->second.used - std::max(more, core::to_seconds(most_behind) / largest);
  for (auto& [who, own] : accounts_)
    own.used = std::max(own.used, least);
}

void queues::enter(core::tenant_id tenant, uint32_t share) {
  auto& own = accounts_[tenant];
  own.share = std::max(share, 1u);
  if (own.waiting++ > 0)
    return;
  // A tenant without waiting entries saves no turns.
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [who, x] : accounts_)
    if (x.waiting > 0 && who != tenant)
      least = std::min(least, x.used);
  const bool alone = std::isinf(least);
  own.used = alone ? 0 : std::max(own.used, least);
  std::erase_if(accounts_, [&](const auto& x) {
    return x.second.waiting == 0 && (alone || x.second.used <= least);
  });
}

std::vector<core::request_id> queues::of(core::queue_id queue) const {
  std::vector<const waiting_node*> nodes;
  if (const auto at = queues_.find(queue); at != queues_.end()) {
    nodes.reserve(at->second.count);
    for (const auto& [tenant, all] : at->second.by_tenant)
      for (const waiting_tree& tree : all)
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
    found.push_back(node->entry.request);
  return found;
}

bool queues::empty(core::queue_id queue) const {
  return size(queue) == 0;
}

size_t queues::size() const {
  return nodes_.size();
}

size_t queues::size(core::queue_id queue) const {
  const auto at = queues_.find(queue);
  return at == queues_.end() ? 0 : at->second.count;
}

std::optional<core::queue_id> queues::where(core::request_id request) const {
  const auto at = nodes_.find(request);
  if (at == nodes_.end())
    return std::nullopt;
  return at->second.queue;
}

bool queues::contains(core::request_id request) const {
  return nodes_.contains(request);
}

} // namespace atelier::planning
