# cmake -D FOLDER=<src/kernel> -D OUTPUT=<file> -D FILES=<names, ;-separated> -P embed.cmake
# Writes one row {"name", R"(text)"}, per file, for kernel_library.cc. The texts lose what a kernel's compiler does not
# need: #pragma once, #include, comments (no string literal of theirs has //), blank lines.
set(rows "")
foreach(name IN LISTS FILES)
  file(READ "${FOLDER}/${name}" text)
  string(REGEX REPLACE "#pragma once\n" "" text "${text}")
  string(REGEX REPLACE "#include [^\n]*\n" "" text "${text}")
  string(REGEX REPLACE " *//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n(\n)+" "\n" text "${text}")
  string(REGEX REPLACE "^\n+" "" text "${text}")
  string(APPEND rows "{\"${name}\", R\"kernel(${text})kernel\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${rows}")
