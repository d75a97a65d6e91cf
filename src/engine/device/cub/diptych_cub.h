/* The C interface of libdiptych_cub.so, which holds what nvcc has built ahead of time: the one algorithm that Diptych
 * takes from CUB, NVIDIA's library of device-wide algorithms, and the interpreter's kernels. The library is opened at
 * run time (cub_library.h) and nothing links it, so that one build of Diptych runs with it and without.
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
#define DIPTYCH_CUB_VERSION 2

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

/* What cuModuleLoadData takes of the kernel text of so many bytes; NULL for every text but those of the interpreter, as
 * they were when the library was built. */
typedef const void* diptych_cub_image_function(const char* text, size_t bytes);

diptych_cub_version_function diptych_cub_version;
diptych_cub_sort_pairs_function diptych_cub_sort_pairs;
diptych_cub_error_text_function diptych_cub_error_text;
diptych_cub_image_function diptych_cub_image;

#ifdef __cplusplus
}
#endif

#endif
