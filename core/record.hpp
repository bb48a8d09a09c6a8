// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/enum_count.hpp>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace atelier::core {

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

template <size_t Bytes>
struct bits_of;

template <>
struct bits_of<4> {
  using type = uint32_t;
};

template <>
struct bits_of<8> {
  using type = uint64_t;
};

} // namespace detail

/// Writes values as bytes for programs of the same build: numbers as they are
/// in memory, floats with all bits, texts and lists after their length. A
/// struct is written by its `inspect` function, which names its fields.
/// Threads: one at a time.
class record_writer {
public:
  using result_type = bool;
  /// These say that fields are read and none is written, as in CAF's
  /// inspectors.
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  /// Appends to `into`.
  explicit record_writer(std::vector<std::byte>& into) : into_(into) {}

  template <class... Ts>
  bool operator()(Ts&&... fields) {
    (put(fields), ...);
    return true;
  }

private:
  void append(const void* from, size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(from);
    into_.insert(into_.end(), begin, begin + bytes);
  }

  template <class T>
  void put(T& x) {
    using type = std::remove_const_t<T>;
    if constexpr (std::is_arithmetic_v<type> || std::is_enum_v<type>) {
      append(&x, sizeof x);
    } else if constexpr (detail::is_duration<type>) {
      const auto count = x.count();
      append(&count, sizeof count);
    } else if constexpr (std::is_same_v<type, std::string>) {
      put_length(x.size());
      append(x.data(), x.size());
    } else if constexpr (detail::is_vector<type>) {
      put_length(x.size());
      for (auto& one : x)
        put(one);
    } else {
      inspect(*this, x);
    }
  }

  void put_length(size_t n) {
    const auto length = static_cast<uint64_t>(n);
    append(&length, sizeof length);
  }

  std::vector<std::byte>& into_;
};

/// Reads the output of a record_writer. A call and all later ones return false
/// if the bytes end too early or a number is not a value of its enumeration;
/// the fields are then unspecified.
/// Threads: one at a time.
class record_reader {
public:
  using result_type = bool;
  static constexpr bool reads_state = false;
  static constexpr bool writes_state = true;

  enum class outcome : uint8_t { fine, too_short, unnamed_value };

  explicit record_reader(std::span<const std::byte> from) : from_(from) {}

  template <class... Ts>
  bool operator()(Ts&&... fields) {
    return (take(fields) && ...);
  }

  outcome how() const {
    return how_;
  }

  /// Returns the number of bytes that were not read yet.
  size_t left() const {
    return from_.size();
  }

private:
  bool copy(void* to, size_t bytes) {
    if (how_ != outcome::fine)
      return false;
    if (from_.size() < bytes) {
      how_ = outcome::too_short;
      return false;
    }
    if (bytes > 0)
      std::memcpy(to, from_.data(), bytes);
    from_ = from_.subspan(bytes);
    return true;
  }

  // Reads an enumeration or a boolean, which have few values.
  template <class T>
  bool copy_named(T& x, size_t count) {
    uint8_t number = 0;
    static_assert(sizeof x == sizeof number);
    if (!copy(&number, sizeof number))
      return false;
    if (number >= count) {
      how_ = outcome::unnamed_value;
      return false;
    }
    x = static_cast<T>(number);
    return true;
  }

  // Reads a length, at most the number of bytes left: each element takes one.
  bool copy_length(size_t& n) {
    uint64_t length = 0;
    if (!copy(&length, sizeof length))
      return false;
    if (length > from_.size()) {
      how_ = outcome::too_short;
      return false;
    }
    n = static_cast<size_t>(length);
    return true;
  }

  template <class T>
  bool take(T& x) {
    if constexpr (std::is_same_v<T, bool>) {
      return copy_named(x, 2);
    } else if constexpr (std::is_enum_v<T>) {
      return copy_named(x, enum_count<T>);
    } else if constexpr (std::is_floating_point_v<T>) {
      // Copies through an integer, so that no register changes a signalling
      // NaN.
      typename detail::bits_of<sizeof(T)>::type bits = 0;
      const bool read = copy(&bits, sizeof bits);
      std::memcpy(&x, &bits, sizeof bits);
      return read;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return copy(&x, sizeof x);
    } else if constexpr (detail::is_duration<T>) {
      typename T::rep count = 0;
      const bool read = copy(&count, sizeof count);
      x = T{count};
      return read;
    } else if constexpr (std::is_same_v<T, std::string>) {
      size_t n = 0;
      if (!copy_length(n))
        return false;
      x.resize(n);
      return copy(x.data(), n);
    } else if constexpr (detail::is_vector<T>) {
      size_t n = 0;
      if (!copy_length(n))
        return false;
      x.clear();
      for (; n > 0; --n)
        if (!take(x.emplace_back()))
          return false;
      return true;
    } else {
      return inspect(*this, x);
    }
  }

  std::span<const std::byte> from_;
  outcome how_ = outcome::fine;
};

} // namespace atelier::core
