# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=<folder> -DLIST=<file> -DTEMPLATE=<file> -DOUTPUT=<file>
#       -P digest_of_sources.cmake
#
# Write OUTPUT from TEMPLATE, with the SHA-256 of the names and texts of the files
# below ROOT that LIST names, one on a line.
file(STRINGS "${LIST}" names)
list(SORT names)
set(all "")
foreach(name IN LISTS names)
  file(SHA256 "${ROOT}/${name}" text)
  string(APPEND all "${name} ${text}\n")
endforeach()
string(SHA256 digest "${all}")
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
file(TOUCH "${OUTPUT}")
