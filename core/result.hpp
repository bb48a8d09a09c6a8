// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace atelier::core {

/// Holds a value or the error that prevented it.
/// Invariant: the error never has the code `ec::none`.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}

  result(error what) : content_(std::in_place_index<1>, std::move(what)) {
    ATELIER_EXPECTS(std::get<1>(content_).code != ec::none,
                    "an error has a code");
  }

  explicit operator bool() const noexcept {
    return content_.index() == 0;
  }

  T& operator*() & {
    ATELIER_EXPECTS(content_.index() == 0, "no value");
    return *std::get_if<0>(&content_);
  }

  const T& operator*() const& {
    ATELIER_EXPECTS(content_.index() == 0, "no value");
    return *std::get_if<0>(&content_);
  }

  T&& operator*() && {
    ATELIER_EXPECTS(content_.index() == 0, "no value");
    return std::move(*std::get_if<0>(&content_));
  }

  T* operator->() {
    return &**this;
  }

  const T* operator->() const {
    return &**this;
  }

  const error& why() const& {
    ATELIER_EXPECTS(content_.index() == 1, "no error");
    return *std::get_if<1>(&content_);
  }

  error&& why() && {
    ATELIER_EXPECTS(content_.index() == 1, "no error");
    return std::move(*std::get_if<1>(&content_));
  }

private:
  std::variant<T, error> content_;
};

/// Holds success or the error that prevented it.
template <>
class [[nodiscard]] result<void> {
public:
  using value_type = void;

  result() = default;

  result(error what) : error_(std::move(what)) {
    ATELIER_EXPECTS(error_->code != ec::none, "an error has a code");
  }

  explicit operator bool() const noexcept {
    return !error_;
  }

  const error& why() const& {
    ATELIER_EXPECTS(error_.has_value(), "no error");
    return *error_;
  }

  error&& why() && {
    ATELIER_EXPECTS(error_.has_value(), "no error");
    return std::move(*error_);
  }

private:
  std::optional<error> error_;
};

} // namespace atelier::core
