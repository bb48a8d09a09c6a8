// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/device/load_report.hpp>
#include <atelier/planning/residency.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

/// A model in one element type, and the memory it needs.
struct shelf_title {
  std::string model;
  core::dtype precision = core::dtype::float32;
  /// Bytes, as far as they are known before it is opened; 0: unknown.
  uint64_t bytes = 0;
};

/// The models in a device's memory, within a limit. Models are loaded on demand
/// and evicted in least-recently-used order when memory is short.
/// Threads: any; only one `bring` at a time.
template <class Model>
class model_shelf {
public:
  using held_model = std::shared_ptr<const Model>;

  /// A model whose files were found.
  struct opened_model {
    /// The memory it needs, in bytes.
    uint64_t bytes = 0;
    /// Loads the model, which is slow. Returns it with its size in bytes.
    std::function<core::result<std::pair<held_model, uint64_t>>()> load;
  };

  /// Looks at a model's files, which is quick.
  using opener = std::function<core::result<opened_model>(const shelf_title&)>;

  /// @param titles by variant; empty if a variant may not be loaded here
  /// @param most_bytes limit on the bytes of all models together; 0: no limit
  model_shelf(std::vector<std::optional<shelf_title>> titles,
              uint64_t most_bytes, opener open)
    : titles_(std::move(titles)),
      most_bytes_(most_bytes),
      open_(std::move(open)) {}

  /// Returns a variant's model, and records that as its use; null if it is not
  /// loaded.
  held_model find(core::variant_id variant) {
    const std::lock_guard guard{mutex_};
    const auto* title = title_of(variant);
    const auto at = title ? there_.find(key_of(*title)) : there_.end();
    if (at == there_.end())
      return nullptr;
    at->second.last_used = ++uses_;
    return at->second.model;
  }

  bool has(const std::vector<core::variant_id>& variants) const {
    const std::lock_guard guard{mutex_};
    return std::all_of(variants.begin(), variants.end(), [&](const auto v) {
      const auto* title = title_of(v);
      return title && there_.count(key_of(*title)) != 0;
    });
  }

  /// Loads the models of these variants, and evicts others if necessary. Models
  /// whose files cannot be opened evict none. Returns the variants whose models
  /// could not be loaded; those of the others are loaded. A model that turns
  /// out to be larger than its files evicts more, and stays with a warning if
  /// what is left does not fit.
  /// @param keep variants whose models must stay if they are loaded
  /// Errors: ec::not_found (a variant that may not be loaded here),
  ///         ec::out_of_resources (they do not fit; nothing was evicted).
  core::result<std::vector<load_failure>> bring(
    const std::vector<core::variant_id>& variants,
    const std::vector<core::variant_id>& keep) {
    auto missing = missing_of(variants);
    if (!missing)
      return missing.why();
    std::map<key, core::error> failed;
    std::map<key, opened_model> opened;
    for (const auto& title : *missing)
      if (auto found = open_(title))
        opened.emplace(key_of(title), std::move(*found));
      else
        failed.emplace(key_of(title), found.why());
    // Models that cannot be opened evict nothing.
    if (!opened.empty())
      if (auto room = make_room(variants, keep, needs_of(opened)); !room)
        return room.why();
    while (!opened.empty()) {
      auto [which, files] = *opened.begin();
      opened.erase(opened.begin());
      auto made = files.load();
      if (!made) {
        failed.emplace(which, made.why());
        continue;
      }
      // It may be larger than its files say. The others are still to come.
      if (made->second > files.bytes) {
        auto need = needs_of(opened);
        need.names = {which.first};
        need.bytes += made->second;
        // A plan was made by the files' sizes, and the weights are there.
        if (auto room = make_room(variants, keep, need); !room)
          core::log_warn("model '{}' takes {} bytes, its files promised {}: {}",
                         which.first, made->second, files.bytes,
                         room.why().text);
      }
      const std::lock_guard guard{mutex_};
      there_[which] = {std::move(made->first), made->second, ++uses_};
    }
    std::vector<load_failure> out;
    for (const auto v : variants)
      if (const auto i = failed.find(key_of(*title_of(v))); i != failed.end())
        out.push_back({v, i->second});
    return out;
  }

