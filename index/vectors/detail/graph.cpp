// SPDX-License-Identifier: Apache-2.0
// This is the only source with hnswlib's code. The code is in a namespace of
// this source, because a host may link another version of hnswlib or compile it
// for other processors. hnswlib's own vector code is not compiled
// (NO_MANUAL_VECTORIZATION): it defines global functions, and prefetches by
// numbers that it reads after the ends of its lists.
#include <atelier/index/vectors/detail/graph.hpp>
#include <atelier/index/vectors/detail/products.hpp>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <iostream>
#include <list>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace {
namespace linking {

// Searches share this pool, which keeps its lock.
#include <hnswlib/visited_list_pool.h>

// One thread adds entries to a graph, and no search reads it meanwhile.
// hnswlib, which has a lock for each entry, therefore gets locks that do
// nothing.
namespace std {
using namespace ::std;

struct mutex {
  void lock() {}

  void unlock() {}
};
} // namespace std

#include <hnswlib/hnswlib.h>

} // namespace linking
} // namespace

namespace atelier::index::detail {

namespace {

namespace hnswlib = linking::hnswlib;

struct product_of {
  float (*quick)(const float*, const float*, size_t);
  size_t dimensions;
};

// hnswlib's elements are pointers to the vectors, which do not move. Graphs
// that share entries therefore do not copy them.
class shared_vectors final : public hnswlib::SpaceInterface<float> {
public:
  explicit shared_vectors(size_t dimensions)
    : by_{chosen_products().quick, dimensions} {}

  size_t get_data_size() override {
    return sizeof(const float*);
  }

  hnswlib::DISTFUNC<float> get_dist_func() override {
    return [](const void* a, const void* b, const void* by) {
      const auto& how = *static_cast<const product_of*>(by);
      return 1 - how.quick(vector_at(a), vector_at(b), how.dimensions);
    };
  }

  void* get_dist_func_param() override {
    return &by_;
  }

private:
  static const float* vector_at(const void* element) {
    const float* out = nullptr;
    std::memcpy(&out, element, sizeof out);
    return out;
  }

  product_of by_;
};

class linked final : public hnswlib::HierarchicalNSW<float> {
public:
  linked(shared_vectors& space, size_t most)
    : HierarchicalNSW(&space, most, graph::neighbours, graph::candidates) {}

  // Copies the other's elements, before any is added.
  void copy(const linked& from) {
    std::memcpy(data_level0_memory_, from.data_level0_memory_,
                from.cur_element_count * size_data_per_element_);
    while (cur_element_count < from.cur_element_count) {
      const auto i = cur_element_count;
      if (const auto level = from.element_levels_[i]; level > 0) {
        const auto bytes =
          size_links_per_element_ * static_cast<size_t>(level) + 1;
        linkLists_[i] = static_cast<char*>(std::malloc(bytes));
        if (linkLists_[i] == nullptr)
          throw std::bad_alloc{};
        std::memcpy(linkLists_[i], from.linkLists_[i], bytes);
        element_levels_[i] = level;
      }
      ++cur_element_count;
    }
    enterpoint_node_ = from.enterpoint_node_;
    maxlevel_ = from.maxlevel_;
    level_generator_ = from.level_generator_;
  }

  // Frees the memory that only adding needs.
  void finish() {
    label_lookup_.clear();
    label_lookup_.rehash(0);
  }

  uint64_t bytes() const {
    uint64_t out = max_elements_
                 * (size_data_per_element_ + sizeof(char*) + sizeof(int)
                    + sizeof(hnswlib::vl_type));
    for (const auto level : element_levels_)
      out += static_cast<uint64_t>(level) * size_links_per_element_;
    return out;
  }
};

// The size of a point's list of entries, and the size of an entry in the lists.
constexpr uint64_t bytes_of_point = sizeof(std::vector<const entry*>) + 32;
constexpr uint64_t bytes_of_linked = sizeof(entry_ptr) + sizeof(const entry*);

std::string_view bytes_of(const entry& x) {
  return {reinterpret_cast<const char*>(x.unit.data()),
          x.unit.size() * sizeof(float)};
}

} // namespace

struct graph::links {
  links(size_t dimensions, size_t most)
    : space(dimensions), of_all(space, most) {}

  shared_vectors space;
  linked of_all;
  uint64_t bytes = 0;
};

graph::graph() = default;
graph::~graph() = default;

core::result<std::shared_ptr<const graph>> graph::build(
  size_t dimensions, const graph* from, std::span<const entry_ptr> added,
  const std::function<bool()>& stop) {
  try {
    std::shared_ptr<graph> out{new graph};
    auto& all = out->entries_;
    auto& points = out->points_;
    if (from != nullptr) {
      all = from->entries_;
      points = from->points_;
    }
    const auto linked_already = points.size();
    all.insert(all.end(), added.begin(), added.end());
    std::unordered_map<std::string_view, size_t> by_vector;
    for (size_t i = 0; i < linked_already; ++i)
      by_vector.emplace(bytes_of(*points[i].front()), i);
    for (const auto& x : added) {
      const auto at = by_vector.emplace(bytes_of(*x), points.size());
      if (at.second)
        points.emplace_back();
      points[at.first->second].push_back(x.get());
    }
    out->links_ = std::make_unique<links>(dimensions, points.size());
    auto& to = out->links_->of_all;
    if (from != nullptr)
      to.copy(from->links_->of_all);
    for (auto i = linked_already; i < points.size(); ++i) {
      if (stop())
        return core::fail(core::ec::stopping, "{} of {} points are linked", i,
                          points.size());
      const float* const unit = points[i].front()->unit.data();
      to.addPoint(static_cast<const void*>(&unit), i);
    }
    to.finish();
    out->links_->bytes = to.bytes() + points.size() * bytes_of_point
                       + all.size() * bytes_of_linked;
    return std::shared_ptr<const graph>{std::move(out)};
  } catch (const std::exception& e) {
    return core::fail(core::ec::internal, "linking vectors: {}", e.what());
  }
}

core::result<std::vector<const entry*>> graph::near(const float* unit,
                                                    size_t count) const {
  try {
    auto found = links_->of_all.searchKnn(&unit, count);
    std::vector<const entry*> out;
    out.reserve(found.size());
    for (; !found.empty(); found.pop())
      for (const auto* x : points_[found.top().second])
        out.push_back(x);
    return out;
  } catch (const std::exception& e) {
    return core::fail(core::ec::internal, "searching vectors: {}", e.what());
  }
}

const std::vector<entry_ptr>& graph::entries() const {
  return entries_;
}

uint64_t graph::bytes() const {
  return links_->bytes;
}

uint64_t graph::most_bytes(size_t entries) {
  // Counts two links for each neighbour, as many again on all other levels, and
  // the table entries that find a point by its label and by its vector.
  return entries
       * (4 * neighbours * sizeof(hnswlib::tableint) + bytes_of_point
          + bytes_of_linked + 2 * 64);
}

} // namespace atelier::index::detail
