# SPDX-License-Identifier: Apache-2.0
# Code that is compiled for several instruction sets, whatever the rest is compiled
# for. core/instruction_set.hpp chooses among them at run time.
#
#   atelier_instruction_sets(TARGET PREFIX [SETS SET...] [OPTIONS OPTION...])
#
# adds the sources PREFIX_SET.cpp to TARGET, one for each SET that the compiler knows,
# and defines ATELIER_INSTRUCTION_SETS for its sources. PREFIX is relative to the
# folder. Highway's headers are compiled for the source's own set alone.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mavx512bf16 ATELIER_KNOWS_AVX512)

# Highway demands all of them of its targets, later versions avx512cd, too.
set(avx2 -mavx2 -mfma -mbmi -mbmi2)
set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd)
set(ATELIER_FLAGS_avx2 ${avx2} -mno-avx512f)
set(ATELIER_FLAGS_avx512 ${avx512} -mno-avx512bf16)
set(ATELIER_FLAGS_avx512_bf16 ${avx512} -mavx512bf16)
unset(avx2)
unset(avx512)

function(atelier_instruction_sets target prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SETS;OPTIONS")
  if(NOT ATELIER_KNOWS_AVX512)
    return()
  endif()
  target_link_libraries(${target} PRIVATE hwy::headers)
  target_compile_definitions(${target} PRIVATE ATELIER_INSTRUCTION_SETS)
  foreach(name IN LISTS arg_SETS)
    target_sources(${target} PRIVATE ${prefix}_${name}.cpp)
    # Products are fused with sums only where the source says so, so that every
    # compiler and level of optimisation gives the same bits. g++ 12 takes its own
    # intrinsics for reads of uninitialised values (GCC bug 105593).
    set_source_files_properties(${prefix}_${name}.cpp PROPERTIES COMPILE_OPTIONS
      "${ATELIER_FLAGS_${name}};-ffp-contract=off;-Wno-uninitialized;-Wno-maybe-uninitialized;$<$<BOOL:${ATELIER_QUICK_COMPILE}>:-O2>;${arg_OPTIONS}")
  endforeach()
endfunction()
