// The kernels of kernel/device that sort, on one device, each compiled when it is first used.
//
// Thread safety: yes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "engine/device/device.h"

namespace diptych::gpu {

class SortKernels {
 public:
  static constexpr int group_size = 256;
  static constexpr int64_t tile_rows = 2048;  // DK_RUN_TILE

  explicit SortKernels(Device& device);

  // Groups for kernels in which a work-item takes rows that are a grid apart.
  int64_t groups_for(int64_t rows) const;
  // Groups for kernels in which a group takes a run of tiles.
  int64_t groups_for_tiles(int64_t rows) const;
  static KernelText text_of(const std::string& entry);

  // Errors: 58000 with the compiler's log.
  void launch(Queue& queue, const std::string& entry, int64_t groups, std::span<const uint64_t> parameters) const;
  void launch(Queue& queue, const std::string& entry, int64_t groups,
              std::initializer_list<uint64_t> parameters) const {
    launch(queue, entry, groups, std::span<const uint64_t>(parameters.begin(), parameters.size()));
  }

 private:
  std::shared_ptr<const Kernel> find(const Queue& queue, const std::string& entry) const;

  Device& device_;
  int64_t most_groups_;
  mutable std::mutex mutex_;  // kernels_
  mutable std::map<std::string, std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace diptych::gpu
