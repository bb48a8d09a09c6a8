// SPDX-License-Identifier: Apache-2.0
// This is the only source with hnswlib's code. The code is in a namespace of
// this source, because a host may link another version of hnswlib or compile it
// for other processors. hnswlib's own vector code is not compiled
// (NO_MANUAL_VECTORIZATION): it defines global functions, and prefetches by
// numbers that it reads after the ends of its lists.
#include <atelier/index/vectors/detail/codes.hpp>
#include <atelier/index/vectors/detail/graph.hpp>
#include <atelier/index/vectors/detail/products.hpp>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <span>
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
  int32_t (*of_codes)(const int8_t*, const int8_t*, size_t);
  size_t dimensions;
};

// hnswlib's elements are vectors in codes of eight bits: their scale, and the
// numbers in units of it. A search reads about a thousand elements, hardly any
// of which is in the processor's cache, so that their size is its time. The
// vectors themselves are compared only with what a search found.
class coded_vectors final : public hnswlib::SpaceInterface<float> {
public:
  explicit coded_vectors(size_t dimensions)
    : by_{chosen_products().of_codes, dimensions} {}

  static size_t bytes_of(size_t dimensions) {
    return sizeof(code_scale) + dimensions;
  }

  std::vector<int8_t> coded(const float* unit) const {
    std::vector<int8_t> out(bytes_of(by_.dimensions));
    const auto scale =
      encode({unit, by_.dimensions}, out.data() + sizeof(code_scale));
    std::memcpy(out.data(), &scale, sizeof scale);
    return out;
  }

  size_t get_data_size() override {
    return bytes_of(by_.dimensions);
  }

  hnswlib::DISTFUNC<float> get_dist_func() override {
    return [](const void* a, const void* b, const void* by) {
      const auto& how = *static_cast<const product_of*>(by);
      return 1
           - scale_of(a).scale * scale_of(b).scale
               * static_cast<float>(
                 how.of_codes(codes_of(a), codes_of(b), how.dimensions));
    };
  }

  // Returns a bound of the product of two elements' vectors.
  double limit(const void* a, const void* b) const {
    return limit_of(by_.of_codes(codes_of(a), codes_of(b), by_.dimensions),
                    scale_of(a), scale_of(b));
  }

  void* get_dist_func_param() override {
    return &by_;
  }

private:
  static code_scale scale_of(const void* element) {
    code_scale out;
    std::memcpy(&out, element, sizeof out);
    return out;
  }

  static const int8_t* codes_of(const void* element) {
    return static_cast<const int8_t*>(element) + sizeof(code_scale);
  }

  product_of by_;
};

class linked final : public hnswlib::HierarchicalNSW<float> {
public:
  linked(coded_vectors& space, size_t most)
    : HierarchicalNSW(&space, most, graph::neighbours, graph::candidates) {
    use_huge_pages();
  }

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

  // Returns about `count` of the nearest elements, as searchKnn does. hnswlib
  // waits for the codes of one element after the other; this requests those of
  // all neighbours from memory before it compares the first.
  std::vector<hnswlib::tableint> nearest(const int8_t* codes,
                                         size_t count) const {
    std::vector<hnswlib::tableint> out;
    if (cur_element_count == 0)
      return out;
    std::priority_queue<near_element> found;
    std::priority_queue<near_element, std::vector<near_element>, std::greater<>>
      open;
    const visited seen{*visited_list_pool_};
    const auto begin = entrance(codes);
    found.push(begin);
    open.push(begin);
    seen.mark(begin.second);
    std::vector<hnswlib::tableint> next;
    while (!open.empty()
           && (found.size() < count || open.top().first <= found.top().first)) {
      next.clear();
      for (const auto x : links_of(get_linklist0(open.top().second)))
        if (seen.mark(x)) {
          next.push_back(x);
          fetch(x);
        }
      open.pop();
      for (const auto x : next) {
        const auto apart = distance(codes, x);
        if (found.size() >= count && apart >= found.top().first)
          continue;
        open.emplace(apart, x);
        found.emplace(apart, x);
        if (found.size() > count)
          found.pop();
      }
    }
    for (; !found.empty(); found.pop())
      out.push_back(found.top().second);
    return out;
  }

