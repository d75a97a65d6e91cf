// The dialect: what makes one text C++20, CUDA C++ and OpenCL C 1.2. The only file of this folder that asks which
// compiler reads it.
//
// Every other file is written in the names defined here: fixed-width integers, address spaces, the four value structs,
// error codes, and the few primitives that a compiler offers under its own name (bit casts, high multiplication,
// mathematics). Products and sums are never fused, so that all three round alike; NVRTC needs --fmad=false for that.
// src/kernel/README.md states the rules.
#pragma once

// ---- OpenCL C
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char dk_i8;
typedef uchar dk_u8;
typedef short dk_i16;
typedef ushort dk_u16;
typedef int dk_i32;
typedef uint dk_u32;
typedef long dk_i64;
typedef ulong dk_u64;
typedef float dk_f32;
typedef double dk_f64;
#define DK_FN static inline
#define DK_ALWAYS_INLINE
#define DK_GLOBAL __global
#define DK_PRIVATE __private
#define DK_CONSTANT __constant
#define DK_CONSTANT_SPACE __constant
#define DK_ALIGN16 __attribute__((aligned(16)))
#define DK_I64(literal) literal##L
#define DK_U64(literal) literal##UL
#define DK_HAS_INT128 0
#define DK_HAS_LIBC 0
#define DK_HAS_OVERFLOW_BUILTINS 0
#define DK_HAS_UNICODE 0
#define DK_MUL_HI_U64(a, b) mul_hi((dk_u64)(a), (dk_u64)(b))
#define DK_CLZ_U64(a) ((dk_i32)clz((dk_u64)(a)))
#define DK_F64_BITS(a) as_ulong((dk_f64)(a))
#define DK_F32_BITS(a) as_uint((dk_f32)(a))
#define DK_F64_OF_BITS(a) as_double((dk_u64)(a))
#define DK_MATH1_F64(name, a) name((dk_f64)(a))
#define DK_MATH2_F64(name, a, b) name((dk_f64)(a), (dk_f64)(b))
#define DK_MATH1_F32(name, a) name((dk_f32)(a))

// ---- CUDA C++
#elif defined(__CUDACC__)

#pragma nv_diag_suppress 177  // functions that a kernel does not call are no news
typedef signed char dk_i8;
typedef unsigned char dk_u8;
typedef short dk_i16;
typedef unsigned short dk_u16;
typedef int dk_i32;
typedef unsigned int dk_u32;
typedef long long dk_i64;
typedef unsigned long long dk_u64;
typedef float dk_f32;
typedef double dk_f64;
#define DK_FN static __device__ inline
#define DK_ALWAYS_INLINE
#define DK_GLOBAL
#define DK_PRIVATE
#define DK_CONSTANT static __device__ const
#define DK_CONSTANT_SPACE
#define DK_ALIGN16 __align__(16)
#define DK_I64(literal) literal##LL
#define DK_U64(literal) literal##ULL
#define DK_HAS_INT128 0
#define DK_HAS_LIBC 0
#define DK_HAS_OVERFLOW_BUILTINS 0
#define DK_HAS_UNICODE 0
#define DK_MUL_HI_U64(a, b) __umul64hi((a), (b))
#define DK_CLZ_U64(a) __clzll((dk_i64)(a))
#define DK_F64_BITS(a) ((dk_u64)__double_as_longlong(a))
#define DK_F32_BITS(a) ((dk_u32)__float_as_int(a))
#define DK_F64_OF_BITS(a) __longlong_as_double((dk_i64)(a))
#define DK_MATH1_F64(name, a) name((dk_f64)(a))
#define DK_MATH2_F64(name, a, b) name((dk_f64)(a), (dk_f64)(b))
#define DK_MATH1_F32(name, a) name##f((dk_f32)(a))

// ---- C++, by GCC or Clang
#else

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef signed char dk_i8;
typedef unsigned char dk_u8;
typedef short dk_i16;
typedef unsigned short dk_u16;
typedef int dk_i32;
typedef unsigned int dk_u32;
typedef long dk_i64;  // as int64_t is on this platform, so that pointers to either mix
typedef unsigned long dk_u64;
typedef float dk_f32;
typedef double dk_f64;
#define DK_FN static inline
#define DK_ALWAYS_INLINE __attribute__((always_inline))
#define DK_GLOBAL
#define DK_PRIVATE
#define DK_CONSTANT static constexpr
#define DK_CONSTANT_SPACE
#define DK_ALIGN16 __attribute__((aligned(16)))
#define DK_I64(literal) literal##L
#define DK_U64(literal) literal##UL
#define DK_HAS_INT128 1
#define DK_HAS_LIBC 1
#define DK_HAS_OVERFLOW_BUILTINS 1
#define DK_HAS_UNICODE 1
#define DK_MUL_HI_U64(a, b) ((dk_u64)(((dk_uint128_t)(a) * (b)) >> 64))
#define DK_CLZ_U64(a) ((a) == 0 ? 64 : __builtin_clzl(a))
#define DK_F64_BITS(a) __builtin_bit_cast(dk_u64, (dk_f64)(a))
#define DK_F32_BITS(a) __builtin_bit_cast(dk_u32, (dk_f32)(a))
#define DK_F64_OF_BITS(a) __builtin_bit_cast(dk_f64, (dk_u64)(a))
#define DK_MATH1_F64(name, a) __builtin_##name((dk_f64)(a))
#define DK_MATH2_F64(name, a, b) __builtin_##name((dk_f64)(a), (dk_f64)(b))
#define DK_MATH1_F32(name, a) __builtin_##name##f((dk_f32)(a))
__extension__ typedef __int128 dk_int128_t;
__extension__ typedef unsigned __int128 dk_uint128_t;

