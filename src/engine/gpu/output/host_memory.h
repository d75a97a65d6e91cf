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

// Errors: NoHostMemory.
inline void reserve_on_host(MemoryReservation& reservation, int64_t bytes) {
  if (reservation.try_grow(bytes)) return;
  const MemoryBudget& budget = *reservation.budget();
  throw NoHostMemory(SqlState::out_of_memory, std::string("memory_limit has no room for ") + reservation.what(), -1,
                     std::to_string(bytes) + " bytes were asked for, and " + std::to_string(budget.used()) + " of " +
                         std::to_string(budget.limit()) + " are in use");
}

}  // namespace diptych::gpu
