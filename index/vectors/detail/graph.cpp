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
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <stdexcept>
#include <string_view>
#include <tuple>
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

  std::string_view codes_in(const void* element) const {
    return {reinterpret_cast<const char*>(codes_of(element)), by_.dimensions};
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

  // Elements have their labels as numbers, as they are added in that order.
  const void* codes_at(hnswlib::labeltype label) const {
    return getDataByInternalId(static_cast<hnswlib::tableint>(label));
  }

  // Frees the memory that only adding needs.
  void finish() {
    if (cur_element_count > 0 && cur_element_count < max_elements_)
      resizeIndex(cur_element_count);
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

private:
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
};

// The size of a point's list of entries, and the size of an entry in the lists.
constexpr uint64_t bytes_of_point = sizeof(std::vector<const entry*>) + 32;
constexpr uint64_t bytes_of_linked =
  sizeof(entry_ptr) + 2 * sizeof(const entry*);

std::vector<graph::group> groups_of(std::span<const entry_ptr> all) {
  std::vector<graph::group> out;
  std::map<std::tuple<uint32_t, uint16_t, bool>, size_t> places;
  for (const auto& x : all) {
    if (x->gone)
      continue;
    const held_parts held = x->holds;
    const auto [at, is_new] =
      places.try_emplace({held.last_steps, held.depth, held.image}, out.size());
    if (is_new)
      out.push_back({held, {}});
    out[at->second].entries.push_back(x.get());
  }
  return out;
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
    all.insert(all.end(), added.begin(), added.end());
    out->links_ =
      std::make_unique<links>(dimensions, points.size() + added.size());
    const auto& space = out->links_->space;
    auto& to = out->links_->of_all;
    if (from != nullptr)
      to.copy(from->links_->of_all);
    std::unordered_map<std::string_view, size_t> by_codes;
    for (size_t i = 0; i < points.size(); ++i)
      by_codes.emplace(space.codes_in(to.codes_at(i)), i);
    for (size_t i = 0; i < added.size(); ++i) {
      if (stop())
        return core::fail(core::ec::stopping, "{} of {} vectors are linked", i,
                          added.size());
      const auto codes = space.coded(added[i]->unit.data());
      auto at = by_codes.find(space.codes_in(codes.data()));
      if (at == by_codes.end()) {
        const auto point = points.size();
        to.addPoint(codes.data(), point);
        points.emplace_back();
        at = by_codes.emplace(space.codes_in(to.codes_at(point)), point).first;
      }
      points[at->second].push_back(added[i].get());
    }
    by_codes.clear();
    to.finish();
    out->groups_ = groups_of(all);
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
    for (auto found = all.searchKnn(codes.data(), count); !found.empty();
         found.pop()) {
      const auto point = found.top().second;
      // Vectors with the same codes differ in what the codes leave out.
      const auto limit = points_[point].size() == 1
                         ? space.limit(codes.data(), all.codes_at(point))
                         : 1;
      for (const auto* what : points_[point])
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

const std::vector<graph::group>& graph::groups() const {
  return groups_;
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
