// What a device is told of a section that it may run in place of the CPU, and what it makes of it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/rows/host_row_set.h"
#include "engine/run/context.h"
#include "engine/run/placed_run.h"
#include "engine/run/tablet_queue.h"
#include "engine/run/zone_test.h"
#include "program/program.h"

namespace diptych {

class Device;

// The CPU's part in a section whose tablets a device takes, too; see shared_section.h.
class SectionPartner {
 public:
  virtual ~SectionPartner() = default;
  // Takes tablets until there are none left. Errors: those of the section's rows, 53200, 57014.
  virtual void work(TabletQueue& queue) = 0;
  // Forgets what work() has made: it or the device failed, and the CPU may have to do everything.
  virtual void forget() = 0;
};

// Groups of a hash table that several sections fill, for as long as a device has them.
class OpenGroups {
 public:
  virtual ~OpenGroups() = default;
  virtual Device& device() const = 0;
  // How they were made; afterwards it says in how many passes, too.
  virtual FormProfile form() const = 0;
  // The groups, once all sections are through. Errors: 22003, 53200, 58000.
  virtual std::shared_ptr<const RowSet> close() = 0;
};
using OpenTables = std::map<int32_t, std::shared_ptr<OpenGroups>>;  // by hash table

// An index of the program in the memory of a device.
class DeviceIndex {
 public:
  virtual ~DeviceIndex() = default;
  virtual Device& device() const = 0;
  virtual FormProfile form() const = 0;
  // Of its build, by the device's clock, where somebody wants to know; 0 where the driver does not tell. Waits for it.
  virtual int64_t kernel_nanoseconds() const = 0;
};
using DeviceIndexes = std::map<int32_t, std::shared_ptr<DeviceIndex>>;  // by index

// What one is to be built of.
struct IndexTask {
  const Program& program;
  int32_t index;
  std::shared_ptr<const RowSet> rows;
  const ExecutionContext& context;
  WorkReport* report;                            // of what the device does meanwhile; null: nobody wants to know
  int64_t wanted = -1;                           // as SectionTask has it, of the program's sections
  std::unique_ptr<PlacedRun>* placed = nullptr;  // as SectionTask has it
};

class StartedSection;
using StartedSections = std::map<int32_t, std::unique_ptr<StartedSection>>;  // by address

struct SectionTask {
  const Program& program;
  int32_t address;  // of the Parallel
  std::shared_ptr<const TabletSource> source;
  int64_t wanted;  // rows of Result sinks after which the section may stop; -1: all
  const ExecutionContext& context;
  const NeededTablets& needed;        // of the source, by the cursor's conditions
  SectionPartner* partner = nullptr;  // null: there is none
  const OpenTables* open = nullptr;   // that sections before have filled on a device; null: none
  TabletQueue* queue = nullptr;       // where to take tablets from; null: all tablets are to be done
  WorkReport* report = nullptr;       // of the thread that runs it; null: not wanted
  // Of the run: empty until the first section is placed, and with it all others; null: each for itself.
  std::unique_ptr<PlacedRun>* placed = nullptr;
  const DeviceIndexes* indexes = nullptr;  // that devices have built; null: none
  StartedSections* started = nullptr;      // this one may be among them; null: none was

  PartClock* clock() const { return report != nullptr ? report->clock : nullptr; }
  const CursorInfo& cursor() const {
    return program.cursors[static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1)];
  }
};

// A row set that an engine has made, and how.
struct MadeRows {
  std::shared_ptr<const RowSet> rows;
  FormProfile form;
};

// What a section has written to the result.
struct ResultPiece {
  HostPiece rows;
  size_t tablet = 0;  // of the source: they are of this one and of others behind it
};

struct SectionResult {
  std::vector<ResultPiece> rows;       // in order
  std::map<int32_t, MadeRows> groups;  // by hash table that it fills
  OpenTables open;                     // those that other sections fill, too
  MadeRows appended;                   // of the row set that the section appends to, in its order; null: of none
  bool is_shared = false;              // the partner has the rest
  SectionProfile profile;
};

// A section that a device works on before it is its turn.
class StartedSection {
 public:
  virtual ~StartedSection() = default;
  virtual Device& device() const = 0;
  // What it has made, once. Nothing: it has to run anew, and `reason` says why. Errors: as SectionRunner::run(), and
  // those of a device.
  virtual std::optional<SectionResult> finish(std::string& reason) = 0;
};

}  // namespace diptych
