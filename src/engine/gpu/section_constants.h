// What a program brings along besides its instructions, in device memory: strings, lookup tables, dictionaries, IN
// lists. Numbers go into the kernel's parameters directly.
//
//   block   |literal 'AIR'|lookup 0: entries, NULLs|set 1: sorted values|dictionary of column 2: offsets, bytes| ...
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

class SectionConstants {
 public:
  // dictionaries: by column of the section; nullptr where there is none.
  // most_string_bytes: of the strings of one dictionary, set or lookup, whose offsets have 32 bits. Errors: 53200 where
  // they are more.
  SectionConstants(const Program& program, const SectionKernel& kernel, std::span<const Dictionary* const> dictionaries,
                   size_t most_string_bytes = std::numeric_limits<uint32_t>::max());

  // Copies the block to the device, behind which the queue's work may use it. Errors: 53200.
  void upload(GpuEngine& engine, Queue& queue);
  // The word of a parameter of a kind that is kept here.
  uint64_t word(const KernelParameter& parameter) const;

 private:
  struct Place {
    int64_t offset = 0;
    bool is_address = true;
    uint64_t value = 0;
  };
  void add_parameter(const Program& program, const SectionKernel& kernel, const KernelParameter& parameter,
                     std::span<const Dictionary* const> dictionaries);
  void add_constant(const Program& program, const KernelParameter& parameter);
  void add_lookup(const LookupTable& table, int32_t index);
  void add_set(const ValueSet& set, int32_t index);
  void add_strings(std::span<const std::string_view> strings, KernelParameter offsets, KernelParameter bytes);
  int64_t append(const void* data, size_t bytes);
  void put_address(const KernelParameter& parameter, int64_t offset);
  void put_value(const KernelParameter& parameter, uint64_t value);
  static int64_t key_of(const KernelParameter& parameter);

  const size_t most_string_bytes_;
  std::map<int64_t, Place> places_;
  std::vector<std::byte> block_;
  PinnedBuffer sent_;
  DeviceBuffer device_;
};

}  // namespace diptych::gpu
