// What kernels have beyond scalar functions: work-groups, shared memory, barriers, atomics, wide loads. The only file
// of this folder that asks which compiler reads it; CUDA C++ and OpenCL C are the two, C++ is none.
//
// The text that includes it defines before it
//   DK_GROUP_SIZE       work-items of a group: a power of two from 32 to 1024, the very size it is launched with
//   DK_PARAMETER_WORDS  64-bit words of dk_parameters, the very number it is launched with
//   DK_LEAST_GROUPS     if defined: groups that should fit on a compute unit at once, as far as their registers go
//   DK_CHECKS_RACES     if defined, with CUDA: every access to shared memory that may meet another one is an atomic
//                       instruction, for compute-sanitizer's racecheck (test/gpu/sanitize)
//
// and then every kernel is
//   DK_KERNEL void entry(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
//     DK_SCRATCH(scratch);              // what the group-wide functions work in
//     DK_SHARED dk_u32 stage[1024];     // at the outermost level of a kernel only
//     DK_GLOBAL dk_u64* counter = DK_AT(dk_u64, parameters.word[0]);
//
// DK_KERNEL_OF(groups) stands for DK_KERNEL where so many groups are to run on a compute unit at once, whatever
// registers that leaves them.
//
// DK_SHARED_ROOM declares shared memory: of `words` 64-bit words with OpenCL, of as many bytes as a launch says with
// CUDA, where that may be more than every kernel has. One a kernel.
//
// DK_NEAR starts a function that is always copied into its callers, DK_FAR one that never is, DK_APART one that is not
// with OpenCL, whose compilers for CPUs take long over large kernels; the last two have no barrier. DK_SHARED_FN starts
// one that takes DK_LOCAL pointers and need not be DK_NEAR with CUDA. With OpenCL it is: PoCL gives each of its threads
// shared memory of its own, but after the compiler has replaced such a pointer by where the memory was, and in the
// kernel alone. What is copied later, or not at all, would work in memory that all threads share. tools/check_layers
// looks for others. DK_ANY_LANE: whether a condition holds in any lane of the warp, where there are warps; else in this
// work-item.
//
// DK_FENCE_<space>() orders what was written to either memory for those that share what lies in that space: all
// work-items, or those of the group, which with CUDA takes far less time.
//
// DK_ADDRESS_OF(pointer) is the address of what is pointed to. A function that uses either takes DK_SPACES_PARAM first
// and is called with DK_SPACES_ARG.
#pragma once

typedef struct dk_parameters {
  dk_u64 word[DK_PARAMETER_WORDS];
} dk_parameters;

#define DK_SPACES_PARAM DK_GLOBAL dk_u8 *memory, DK_GLOBAL dk_u8 *mapped
#define DK_SPACES_ARG memory, mapped

