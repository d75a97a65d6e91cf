// What a device has made and the host keeps takes its part of memory_limit, as what the CPU makes does.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/memory_budget.h"

namespace diptych::gpu {

// memory_limit has no room, whatever the device has. 53200.
class NoHostMemory final : public Error {
 public:
  using Error::Error;
};

// Thread safety: none of its own.
class HostBytes {
 public:
  // budget: null: nothing is counted. what: for the error's message.
  HostBytes(MemoryBudget* budget, const char* what) : budget_(budget), what_(what) {}
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  ~HostBytes() {
    if (budget_ != nullptr) budget_->release(bytes_);
  }
  // Errors: NoHostMemory.
  void add(int64_t bytes) {
    if (budget_ == nullptr) return;
    if (!budget_->try_reserve(bytes))
      throw NoHostMemory(SqlState::out_of_memory, std::string("memory_limit has no room for ") + what_, -1,
                         std::to_string(bytes) + " bytes were asked for, and " + std::to_string(budget_->used()) +
                             " of " + std::to_string(budget_->limit()) + " are in use");
    bytes_ += bytes;
  }

 private:
  MemoryBudget* budget_;
  const char* what_;
  int64_t bytes_ = 0;
};

}  // namespace diptych::gpu
