# Libraries from the system, each as an imported target; Arrow and Parquet from the pyarrow wheel.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(mpfr REQUIRED IMPORTED_TARGET mpfr)
pkg_check_modules(gmp REQUIRED IMPORTED_TARGET gmp)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(edit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(protobuf_c REQUIRED IMPORTED_TARGET libprotobuf-c)

# libpg_query ships neither a CMake package nor a pkg-config file.
find_path(PG_QUERY_INCLUDE_DIR pg_query.h REQUIRED)
find_library(PG_QUERY_LIBRARY pg_query REQUIRED)
add_library(pg_query UNKNOWN IMPORTED)
set_target_properties(pg_query PROPERTIES
  IMPORTED_LOCATION "${PG_QUERY_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${PG_QUERY_INCLUDE_DIR}"
  INTERFACE_LINK_LIBRARIES PkgConfig::protobuf_c)

find_package(ArrowFromPyarrow REQUIRED)

if(DIPTYCH_TESTS)
  find_package(GTest REQUIRED)
  find_package(OpenCL QUIET)
endif()
if(DIPTYCH_BENCHMARKS)
  find_package(benchmark REQUIRED)
  find_package(SQLite3 REQUIRED)
endif()