// ---- OpenCL C 1.2. Any size of a sub-group is possible, so groups work through local memory only.
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define DK_KERNEL __kernel __attribute__((reqd_work_group_size(DK_GROUP_SIZE, 1, 1)))
#define DK_KERNEL_OF(groups) DK_KERNEL
#define DK_SHARED __local
#define DK_SHARED_ROOM(name, words) __local DK_ALIGN16 dk_u64 name[words]
#define DK_LOCAL __local
// PoCL compiles rolled loops in half the time, and runs them on a CPU.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define DK_UNROLL _Pragma("unroll 1")
#else
#define DK_UNROLL _Pragma("unroll")
#endif
#define DK_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define DK_LOCAL_ID ((dk_i32)get_local_id(0))
#define DK_GROUP_ID ((dk_i32)get_group_id(0))
#define DK_GROUP_COUNT ((dk_i32)get_num_groups(0))
// OpenCL C 1.2 promises the order to the group alone, and NVIDIA's compiler makes no more of it (membar.cta); a state
// that another group had just changed under its lock was then read as it was before, and the change lost.
#ifdef DK_IS_NVIDIA
#define DK_FENCE_GLOBAL() __asm__ volatile("membar.gl;" ::: "memory")
#else
#define DK_FENCE_GLOBAL() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#define DK_FENCE_LOCAL() mem_fence(CLK_LOCAL_MEM_FENCE)
#define DK_FENCE_global DK_FENCE_GLOBAL
#define DK_FENCE_local DK_FENCE_GLOBAL
#define DK_POPCOUNT_U32(a) popcount((dk_u32)(a))
#define DK_CTZ_U32(a) ((dk_u32)(a) == 0 ? 32U : 31U - clz((dk_u32)(a) & (0U - (dk_u32)(a))))
#define DK_F32_OF_BITS(a) as_float((dk_u32)(a))
// The sum of the products of the bytes of two words, and a third number.
DK_FN uint dk_dot_u8(uint a, uint b, uint sum) {
  return sum + (a & 255U) * (b & 255U) + (a >> 8 & 255U) * (b >> 8 & 255U) + (a >> 16 & 255U) * (b >> 16 & 255U) +
         (a >> 24) * (b >> 24);
}
#define DK_DOT_U8(a, b, sum) dk_dot_u8((a), (b), (sum))
#define DK_ANY_LANE(condition) (condition)
#define DK_NEAR static inline __attribute__((always_inline))
#define DK_FAR static __attribute__((noinline))
#define DK_APART DK_FAR
#define DK_SHARED_FN DK_NEAR
#define DK_HAS_SHUFFLE 0
#define DK_HAS_ATOMIC_ADD_F64 0

// The longest element that groups reduce has four words; every work-item has a place for one.
#define DK_SCRATCH_WORDS (4 * DK_GROUP_SIZE)

// An address is an offset into `memory`, or with its top bit set into `mapped`.
DK_FN DK_GLOBAL dk_u8* dk_at(DK_SPACES_PARAM, dk_u64 address) {
  return (address >> 63) != 0 ? mapped + (address & DK_U64(0x7FFFFFFFFFFFFFFF)) : memory + address;
}
#define DK_AT(type, address) ((DK_GLOBAL type*)dk_at(memory, mapped, (address)))
// The two do not overlap, so a pointer is into that which begins nearer before it.
DK_FN dk_u64 dk_address_of(DK_SPACES_PARAM, DK_GLOBAL const void* at) {
  dk_u64 in_memory = (dk_u64)at - (dk_u64)memory;
  dk_u64 in_mapped = (dk_u64)at - (dk_u64)mapped;
  return in_memory <= in_mapped ? in_memory : in_mapped | DK_U64(0x8000000000000000);
}
#define DK_ADDRESS_OF(pointer) dk_address_of(memory, mapped, (pointer))

#define DK_ATOMIC_ADD_U32 atomic_add
#define DK_ATOMIC_MIN_U32 atomic_min
#define DK_ATOMIC_MAX_U32 atomic_max
#define DK_ATOMIC_OR_U32 atomic_or
#define DK_ATOMIC_AND_U32 atomic_and
#define DK_ATOMIC_CAS_U32 atomic_cmpxchg
#define DK_ATOMIC_EXCHANGE_U32 atomic_xchg
#define DK_ATOMIC_ADD_U64 atom_add
#define DK_ATOMIC_MIN_U64 atom_min
#define DK_ATOMIC_MAX_U64 atom_max
#define DK_ATOMIC_OR_U64 atom_or
#define DK_ATOMIC_CAS_U64 atom_cmpxchg
#define DK_ATOMIC_EXCHANGE_U64 atom_xchg

// Adds 1, and returns what was there before.
DK_FN uint dk_count_up_global_u32(volatile DK_GLOBAL uint* at) { return atomic_inc(at); }

// OpenCL C 1.2 knows atomics without order only; a fence after one is what its devices order by.
DK_FN uint dk_load_fenced_u32(volatile DK_GLOBAL const uint* at) {
  uint value = *at;
  DK_FENCE_GLOBAL();
  return value;
}
#define DK_LOAD_ACQUIRE_U32(at) dk_load_fenced_u32(at)
DK_SHARED_FN uint dk_load_acquire_local_u32(volatile DK_LOCAL const uint* at) {
  uint value = *at;
  mem_fence(CLK_LOCAL_MEM_FENCE);
  return value;
}

