/* The C interface of libdiptych_cub.so: the one algorithm that Diptych takes from CUB, NVIDIA's library of device-wide
 * algorithms, built ahead of time by nvcc. The library is opened at run time (cub_library.h) and nothing links it, so
 * that one build of Diptych runs with it and without.
 *
 * Calls work in the CUDA context that is current on the calling thread. */
#ifndef DIPTYCH_CUB_H
#define DIPTYCH_CUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes up whenever a signature below changes. */
#define DIPTYCH_CUB_VERSION 1

typedef int diptych_cub_version_function(void);

/* Sorts `rows` pairs by bits [begin_bit, end_bit) of their keys, stably, on the stream (a CUstream): the pairs are in
 * keys and values, and are afterwards either there (0 in *result) or in other_keys and other_values (1). Without
 * `temporary` it does nothing but put in *temporary_bytes how much of it a sort of so many rows needs. Returns a
 * cudaError_t: 0 when the work is queued. */
typedef int diptych_cub_sort_pairs_function(void* temporary, size_t* temporary_bytes, uint64_t* keys,
                                            uint64_t* other_keys, uint32_t* values, uint32_t* other_values,
                                            uint32_t rows, int begin_bit, int end_bit, void* stream, int* result);

/* What CUDA says of an error that sort_pairs returned. */
typedef const char* diptych_cub_error_text_function(int error);

diptych_cub_version_function diptych_cub_version;
diptych_cub_sort_pairs_function diptych_cub_sort_pairs;
diptych_cub_error_text_function diptych_cub_error_text;

#ifdef __cplusplus
}
#endif

#endif
