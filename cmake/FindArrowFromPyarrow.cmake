# Arrow C++ and Parquet out of the pyarrow wheel of DIPTYCH_PYTHON, else of the system.
#
# The wheel holds headers and libraries that are built with the C++11 ABI of libstdc++, but its libraries carry the
# version in their names only (libarrow.so.2600), which find_library does not look for. Defines the targets
# Arrow::arrow and Parquet::parquet.
if(EXISTS "${DIPTYCH_PYTHON}")
  execute_process(
    COMMAND "${DIPTYCH_PYTHON}" -c "import pyarrow as a; print(a.get_include(), a.get_library_dirs()[0], sep=';', end='')"
    OUTPUT_VARIABLE pyarrow_places RESULT_VARIABLE pyarrow_missing ERROR_QUIET)
  if(pyarrow_missing EQUAL 0)
    list(GET pyarrow_places 0 pyarrow_include)
    list(GET pyarrow_places 1 pyarrow_lib_dir)
    file(GLOB arrow_library "${pyarrow_lib_dir}/libarrow.so.*")
    file(GLOB parquet_library "${pyarrow_lib_dir}/libparquet.so.*")
  endif()
endif()

if(arrow_library AND parquet_library)
  foreach(pair "Arrow::arrow|${arrow_library}" "Parquet::parquet|${parquet_library}")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 target)
    list(GET pair 1 location)
    if(NOT TARGET ${target})
      add_library(${target} SHARED IMPORTED)
      set_target_properties(${target} PROPERTIES
        IMPORTED_LOCATION "${location}" INTERFACE_INCLUDE_DIRECTORIES "${pyarrow_include}")
    endif()
  endforeach()
  target_link_libraries(Parquet::parquet INTERFACE Arrow::arrow)
  set(ArrowFromPyarrow_FOUND TRUE)
  message(STATUS "Arrow C++: ${arrow_library}")
else()
  find_package(Arrow QUIET)
  find_package(Parquet QUIET)
  if(TARGET Arrow::arrow_shared AND TARGET Parquet::parquet_shared)
    add_library(Arrow::arrow ALIAS Arrow::arrow_shared)
    add_library(Parquet::parquet ALIAS Parquet::parquet_shared)
    set(ArrowFromPyarrow_FOUND TRUE)
    message(STATUS "Arrow C++: system, ${Arrow_VERSION}")
  elseif(ArrowFromPyarrow_FIND_REQUIRED)
    message(FATAL_ERROR "No Arrow C++: neither pyarrow at DIPTYCH_PYTHON=${DIPTYCH_PYTHON} nor a system package. "
                        "Run tools/setup, or pass -DDIPTYCH_PYTHON=<a python that has pyarrow>.")
  endif()
endif()
