// The kernels that a program will need on a device, found before its sections run, so that they are compiled at the
// same time. Only those whose text is certain:
//
//   Table    how its tablets are stored is known                    ->  the kernel of a section that reads it,
//   Groups   of a table that a section fills whose kernel is known:      those of its groups, sort and strings
//            the plan of these groups says how they will be stored
//   Sort     its rows go to the host, and no kernel reads them
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "cost/transport.h"
#include "engine/gpu/gpu_engine.h"
#include "program/program.h"

namespace diptych::gpu {

class ProgramKernels {
 public:
  // Whether the section behind the Parallel at `address`, which reads so many rows of a table, or of groups (null),
  // will run on the device.
  using Admits = std::function<bool(int32_t address, const TabletSource* table, int64_t rows)>;
  // Everything outlives it.
  ProgramKernels(GpuEngine& engine, const Program& program, Residency residency, const Admits& admits)
      : engine_(engine), program_(program), residency_(residency), admits_(admits) {}

  // Of the section behind the Parallel at `address`, which reads these rows there, and of those behind it, in the order
  // in which they are needed; those that may not be needed come last.
  std::vector<KernelText> find(int32_t address, const TabletSource& rows);

 private:
  struct Cursor {
    const TabletSource* rows = nullptr;
    int32_t hash_table = -1;  // whose groups it shows
  };
  std::optional<SectionShape> shape_of(int32_t address, const TabletSource& rows) const;
  std::optional<SectionShape> shape_of(int32_t address, const Cursor& cursor) const;
  std::optional<SectionShape> shape_of_groups(int32_t address, int32_t hash_table) const;
  // Whether it goes on filling a hash table that will be open on the device.
  bool continues(int32_t address) const;
  void add_section(int32_t address, std::optional<SectionShape> shape);
  void add_kernels_behind(const SectionKernel& kernel, int32_t address);

  GpuEngine& engine_;
  const Program& program_;
  const Residency residency_;
  const Admits& admits_;
  std::vector<KernelText> always_, sometimes_;
  std::map<int32_t, GroupPlan> plans_;  // by hash table that is filled by sections so far
};

}  // namespace diptych::gpu
