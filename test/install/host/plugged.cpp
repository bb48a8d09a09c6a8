// SPDX-License-Identifier: Apache-2.0
// A program that knows nothing of the engine, and loads a library with it.
#include <dlfcn.h>

#include <iostream>

int main() {
  void* const plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::cerr << dlerror() << '\n';
    return 1;
  }
  const auto draws =
    reinterpret_cast<bool (*)()>(dlsym(plugin, "draws_images"));
  return draws != nullptr && draws() ? 0 : 1;
}
