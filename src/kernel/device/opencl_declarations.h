// The functions of OpenCL C that kernels call, for PoCL, which otherwise reads the 18,000 lines in which Clang declares
// all of them (its opencl-c.h) for every kernel: that is four fifths of the time in which PoCL opens a kernel that it
// has compiled before, and nearly half of the time in which it compiles one. What stands before all other text, with
// -D_OPENCL_H_ among the options, which is the guard of Clang's file. Attributes are as there.
#pragma once

#define DK_DECLARE __attribute__((overloadable))
#define DK_DECLARE_CONST __attribute__((overloadable, const))

DK_DECLARE_CONST size_t get_local_id(uint);
DK_DECLARE_CONST size_t get_group_id(uint);
DK_DECLARE_CONST size_t get_num_groups(uint);
__attribute__((overloadable, convergent)) void barrier(cl_mem_fence_flags);
DK_DECLARE void mem_fence(cl_mem_fence_flags);

DK_DECLARE_CONST uint popcount(uint);
DK_DECLARE_CONST uint clz(uint);
DK_DECLARE_CONST ulong clz(ulong);
DK_DECLARE_CONST ulong mul_hi(ulong, ulong);

#define DK_DECLARE_MATH1(name) DK_DECLARE_CONST double name(double);
#define DK_DECLARE_MATH2(name) DK_DECLARE_CONST double name(double, double);
DK_DECLARE_MATH1(acos)
DK_DECLARE_MATH1(asin)
DK_DECLARE_MATH1(atan)
DK_DECLARE_MATH1(cbrt)
DK_DECLARE_MATH1(ceil)
DK_DECLARE_MATH1(cos)
DK_DECLARE_MATH1(exp)
DK_DECLARE_MATH1(fabs)
DK_DECLARE_MATH1(floor)
DK_DECLARE_MATH1(log)
DK_DECLARE_MATH1(log10)
DK_DECLARE_MATH1(rint)
DK_DECLARE_MATH1(sin)
DK_DECLARE_MATH1(sqrt)
DK_DECLARE_MATH1(tan)
DK_DECLARE_MATH1(trunc)
DK_DECLARE_MATH2(atan2)
DK_DECLARE_MATH2(fmod)
DK_DECLARE_MATH2(pow)
DK_DECLARE_CONST float fabs(float);

#define DK_DECLARE_ATOMICS_U32(space)                      \
  DK_DECLARE uint atomic_add(volatile space uint*, uint);  \
  DK_DECLARE uint atomic_min(volatile space uint*, uint);  \
  DK_DECLARE uint atomic_max(volatile space uint*, uint);  \
  DK_DECLARE uint atomic_or(volatile space uint*, uint);   \
  DK_DECLARE uint atomic_and(volatile space uint*, uint);  \
  DK_DECLARE uint atomic_xchg(volatile space uint*, uint); \
  DK_DECLARE uint atomic_cmpxchg(volatile space uint*, uint, uint);
#define DK_DECLARE_ATOMICS_U64(space)                                 \
  DK_DECLARE ulong atom_add(volatile space ulong*, ulong);            \
  DK_DECLARE ulong atom_min(volatile space ulong*, ulong);            \
  DK_DECLARE ulong atom_max(volatile space ulong*, ulong);            \
  DK_DECLARE ulong atom_or(volatile space ulong*, ulong);             \
  DK_DECLARE ulong atom_xchg(volatile space ulong*, ulong);           \
  DK_DECLARE ulong atom_cmpxchg(volatile space ulong*, ulong, ulong); \
  DK_DECLARE long atom_min(volatile space long*, long);               \
  DK_DECLARE long atom_max(volatile space long*, long);
DK_DECLARE_ATOMICS_U32(__global)
DK_DECLARE_ATOMICS_U32(__local)
DK_DECLARE_ATOMICS_U64(__global)
DK_DECLARE_ATOMICS_U64(__local)
DK_DECLARE uint atomic_inc(volatile __global uint*);