#endif

typedef dk_u8 dk_bool;  // 0 or 1

// A 128-bit two's complement integer in two limbs; in memory the same as the compiler's own on a little-endian machine.
typedef struct DK_ALIGN16 dk_i128 {
  dk_u64 lo;
  dk_i64 hi;
} dk_i128;

// UTF-8 text of `length` bytes. `data` is read only where length > 0.
typedef struct dk_text {
  DK_GLOBAL const char* data;
  dk_i32 length;
} dk_text;

typedef struct dk_interval {
  dk_i32 months;
  dk_i32 days;
  dk_i64 microseconds;
} dk_interval;

// What a function can store through its error pointer: name, state (a name of DIPTYCH_SQLSTATES in base/error.h),
// message.
#define DK_ERRORS(ROW)                                                                                              \
  ROW(DK_NUMERIC_OUT_OF_RANGE, numeric_value_out_of_range, "numeric value out of range")                            \
  ROW(DK_DIVISION_BY_ZERO, division_by_zero, "division by zero")                                                    \
  ROW(DK_INVALID_TEXT, invalid_text_representation, "invalid input syntax")                                         \
  ROW(DK_DATETIME_OVERFLOW, datetime_field_overflow, "date/time value out of range")                                \
  ROW(DK_INVALID_DATETIME, invalid_datetime_format, "invalid input syntax for a date/time type")                    \
  ROW(DK_INTERVAL_OVERFLOW, interval_field_overflow, "interval field value out of range")                           \
  ROW(DK_LOG_DOMAIN, invalid_argument_for_logarithm, "cannot take the logarithm of zero or a negative number")      \
  ROW(DK_POWER_DOMAIN, invalid_argument_for_power, "invalid argument for a power function")                         \
  ROW(DK_SUBSTRING_LENGTH, substring_error, "negative substring length not allowed")                                \
  ROW(DK_INVALID_ESCAPE, invalid_escape_sequence, "invalid escape string: it must be empty or one character")       \
  ROW(DK_INVALID_ESCAPE_SEQUENCE, invalid_escape_sequence, "LIKE pattern must not end with escape character")       \
  ROW(DK_STRING_TOO_LONG, string_data_right_truncation, "value too long for its character type")                    \
  ROW(DK_INVALID_PARAMETER, invalid_parameter_value, "invalid parameter value")                                     \
  ROW(DK_LIMIT_EXCEEDED, program_limit_exceeded, "requested length or character too large")                         \
  ROW(DK_NO_FIXED_POINT, feature_not_supported, "NaN and infinity are not supported for numeric")                   \
  ROW(DK_INFINITE_FIELD, feature_not_supported, "a field of infinity is infinite, which numeric does not hold yet") \
  ROW(DK_CASE_BEYOND_ASCII, feature_not_supported, "the case of characters beyond ASCII is known on the CPU only")  \
  ROW(DK_KEYS_REPEAT, internal_error, "rows of an index share keys that were taken to be unique")                   \
  ROW(DK_TOO_MANY_PAIRS, program_limit_exceeded, "more pairs of rows that meet than a kernel takes at once")

#define DK_ERROR_NAME(name, state, message) name,
enum dk_error { DK_OK = 0, DK_ERRORS(DK_ERROR_NAME) DK_ERROR_COUNT };
#undef DK_ERROR_NAME

// Flags of a row of functions.def; see the head of that file.
enum dk_function_flag {
  DK_PLAIN = 0,
  DK_RAISES = 1,
  DK_TEXT_OUT = 2,
  DK_SLICE = 4,
  DK_HOST = 8,
  DK_IDENTITY = 16,
  DK_SCALE_COMMON = 256,
  DK_SCALE_0 = 512,
  DK_SCALE_3 = 1024,
  DK_SCALE_6 = 2048,
  DK_SCALE_20 = 4096,
  DK_SCALE_DIGITS = 8192,
  DK_SCALE_DIVISION = 16384,
  DK_SCALE_TARGET = 32768
};
