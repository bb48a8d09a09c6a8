// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/tensor_source.hpp>

namespace atelier::gpu {

std::string_view to_string(tensor_type x) {
  switch (x) {
    case tensor_type::float64:
      return "F64";
    case tensor_type::float32:
      return "F32";
    case tensor_type::float16:
      return "F16";
    case tensor_type::bfloat16:
      return "BF16";
    case tensor_type::int64:
      return "I64";
    case tensor_type::int32:
      return "I32";
    case tensor_type::int16:
      return "I16";
    case tensor_type::int8:
      return "I8";
    case tensor_type::uint8:
      return "U8";
    case tensor_type::boolean:
      return "BOOL";
  }
  return "unknown";
}

size_t bytes_of(tensor_type x) {
  switch (x) {
    case tensor_type::float64:
    case tensor_type::int64:
      return 8;
    case tensor_type::float32:
    case tensor_type::int32:
      return 4;
    case tensor_type::float16:
    case tensor_type::bfloat16:
    case tensor_type::int16:
      return 2;
    case tensor_type::int8:
    case tensor_type::uint8:
    case tensor_type::boolean:
      return 1;
  }
  return 1;
}

bool is_floating(tensor_type x) {
  using enum tensor_type;
  return x == float64 || x == float32 || x == float16 || x == bfloat16;
}

bool is_aligned(const tensor_view& x) {
  return reinterpret_cast<uintptr_t>(x.bytes.data()) % bytes_of(x.type) == 0;
}

uint64_t elements_of(const tensor_view& x) {
  return x.bytes.size() / bytes_of(x.type);
}

} // namespace atelier::gpu
