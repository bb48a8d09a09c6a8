// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/record.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace atelier::core {

/// A value whose type only its sender and its receiver know. It is the value
/// itself inside a process, and bytes between processes (record.hpp). Code that
/// carries it includes neither the sender nor the receiver.
///
/// The body is immutable.
/// Threads: any.
class typed_body {
public:
  typed_body() = default;

  /// Holds a value. A type that is sent between processes names its fields by
  /// `inspect`.
  template <class T>
  static typed_body of(T x) {
    typed_body out;
    out.value_ = std::make_shared<const T>(std::move(x));
    out.type_ = &typeid(T);
    out.write_ = [](const void* value, std::vector<std::byte>& into) {
      record_writer sink{into};
      // Inspectors take mutable references; a writer changes nothing.
      sink(const_cast<T&>(*static_cast<const T*>(value)));
    };
    return out;
  }

  /// Returns the value.
  /// Errors: ec::bad_payload if it has another type, or if its bytes are too
  ///         few, too many, or no value of that type.
  template <class T>
  result<std::shared_ptr<const T>> as() const {
    if (type_ != nullptr) {
      if (*type_ != typeid(T))
        return fail(ec::bad_payload, "a body of another type");
      return std::static_pointer_cast<const T>(value_);
    }
    record_reader source{std::as_bytes(std::span{bytes_})};
    auto out = std::make_shared<T>();
    if (!source(*out) || source.left() != 0)
      return fail(ec::bad_payload, "a body of {} bytes cannot be read",
                  bytes_.size());
    return std::shared_ptr<const T>{std::move(out)};
  }

  /// Returns the bytes that are sent between processes.
  std::string to_bytes() const {
    if (type_ == nullptr)
      return bytes_;
    std::vector<std::byte> out;
    write_(value_.get(), out);
    return {reinterpret_cast<const char*>(out.data()), out.size()};
  }

  static typed_body from_bytes(std::string bytes) {
    typed_body out;
    out.bytes_ = std::move(bytes);
    return out;
  }

  friend bool operator==(const typed_body& a, const typed_body& b) {
    return a.to_bytes() == b.to_bytes();
  }

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, typed_body& x) {
    if constexpr (Inspector::writes_state) {
      x = typed_body{};
      return f(x.bytes_);
    } else {
      auto bytes = x.to_bytes();
      return f(bytes);
    }
  }

private:
  std::shared_ptr<const void> value_;
  /// Null if the value is held as bytes.
  const std::type_info* type_ = nullptr;
  void (*write_)(const void*, std::vector<std::byte>&) = nullptr;
  std::string bytes_;
};

} // namespace atelier::core