// Memory that no one writes while the kernel runs.
#define DK_LOAD_X1(at, words) \
  { (words)[0] = *(DK_GLOBAL const uint*)(at); }
#define DK_LOAD_X2(at, words)                        \
  {                                                  \
    uint2 dk_loaded = *(DK_GLOBAL const uint2*)(at); \
    (words)[0] = dk_loaded.x;                        \
    (words)[1] = dk_loaded.y;                        \
  }
#define DK_LOAD_X4(at, words)                        \
  {                                                  \
    uint4 dk_loaded = *(DK_GLOBAL const uint4*)(at); \
    (words)[0] = dk_loaded.x;                        \
    (words)[1] = dk_loaded.y;                        \
    (words)[2] = dk_loaded.z;                        \
    (words)[3] = dk_loaded.w;                        \
  }
// Two words of 8 bytes, also of memory that the kernel writes.
#define DK_LOAD_PAIR(at, words)                        \
  {                                                    \
    ulong2 dk_loaded = *(DK_GLOBAL const ulong2*)(at); \
    (words)[0] = dk_loaded.x;                          \
    (words)[1] = dk_loaded.y;                          \
  }

#define DK_STORE_X2(at, words) \
  { *(DK_GLOBAL uint2*)(at) = (uint2)((words)[0], (words)[1]); }
#define DK_STORE_X4(at, words) \
  { *(DK_GLOBAL uint4*)(at) = (uint4)((words)[0], (words)[1], (words)[2], (words)[3]); }

// ---- CUDA C++. Groups are whole warps of 32; the group-wide functions are called by all of them, so that every
// shuffle has all of its lanes.
#else

#ifndef DK_LEAST_GROUPS
#define DK_LEAST_GROUPS 1
#endif
#define DK_KERNEL extern "C" __global__ __launch_bounds__(DK_GROUP_SIZE, DK_LEAST_GROUPS)
#define DK_KERNEL_OF(groups) extern "C" __global__ __launch_bounds__(DK_GROUP_SIZE, groups)
#define DK_SHARED __shared__
#define DK_SHARED_ROOM(name, words) extern __shared__ DK_ALIGN16 dk_u64 name[]
#define DK_LOCAL
#define DK_UNROLL _Pragma("unroll")
#define DK_BARRIER() __syncthreads()
#define DK_LOCAL_ID ((dk_i32)threadIdx.x)
#define DK_GROUP_ID ((dk_i32)blockIdx.x)
#define DK_GROUP_COUNT ((dk_i32)gridDim.x)
#define DK_FENCE_GLOBAL() __threadfence()
#define DK_FENCE_LOCAL() __threadfence_block()
#define DK_FENCE_global DK_FENCE_GLOBAL
#define DK_FENCE_local DK_FENCE_LOCAL
#define DK_POPCOUNT_U32(a) ((dk_u32)__popc((dk_u32)(a)))
#define DK_CTZ_U32(a) ((dk_u32)(a) == 0 ? 32U : (dk_u32)(__ffs((dk_i32)(a)) - 1))
#define DK_F32_OF_BITS(a) __int_as_float((dk_i32)(a))
#define DK_DOT_U8(a, b, sum) __dp4a((dk_u32)(a), (dk_u32)(b), (dk_u32)(sum))
#define DK_ANY_LANE(condition) (__any_sync(0xFFFFFFFFU, (condition)) != 0)
#define DK_NEAR static __device__ __forceinline__
#define DK_FAR static __device__ __noinline__
#define DK_APART DK_FN
#define DK_SHARED_FN DK_FN
#define DK_HAS_SHUFFLE 1
#ifdef DK_CHECKS_RACES
#define DK_HAS_ATOMIC_ADD_F64 0
#else
#define DK_HAS_ATOMIC_ADD_F64 1
#endif
#define DK_SHUFFLE_DOWN(value, lanes) __shfl_down_sync(0xFFFFFFFFU, (value), (lanes))
#define DK_SHUFFLE_UP(value, lanes) __shfl_up_sync(0xFFFFFFFFU, (value), (lanes))
#define DK_SHUFFLE_FROM(value, lane) __shfl_sync(0xFFFFFFFFU, (value), (lane))
#define DK_WARP_BARRIER() __syncwarp()

