// What a section reads, made ready once: segments, how they are stored, and descriptions of the tablets in device
// memory. A statement on a table that has not changed finds it again, and then does nothing tablet by tablet. Where the
// table has changed, the input of another state of it is kept for that: of the ranges that are the same nothing is done
// again. Of a state that nobody reads any more it is kept until then, or until memory is short.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/gpu/input/input_range.h"
#include "engine/gpu/input/tablet_descriptions.h"
#include "engine/gpu/section_kernel.h"
#include "program/program.h"

namespace diptych::gpu {

struct SectionInput {
  std::vector<std::shared_ptr<const InputRange>> ranges;
  DeviceBuffer copies;  // of pinned segments, streamed
  // Segments that were on their way to the device when it was made.
  std::vector<std::shared_ptr<const ColumnSegment>> arriving;
  SectionShape shape;
  std::vector<const Dictionary*> dictionaries;                          // by column of the section
  int64_t rows = 0, bytes = 0;                                          // of the needed tablets; encoded
  std::map<int64_t, std::shared_ptr<TabletDescriptions>> descriptions;  // by rows of a tile
  // Of some of its tablets, from the first to before the second.
  std::map<std::pair<size_t, size_t>, std::shared_ptr<SectionInput>> parts;
  // Of another state of the table, for ranges that are the same; goes as it is used.
  std::map<int64_t, std::shared_ptr<TabletDescriptions>> earlier_descriptions;
  std::mutex mutex;  // guards all from descriptions on, and shares

  // What the queue is given from now on finds the columns where they are told to be.
  void wait_in(Queue& queue) const;
  // Of the rows, how many came out of a section before, which a hash of its signature stands for; nullopt: not known.
  std::optional<double> share_of(size_t section);
  void note_share(size_t section, double share);
  // Takes over what is known of another state of the same table.
  void learn_from(SectionInput& earlier);

 private:
  std::map<size_t, double> shares_;
};

class InputCache {
 public:
  using Place = ColumnSegment::Place;
  // The input of all tablets of the source, if it is still there.
  std::shared_ptr<SectionInput> find(const std::shared_ptr<const TabletSource>& source,
                                     const std::vector<size_t>& columns, Place place);
  // An input of the same columns that is of another state of the table, and has some of its tablets; null: none is
  // there.
  std::shared_ptr<SectionInput> find_earlier(const TabletSource& source, const std::vector<size_t>& columns,
                                             Place place);
  // Whether a statement reads it, or one may.
  enum class For : uint8_t { Statement, Later };
  // In the place of those of sources, or states of the table, that nobody has any more.
  void keep(const std::shared_ptr<const TabletSource>& source, const std::vector<size_t>& columns, Place place,
            std::shared_ptr<SectionInput> input, For whom);
  struct Earlier {
    std::vector<size_t> columns;
    std::shared_ptr<SectionInput> input;
  };
  // Those on the device that a statement has read, of other states of the table alone. None is told twice until a
  // statement has read it again.
  std::vector<Earlier> take_read(const std::shared_ptr<const TabletSource>& table);
  // Lets go of what nobody reads any more, or of everything, so that segments can be evicted.
  void forget_past();
  void clear();

 private:
  struct Entry {
    std::weak_ptr<const TabletSource> source;
    std::vector<size_t> columns;
    Place place;
    std::shared_ptr<SectionInput> input;
    bool was_read = false;  // by a statement, and not taken since
    // Whether its source is a table, of which there may be other states; others, as rows of a section before, have
    // none.
    bool is_of_table() const;
    // Whether it is of some state of the source's table.
    bool is_of(const TabletSource& table, const std::vector<size_t>& its_columns, Place its_place) const;
  };
  using Entries = std::list<Entry>;
  // With the mutex: entries that nobody reads any more, and that are meant.
  template <typename Test>
  void move_past(Entries& to, Test&& is_meant);

  std::mutex mutex_;
  Entries entries_;  // used last first
};

}  // namespace diptych::gpu
