// What queues were asked to do, counted where the driver is called.
#pragma once

#include <cstdint>

#include "engine/run/time_parts.h"

namespace diptych {

struct QueueWork {
  int64_t bytes_to_device = 0, bytes_to_host = 0;               // copied
  int64_t bytes_read_in_place = 0, bytes_written_in_place = 0;  // by kernels, of the host's memory over the bus
  int64_t launches = 0;                                         // of kernels; a library's own are not known
  int64_t waits = 0, wait_nanoseconds = 0;                      // of the host

  bool moves_bytes() const {
    return bytes_to_device + bytes_to_host + bytes_read_in_place + bytes_written_in_place > 0;
  }
  // What has come since `before`.
  QueueWork since(const QueueWork& before) const {
    QueueWork work = *this;
    work.bytes_to_device -= before.bytes_to_device;
    work.bytes_to_host -= before.bytes_to_host;
    work.bytes_read_in_place -= before.bytes_read_in_place;
    work.bytes_written_in_place -= before.bytes_written_in_place;
    work.launches -= before.launches;
    work.waits -= before.waits;
    work.wait_nanoseconds -= before.wait_nanoseconds;
    return work;
  }
  void add(const QueueWork& other) {
    bytes_to_device += other.bytes_to_device;
    bytes_to_host += other.bytes_to_host;
    bytes_read_in_place += other.bytes_read_in_place;
    bytes_written_in_place += other.bytes_written_in_place;
    launches += other.launches;
    waits += other.waits;
    wait_nanoseconds += other.wait_nanoseconds;
  }
};

// Of all queues that one thread uses for one purpose.
struct WorkReport {
  QueueWork work;
  PartClock* clock = nullptr;  // null: nobody wants to know the time
};

}  // namespace diptych
