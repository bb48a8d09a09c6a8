# SPDX-License-Identifier: Apache-2.0
# atelier_use_caf(<target>...)
#
# Let the sources of these targets share one precompiled copy of CAF's headers,
# which are most of what a source of actors parses. Code that may move in memory
# and code that may not are compiled with different flags, and have one each.
function(atelier_use_caf)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    get_target_property(moves ${target} POSITION_INDEPENDENT_CODE)
    set(header atelier_caf_header)
    if(moves)
      set(header atelier_caf_header_pic)
    endif()
    if(NOT TARGET ${header})
      file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${header}.cpp"
        CONTENT "// Only carries the precompiled header.\n")
      add_library(${header} STATIC "${PROJECT_BINARY_DIR}/${header}.cpp")
      set_target_properties(${header} PROPERTIES
        POSITION_INDEPENDENT_CODE "${moves}")
      target_link_libraries(${header} PRIVATE
        atelier_options CAF::core fmt::fmt)
      target_precompile_headers(${header} PRIVATE
        <caf/actor_system.hpp> <caf/actor_system_config.hpp>
        <caf/event_based_actor.hpp> <caf/send.hpp> <caf/stateful_actor.hpp>
        <caf/typed_actor.hpp> <caf/typed_event_based_actor.hpp>
        <fmt/format.h> <algorithm> <chrono> <functional> <map> <memory>
        <optional> <string> <unordered_map> <variant> <vector>)
      atelier_cacheable_header(${header})
    endif()
    # Whoever uses a precompiled header has the definitions that it was made
    # with.
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_precompile_headers(${target} REUSE_FROM ${header})
    atelier_cacheable_header(${target})
  endforeach()
endfunction()