// A place of up to four words for every warp, of which there are at most 32.
#define DK_SCRATCH_WORDS 128

#define DK_AT(type, address) ((type*)(address))
#define DK_ADDRESS_OF(pointer) ((dk_u64)(pointer))

#define DK_ATOMIC_ADD_U32 atomicAdd
#define DK_ATOMIC_MIN_U32 atomicMin
#define DK_ATOMIC_MAX_U32 atomicMax
#define DK_ATOMIC_OR_U32 atomicOr
#define DK_ATOMIC_AND_U32 atomicAnd
#define DK_ATOMIC_CAS_U32 atomicCAS
#define DK_ATOMIC_EXCHANGE_U32 atomicExch
#define DK_ATOMIC_CAS_U64 atomicCAS
#define DK_ATOMIC_EXCHANGE_U64 atomicExch
#ifndef DK_CHECKS_RACES
#define DK_ATOMIC_ADD_U64 atomicAdd
#define DK_ATOMIC_MIN_U64 atomicMin
#define DK_ATOMIC_MAX_U64 atomicMax
#define DK_ATOMIC_OR_U64 atomicOr
#else
// Racecheck knows neither orders nor locks: to it, a plain load that meets an atomic is a hazard, and so may be the one
// that the compiler begins with where shared memory has no such instruction of 64 bits.
#define DK_LOAD_local(qualifier, type, at) atomicCAS((type*)(at), (type)0, (type)0)
#define DK_STORE_local(qualifier, type, at, value) atomicExch((type*)(at), (value))
#define DK_SWAPPED(name, type, result)                                                                   \
  DK_FN type dk_swapped_##name(type* at, type value) {                                                   \
    unsigned long long* word = (unsigned long long*)at;                                                  \
    for (type seen = (type)atomicCAS(word, 0ULL, 0ULL);;) {                                              \
      const type before = (type)atomicCAS(word, (unsigned long long)seen, (unsigned long long)(result)); \
      if (before == seen) return before;                                                                 \
      seen = before;                                                                                     \
    }                                                                                                    \
  }
DK_SWAPPED(add, unsigned long long, seen + value)
DK_SWAPPED(or, unsigned long long, seen | value)
DK_SWAPPED(min, unsigned long long, seen < value ? seen : value)
DK_SWAPPED(max, unsigned long long, seen > value ? seen : value)
DK_SWAPPED(min, long long, seen < value ? seen : value)
DK_SWAPPED(max, long long, seen > value ? seen : value)
#define DK_ATOMIC_ADD_U64 dk_swapped_add
#define DK_ATOMIC_MIN_U64 dk_swapped_min
#define DK_ATOMIC_MAX_U64 dk_swapped_max
#define DK_ATOMIC_OR_U64 dk_swapped_or
#endif

DK_FN unsigned int dk_load_ordered_u32(const unsigned int* at) {
  unsigned int value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
#define DK_LOAD_ACQUIRE_U32(at) dk_load_ordered_u32(at)
// By the address within shared memory: one within all memory takes longer.
DK_FN unsigned int dk_load_acquire_local_u32(const unsigned int* at) {
  unsigned int value;
#ifdef DK_CHECKS_RACES
  value = atomicCAS((unsigned int*)at, 0U, 0U);
  __threadfence_block();
#else
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
               : "=r"(value)
               : "r"((unsigned int)__cvta_generic_to_shared(at))
               : "memory");
#endif
  return value;
}
// Adds 1, and returns what was there before. Items of a warp that add to the same address do it together: many that do
// so one by one wait for each other.
DK_FN unsigned int dk_count_up_global_u32(unsigned int* at) {
  const unsigned int same = __match_any_sync(__activemask(), (unsigned long long)at);
  unsigned int lower, before = 0;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  if ((same & lower) == 0) before = atomicAdd(at, (unsigned int)__popc(same));
  return __shfl_sync(same, before, __ffs(same) - 1) + (unsigned int)__popc(same & lower);
}
// Shared memory adds 32 bits in one step; 64 it compares and swaps until nobody has come between.
DK_FN void dk_add_local_u64(unsigned long long* at, unsigned long long value) {
  unsigned int* words = (unsigned int*)at;
  const unsigned int low = (unsigned int)value;
  const unsigned int before = atomicAdd(words, low);
  const unsigned int high = (unsigned int)(value >> 32) + (before + low < before);
  if (high != 0) atomicAdd(words + 1, high);
}

