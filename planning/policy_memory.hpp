// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace atelier::planning {

/// A policy's memory value. `Memory::name` is its name in plan files; policies
/// that understand each other's memories share one type.
template <class Memory>
concept remembered = std::equality_comparable<Memory> && requires {
  { Memory::name } -> std::convertible_to<std::string_view>;
};

/// A memory for code that does not know its type.
struct memory_base {
  virtual ~memory_base() = default;
  virtual std::string_view of() const = 0;
  virtual bool equals(const memory_base& other) const = 0;
};

/// The memory of the policy that made a plan, carried by the plan: an immutable
/// value whose type only its policy knows. Copies share it.
class policy_memory {
public:
  /// Holds no memory.
  policy_memory() = default;

  template <remembered Memory>
  policy_memory(Memory x)
    : held_(std::make_shared<const held<Memory>>(std::move(x))) {}

  explicit operator bool() const {
    return held_ != nullptr;
  }

  /// Returns its name in plan files; empty: no memory.
  std::string_view of() const {
    return held_ != nullptr ? held_->of() : std::string_view{};
  }

  /// Returns the memory if it is of that type, otherwise null. It lives as long
  /// as the plan.
  template <remembered Memory>
  const Memory* as() const {
    return held_ != nullptr ? held<Memory>::in(*held_) : nullptr;
  }

  friend bool operator==(const policy_memory& a, const policy_memory& b) {
    return a.held_ == b.held_
        || (a.held_ != nullptr && b.held_ != nullptr
            && a.held_->equals(*b.held_));
  }

private:
  template <remembered Memory>
  struct held final : memory_base {
    explicit held(Memory x) : value(std::move(x)) {}

    static const Memory* in(const memory_base& any) {
      return typeid(any) == typeid(held) ? &static_cast<const held&>(any).value
                                         : nullptr;
    }

    std::string_view of() const override {
      return Memory::name;
    }

    bool equals(const memory_base& other) const override {
      const auto* same = in(other);
      return same != nullptr && *same == value;
    }

    Memory value;
  };

  std::shared_ptr<const memory_base> held_;
};

} // namespace atelier::planning