  const void* codes_at(hnswlib::tableint element) const {
    return getDataByInternalId(element);
  }

  size_t label_at(hnswlib::tableint element) const {
    return getExternalLabel(element);
  }

  // Frees the memory that only adding needs.
  void finish() {
    label_lookup_.clear();
    label_lookup_.rehash(0);
  }

  // A search reads all over the elements. With pages of 4 KiB, finding the
  // pages takes it longer than reading them.
  void use_huge_pages() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* at = data_level0_memory_;
    auto bytes = max_elements_ * size_data_per_element_;
    // A request that the system may decline.
    if (std::align(page, page, at, bytes) != nullptr)
      (void)madvise(at, bytes / page * page, MADV_HUGEPAGE);
  }

  uint64_t bytes() const {
    uint64_t out = max_elements_
                 * (size_data_per_element_ + sizeof(char*) + sizeof(int)
                    + sizeof(hnswlib::vl_type));
    for (const auto level : element_levels_)
      out += static_cast<uint64_t>(level) * size_links_per_element_;
    return out;
  }

private:
  using near_element = std::pair<float, hnswlib::tableint>;

  // The elements that a search has met.
  class visited {
  public:
    explicit visited(hnswlib::VisitedListPool& pool)
      : pool_(pool), list_(pool.getFreeVisitedList()) {}

    ~visited() {
      pool_.releaseVisitedList(list_);
    }

    visited(const visited&) = delete;
    visited& operator=(const visited&) = delete;

    // Returns whether the element is met for the first time.
    bool mark(hnswlib::tableint element) const {
      return std::exchange(list_->mass[element], list_->curV) != list_->curV;
    }

  private:
    hnswlib::VisitedListPool& pool_;
    hnswlib::VisitedList* list_;
  };

  std::span<const hnswlib::tableint> links_of(
    hnswlib::linklistsizeint* list) const {
    return {list + 1, getListCount(list)};
  }

  float distance(const int8_t* codes, hnswlib::tableint element) const {
    return fstdistfunc_(codes, getDataByInternalId(element), dist_func_param_);
  }

  void fetch(hnswlib::tableint element) const {
    constexpr size_t line = 64;
    const auto* const at = getDataByInternalId(element);
    for (size_t i = 0; i < label_offset_ - offsetData_; i += line)
      __builtin_prefetch(at + i);
  }

  // Returns the element of the lowest level at which a search begins.
  near_element entrance(const int8_t* codes) const {
    near_element out{distance(codes, enterpoint_node_), enterpoint_node_};
    for (auto level = maxlevel_; level > 0; --level)
      for (bool nearer = true; nearer;) {
        nearer = false;
        const auto links = links_of(get_linklist(out.second, level));
        for (const auto x : links)
          fetch(x);
        for (const auto x : links)
          if (const auto apart = distance(codes, x); apart < out.first) {
            out = {apart, x};
            nearer = true;
          }
      }
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

  coded_vectors space;
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
      const auto codes =
        out->links_->space.coded(points[i].front()->unit.data());
      to.addPoint(codes.data(), i);
    }
    to.finish();
    out->links_->bytes = to.bytes() + points.size() * bytes_of_point
                       + all.size() * bytes_of_linked;
    return std::shared_ptr<const graph>{std::move(out)};
  } catch (const std::exception& e) {
    return core::fail(core::ec::internal, "linking vectors: {}", e.what());
  }
}

core::result<std::vector<candidate>> graph::near(const float* unit,
                                                 size_t count) const {
  try {
    const auto& [space, all, bytes] = *links_;
    const auto codes = space.coded(unit);
    std::vector<candidate> out;
    for (const auto x : all.nearest(codes.data(), count)) {
      const auto limit = space.limit(codes.data(), all.codes_at(x));
      for (const auto* what : points_[all.label_at(x)])
        out.push_back({limit, what});
    }
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

uint64_t graph::most_bytes(size_t entries, size_t dimensions) {
  // Counts the codes, two links for each neighbour, as many again on all other
  // levels, and the table entries that find a point by its label and by its
  // vector.
  return entries
       * (coded_vectors::bytes_of(dimensions)
          + 4 * neighbours * sizeof(hnswlib::tableint) + bytes_of_point
          + bytes_of_linked + 2 * 64);
}

} // namespace atelier::index::detail