// Memory that no one writes while the kernel runs.
#define DK_LOAD_X1(at, words) \
  { (words)[0] = __ldg((const unsigned int*)(const void*)(at)); }
#define DK_LOAD_X2(at, words)                                 \
  {                                                           \
    uint2 dk_loaded = __ldg((const uint2*)(const void*)(at)); \
    (words)[0] = dk_loaded.x;                                 \
    (words)[1] = dk_loaded.y;                                 \
  }
#define DK_LOAD_X4(at, words)                                 \
  {                                                           \
    uint4 dk_loaded = __ldg((const uint4*)(const void*)(at)); \
    (words)[0] = dk_loaded.x;                                 \
    (words)[1] = dk_loaded.y;                                 \
    (words)[2] = dk_loaded.z;                                 \
    (words)[3] = dk_loaded.w;                                 \
  }
// Two words of 8 bytes, also of memory that the kernel writes.
#define DK_LOAD_PAIR(at, words)                                   \
  {                                                               \
    ulonglong2 dk_loaded = *(const ulonglong2*)(const void*)(at); \
    (words)[0] = dk_loaded.x;                                     \
    (words)[1] = dk_loaded.y;                                     \
  }

#define DK_STORE_X2(at, words) \
  { *(uint2*)(void*)(at) = make_uint2((words)[0], (words)[1]); }
#define DK_STORE_X4(at, words) \
  { *(uint4*)(void*)(at) = make_uint4((words)[0], (words)[1], (words)[2], (words)[3]); }

#endif

#define DK_SCRATCH(name) DK_SHARED DK_ALIGN16 dk_u64 name[DK_SCRATCH_WORDS]

// ---- atomics; relaxed, in the scope of the device. Each returns what was there before.
//
// dk_atomic_{add,min,max,or}_{global,local}_{u32,u64}(at, value), dk_atomic_{min,max}_{global,local}_i64,
// dk_atomic_exchange_..., dk_atomic_cas_...(at, expected, desired), dk_atomic_add_{global,local}_f64 (returns nothing),
// dk_atomic_load_...(at), dk_atomic_store_...(at, value)
//
// Words that others write meanwhile are read and written by these alone. A load or store is one instruction, not taken
// from a register or a cache that others do not see, and 64 bits are never torn: volatile says so in both languages,
// and PTX defines it as a relaxed access. They order nothing else; that is what fences are for.
#ifndef DK_LOAD_local
#define DK_LOAD_local(qualifier, type, at) (*(volatile qualifier const type*)(at))
#define DK_STORE_local(qualifier, type, at, value) (*(volatile qualifier type*)(at) = (value))
#endif
#define DK_LOAD_global(qualifier, type, at) (*(volatile qualifier const type*)(at))
#define DK_STORE_global(qualifier, type, at, value) (*(volatile qualifier type*)(at) = (value))
#define DK_ATOMICS_OF(space, qualifier, suffix, type, SUFFIX)                                           \
  DK_SHARED_FN type dk_atomic_add_##space##_##suffix(qualifier type* at, type value) {                  \
    return DK_ATOMIC_ADD_##SUFFIX(at, value);                                                           \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_min_##space##_##suffix(qualifier type* at, type value) {                  \
    return DK_ATOMIC_MIN_##SUFFIX(at, value);                                                           \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_max_##space##_##suffix(qualifier type* at, type value) {                  \
    return DK_ATOMIC_MAX_##SUFFIX(at, value);                                                           \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_or_##space##_##suffix(qualifier type* at, type value) {                   \
    return DK_ATOMIC_OR_##SUFFIX(at, value);                                                            \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_cas_##space##_##suffix(qualifier type* at, type expected, type desired) { \
    return DK_ATOMIC_CAS_##SUFFIX(at, expected, desired);                                               \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_exchange_##space##_##suffix(qualifier type* at, type value) {             \
    return DK_ATOMIC_EXCHANGE_##SUFFIX(at, value);                                                      \
  }                                                                                                     \
  DK_SHARED_FN type dk_atomic_load_##space##_##suffix(qualifier const type* at) {                       \
    return DK_LOAD_##space(qualifier, type, at);                                                        \
  }                                                                                                     \
  DK_SHARED_FN void dk_atomic_store_##space##_##suffix(qualifier type* at, type value) {                \
    DK_STORE_##space(qualifier, type, at, value);                                                       \
  }

