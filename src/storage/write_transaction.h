// The one kind of WriteTransaction: working copies of the tables it changes, over the catalog that was current when it
// began.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "storage/change_record.h"
#include "storage/store_state.h"
#include "storage/working_table.h"

namespace diptych {

class StoredTransaction final : public WriteTransaction {
 public:
  // Waits until no one else writes. state and cancelled outlive the transaction. Errors: as StoreState::begin_writing.
  StoredTransaction(StoreState& state, const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);
  ~StoredTransaction() override;

  void create_table(TableDefinition definition) override;
  void drop_table(std::string_view name) override;
  void create_view(ViewDefinition definition, bool replace) override;
  void drop_view(std::string_view name) override;
  void append(std::string_view table, const RowBatch& batch) override;
  void erase(std::string_view table, std::span<const int64_t> positions) override;
  void truncate(std::string_view table) override;
  bool see_as_of(const TableSnapshot& older) override;
  std::shared_ptr<const CatalogSnapshot> preview() override;
  void wait_for_others() override;
  std::shared_ptr<const Savepoint> savepoint() override;
  void rollback_to(const Savepoint& savepoint) override;
  void commit() override;
  // As commit(), but a commit in the log is neither on the disk nor current before StoreState::wait_for(): so the next
  // writer begins meanwhile.
  LoggedCommit commit_to_log();

 private:
  // A table as statements see it that others have changed since their snapshot.
  struct SeenTable {
    std::shared_ptr<const TableView> view;
    OlderRows rows;
  };
  using SeenMap = std::map<std::string, SeenTable, std::less<>>;
  struct State final : Savepoint {
    TableMap tables;
    SeenMap seen;
    ViewMap views;
    uint64_t schema_version = 0;
    bool is_changed = false, is_recorded = false;
    size_t record_bytes = 0;
  };
  struct Working {
    std::unique_ptr<WorkingTable> latest, seen;  // seen: null: they are the same
  };

  // Errors: 42P07 a table or view has the name.
  void check_is_free(const std::string& name) const;
  // Lets the next writer go on.
  void end() noexcept;
  // Of a table as a whole.
  void note_change();
  void note_new_schema();
  void stop_recording();
  Working& open_for_append(std::string_view name);
  // In the version that is seen, which has the positions, and in the latest one.
  void erase_both(std::string_view table, Working& working, std::span<const int64_t> positions);
  // Changes the latest version, and the one that is seen where that is another one. Errors: those of the change; 40001
  // instead of 23505 for a key that only one of them has twice.
  static void change_both(Working& working, const std::function<void(WorkingTable&)>& change);
  // The tables as they are now, all rows in their directories.
  TableMap collect();
  // Whether a change that takes so many bytes is to be recorded; if not, nothing is any more.
  bool is_recorded(int64_t bytes);

  StoreState& state_;
  std::optional<HeldTurn> turn_;
  const std::atomic<bool>* const cancelled_;
  std::shared_ptr<const CatalogView> base_;  // nullptr: ended
  int64_t base_place_ = 0;                   // in the log, behind what led to it
  TableMap tables_;
  SeenMap seen_;
  ViewMap views_;
  std::map<std::string, Working, std::less<>> working_;
  bool is_changed_ = false, has_erased_ = false;
  bool is_recorded_ = false;  // record_ has all that was changed; not where the commit would not be logged
  ChangeRecord record_;
  uint64_t schema_version_ = 0;
  std::shared_ptr<const CatalogSnapshot> preview_;  // of what is changed; nullptr: not made since the last change
  bool is_usable_ = true;                           // false after an error, and after commit()
};

}  // namespace diptych