  /// Removes and returns the loaded models of these variants.
  std::vector<std::shared_ptr<const void>> take_out(
    const std::vector<core::variant_id>& variants) {
    std::vector<std::shared_ptr<const void>> out;
    const std::lock_guard guard{mutex_};
    for (const auto v : variants)
      if (const auto* title = title_of(v))
        if (auto found = there_.extract(key_of(*title)))
          out.push_back(std::move(found.mapped().model));
    return out;
  }

  /// Returns the bytes of all loaded models.
  uint64_t bytes() const {
    const std::lock_guard guard{mutex_};
    uint64_t sum = 0;
    for (const auto& [which, x] : there_)
      sum += x.bytes;
    return sum;
  }

private:
  using key = std::pair<std::string, core::dtype>;

  struct held {
    held_model model;
    uint64_t bytes = 0;
    uint64_t last_used = 0;
  };

  static key key_of(const shelf_title& x) {
    return {x.model, x.precision};
  }

  const shelf_title* title_of(core::variant_id v) const {
    return v.value < titles_.size() && titles_[v.value] ? &*titles_[v.value]
                                                        : nullptr;
  }

  /// Returns the models of these variants that are not loaded, each once.
  core::result<std::vector<shelf_title>> missing_of(
    const std::vector<core::variant_id>& variants) const {
    const std::lock_guard guard{mutex_};
    std::map<key, shelf_title> missing;
    for (const auto v : variants) {
      const auto* title = title_of(v);
      if (title == nullptr)
        return core::fail(core::ec::not_found,
                          "variant {} is not among this device's", v.value);
      if (there_.count(key_of(*title)) == 0)
        missing.emplace(key_of(*title), *title);
    }
    std::vector<shelf_title> out;
    for (auto& [which, title] : missing)
      out.push_back(std::move(title));
    return out;
  }

  /// What models that are to be loaded need together.
  struct needed {
    std::vector<std::string> names;
    uint64_t bytes = 0;
  };

  static needed needs_of(const std::map<key, opened_model>& coming) {
    needed out;
    for (const auto& [which, x] : coming) {
      out.names.push_back(which.first);
      out.bytes += x.bytes;
    }
    return out;
  }

  core::result<void> make_room(const std::vector<core::variant_id>& variants,
                               const std::vector<core::variant_id>& keep,
                               const needed& coming) {
    const std::lock_guard guard{mutex_};
    const auto more = coming.bytes;
    const auto& names = coming.names;
    std::set<key> staying_keys;
    for (const auto* staying : {&variants, &keep})
      for (const auto v : *staying)
        if (const auto* title = title_of(v))
          staying_keys.insert(key_of(*title));
    std::vector<key> keys;
    std::vector<planning::resident_model> all;
    uint64_t staying = 0;
    for (const auto& [which, x] : there_) {
      const bool stays = staying_keys.count(which) != 0;
      keys.push_back(which);
      all.push_back({x.bytes, x.last_used, stays});
      staying += stays ? x.bytes : 0;
    }
    const auto leaving = planning::leaving_for(all, more, most_bytes_);
    if (!leaving)
      return core::fail(core::ec::out_of_resources,
                        "{} need {} MiB beside {} MiB that stay: "
                        "memory_mib allows {}",
                        fmt::join(names, ", "), more >> 20, staying >> 20,
                        most_bytes_ >> 20);
    for (const auto i : *leaving)
      there_.erase(keys[i]);
    return {};
  }

  const std::vector<std::optional<shelf_title>> titles_;
  const uint64_t most_bytes_;
  const opener open_;
  mutable std::mutex mutex_;
  std::map<key, held> there_;
  uint64_t uses_ = 0;
};

} // namespace atelier::gpu::detail
