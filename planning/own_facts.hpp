// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

namespace atelier::planning {

/// Facts of types that only a stage and a policy know, such as those of a host:
/// at most one value of each type. A stage's `end` sets one, in the process of
/// the scheduler, where the policy reads it; values never cross processes.
/// Threads: none of its own; values are immutable.
class own_facts {
public:
  /// Sets the value of a type, in place of an earlier one.
  template <class T>
  void set(T value) {
    keep({typeid(T), std::make_shared<const T>(std::move(value))});
  }

  /// Returns the value of a type; null if no stage set one.
  template <class T>
  const T* find() const {
    const auto i = std::find_if(values_.begin(), values_.end(), [](auto& x) {
      return x.type == std::type_index{typeid(T)};
    });
    return i == values_.end() ? nullptr : static_cast<const T*>(i->value.get());
  }

  /// Takes the values of others; those of other types stay.
  void learn(own_facts found) {
    for (auto& x : found.values_)
      keep(std::move(x));
  }

  /// Notes that a policy asked for the facts of these stages, whether or not
  /// they found any.
  void note_tried(const std::vector<std::string>& stages) {
    tried_.insert(tried_.end(), stages.begin(), stages.end());
  }

  /// Whether a policy asked for the facts of a stage before.
  bool tried(std::string_view stage) const {
    return std::find(tried_.begin(), tried_.end(), stage) != tried_.end();
  }

private:
  struct entry {
    std::type_index type;
    std::shared_ptr<const void> value;
  };

  void keep(entry x) {
    std::erase_if(values_, [&](const auto& y) { return y.type == x.type; });
    values_.push_back(std::move(x));
  }

  std::vector<entry> values_;
  std::vector<std::string> tried_;
};

} // namespace atelier::planning
