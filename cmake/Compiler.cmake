# Language level, warnings, sanitizers, and the optional compiler cache and fast linker.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# -g1 keeps line numbers for profiles and crash reports at a fraction of the size of -g.
# Where a loop begins decides on Intel whether it is fed from the cache of decoded instructions; without these two, a change anywhere
# moved others and made a scan up to an eighth slower or faster.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG -falign-functions=64 -falign-loops=32")
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")

add_compile_options(-Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: "literal" + std::string is reported at -O3.
  add_compile_options(-Wno-restrict)
endif()
# The binary is to run on any x86-64 machine of the last decade; hot loops are compiled for newer ones besides, by
# src/engine/cpu.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-march=x86-64-v2)
endif()

if(DIPTYCH_SANITIZE)
  add_compile_options(-fsanitize=${DIPTYCH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DIPTYCH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 warns of uninitialised variables inside the standard library once sanitizers rewrite it.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

find_program(DIPTYCH_CCACHE ccache)
if(DIPTYCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${DIPTYCH_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${DIPTYCH_CCACHE}")
endif()

find_program(DIPTYCH_MOLD mold)
if(DIPTYCH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
