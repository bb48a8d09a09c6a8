// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/waiting_tree.hpp>

#include <tuple>

namespace atelier::planning {

namespace {

bool longer_waiting(const waiting_node& a, const waiting_node& b) {
  return std::tie(a.entry.since, a.order) < std::tie(b.entry.since, b.order);
}

// A well mixed rank that depends only on the node keeps trees with equal
// content equal (SplitMix64's finaliser).
uint64_t rank_of(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

void refresh(waiting_node& t) {
  t.urgent = &t;
  if (t.left != nullptr && more_urgent(*t.left->urgent, *t.urgent))
    t.urgent = t.left->urgent;
  if (t.right != nullptr && more_urgent(*t.right->urgent, *t.urgent))
    t.urgent = t.right->urgent;
}

// Splits the tree into the nodes that have waited longer than `at` and the
// others.
void split(waiting_node* t, const waiting_node& at, waiting_node*& longer,
           waiting_node*& shorter) {
  if (t == nullptr) {
    longer = nullptr;
    shorter = nullptr;
    return;
  }
  if (longer_waiting(*t, at)) {
    longer = t;
    split(t->right, at, t->right, shorter);
  } else {
    shorter = t;
    split(t->left, at, longer, t->left);
  }
  refresh(*t);
}

waiting_node* merge(waiting_node* longer, waiting_node* shorter) {
  if (longer == nullptr)
    return shorter;
  if (shorter == nullptr)
    return longer;
  if (longer->rank > shorter->rank) {
    longer->right = merge(longer->right, shorter);
    refresh(*longer);
    return longer;
  }
  shorter->left = merge(longer, shorter->left);
  refresh(*shorter);
  return shorter;
}

waiting_node* with(waiting_node* t, waiting_node& added) {
  if (t == nullptr || added.rank > t->rank) {
    split(t, added, added.left, added.right);
    refresh(added);
    return &added;
  }
  if (longer_waiting(added, *t))
    t->left = with(t->left, added);
  else
    t->right = with(t->right, added);
  refresh(*t);
  return t;
}

waiting_node* without(waiting_node* t, waiting_node& gone) {
  if (t == &gone)
    return merge(gone.left, gone.right);
  if (longer_waiting(gone, *t))
    t->left = without(t->left, gone);
  else
    t->right = without(t->right, gone);
  refresh(*t);
  return t;
}

} // namespace

bool more_urgent(const waiting_node& a, const waiting_node& b) {
  return std::tie(a.entry.deadline, a.order)
       < std::tie(b.entry.deadline, b.order);
}

void waiting_tree::insert(waiting_node& node) {
  node.rank = rank_of(node.entry.request.value);
  root_ = with(root_, node);
}

void waiting_tree::erase(waiting_node& node) {
  root_ = without(root_, node);
}

const waiting_node* waiting_tree::first_since(core::time_point from) const {
  const waiting_node* found = nullptr;
  for (const waiting_node* t = root_; t != nullptr;) {
    if (t->entry.since >= from) {
      found = t;
      t = t->left;
    } else {
      t = t->right;
    }
  }
  return found;
}

} // namespace atelier::planning
