// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Tensors of one or several sources under other names: views, without copies.
/// Threads: any, once it is filled.
class tensor_collection final : public tensor_source {
public:
  /// `where` is for messages.
  explicit tensor_collection(std::string where) : where_(std::move(where)) {}

  /// Keeps alive a source that views of the collection point into.
  void keep(std::shared_ptr<const tensor_source> source) {
    sources_.push_back(std::move(source));
  }

  /// Returns false, without a change, if the name is taken.
  bool add(std::string name, const tensor_view& what) {
    return tensors_.try_emplace(std::move(name), what).second;
  }

  bool empty() const {
    return tensors_.empty();
  }

  std::optional<tensor_view> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  std::string where() const override;

private:
  std::string where_;
  std::vector<std::shared_ptr<const tensor_source>> sources_;
  std::map<std::string, tensor_view, std::less<>> tensors_;
};

/// Returns whether a name in the sorted list begins with `prefix`.
bool has_prefix(const std::vector<std::string>& sorted_names,
                std::string_view prefix);

/// Returns the number of consecutive prefixes prefix + "0.", prefix + "1.", ...
/// that names begin with.
size_t count_numbered(const std::vector<std::string>& sorted_names,
                      std::string_view prefix);

} // namespace atelier::gpu::detail