#define DK_ATOMICS_SIGNED(space, qualifier)                                             \
  DK_SHARED_FN dk_i64 dk_atomic_min_##space##_i64(qualifier dk_i64* at, dk_i64 value) { \
    return DK_ATOMIC_MIN_U64(at, value);                                                \
  }                                                                                     \
  DK_SHARED_FN dk_i64 dk_atomic_max_##space##_i64(qualifier dk_i64* at, dk_i64 value) { \
    return DK_ATOMIC_MAX_U64(at, value);                                                \
  }

#if DK_HAS_ATOMIC_ADD_F64
#define DK_ATOMICS_F64(space, qualifier) \
  DK_SHARED_FN void dk_atomic_add_##space##_f64(qualifier dk_f64* at, dk_f64 value) { atomicAdd(at, value); }
#else
#define DK_ATOMICS_F64(space, qualifier)                                                                  \
  DK_SHARED_FN void dk_atomic_add_##space##_f64(qualifier dk_f64* at, dk_f64 value) {                     \
    qualifier dk_u64* word = (qualifier dk_u64*)at;                                                       \
    dk_u64 seen = dk_atomic_load_##space##_u64(word);                                                     \
    for (dk_bool done = 0; !done;) {                                                                      \
      dk_u64 before = dk_atomic_cas_##space##_u64(word, seen, DK_F64_BITS(DK_F64_OF_BITS(seen) + value)); \
      done = before == seen;                                                                              \
      seen = before;                                                                                      \
    }                                                                                                     \
  }
#endif

// dk_add_<space>_u64(at, value): adds, whatever was there before
#if DK_HAS_SHUFFLE
DK_FN void dk_add_global_u64(dk_u64* at, dk_u64 value) { atomicAdd(at, value); }
#else
DK_FN void dk_add_global_u64(DK_GLOBAL dk_u64* at, dk_u64 value) { DK_ATOMIC_ADD_U64(at, value); }
DK_SHARED_FN void dk_add_local_u64(DK_LOCAL dk_u64* at, dk_u64 value) { DK_ATOMIC_ADD_U64(at, value); }
#endif

DK_ATOMICS_OF(global, DK_GLOBAL, u32, dk_u32, U32)
DK_ATOMICS_OF(global, DK_GLOBAL, u64, dk_u64, U64)
DK_ATOMICS_SIGNED(global, DK_GLOBAL)
DK_FN dk_u32 dk_atomic_and_global_u32(DK_GLOBAL dk_u32* at, dk_u32 value) { return DK_ATOMIC_AND_U32(at, value); }
DK_ATOMICS_F64(global, DK_GLOBAL)
DK_ATOMICS_OF(local, DK_LOCAL, u32, dk_u32, U32)
DK_ATOMICS_OF(local, DK_LOCAL, u64, dk_u64, U64)
DK_ATOMICS_SIGNED(local, DK_LOCAL)
DK_ATOMICS_F64(local, DK_LOCAL)

// What was written, and fenced, before this word was, is seen by what is read after it.
DK_FN dk_u32 dk_load_acquire_global_u32(DK_GLOBAL const dk_u32* at) { return DK_LOAD_ACQUIRE_U32(at); }
