#include "storage/file/commit_log.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"

namespace diptych {
namespace {

// Of a record; its bytes follow, and zeros up to a multiple of record_alignment.
struct RecordHead {
  uint64_t checksum;  // of all that follows it, the record's bytes included
  uint64_t sequence;  // of the checkpoint
  int64_t place;      // bytes of the log before this record
  uint64_t previous;  // checksum of the record before; of the checkpoint, where there is none
  int64_t durable;    // the log was on the disk up to here when this was written
  int64_t bytes;      // of the record
};
constexpr int64_t head_bytes = sizeof(RecordHead);
constexpr int64_t record_alignment = 8;
// The file grows by so many, so that most syncs change no size.
constexpr int64_t growth_bytes = int64_t{1} << 20;

int64_t bytes_with_head(int64_t bytes) {
  return head_bytes + (bytes + record_alignment - 1) / record_alignment * record_alignment;
}

uint64_t checksum_of_record(std::span<const std::byte> record, const Checkpoint& checkpoint) {
  const auto behind = record.subspan(sizeof(uint64_t));
  return XXH3_64bits_withSeed(behind.data(), behind.size(), checkpoint.checksum);
}

// The record that begins at the place, if it is one of the checkpoint and as it was written.
std::optional<RecordHead> record_at(std::span<const std::byte> log, int64_t place, const Checkpoint& checkpoint) {
  const auto left = static_cast<int64_t>(log.size()) - place;
  if (left < head_bytes) return std::nullopt;
  RecordHead head{};
  std::memcpy(&head, log.data() + place, sizeof(head));
  if (head.sequence != checkpoint.sequence || head.place != place) return std::nullopt;
  if (head.bytes < 0 || head.bytes > left - head_bytes) return std::nullopt;
  const auto record = log.subspan(static_cast<size_t>(place), static_cast<size_t>(head_bytes + head.bytes));
  if (checksum_of_record(record, checkpoint) != head.checksum) return std::nullopt;
  return head;
}

}  // namespace

CommitLog::CommitLog(FileSystem& files, const std::string& database, bool to_read)
    : files_(files), path_(path_of(database)) {
  if (!files_.exists(path_)) return;
  file_ = files_.open(path_, to_read ? OpenMode::Read : OpenMode::ReadWrite);
  file_bytes_ = file_->size();
}

std::vector<std::vector<std::byte>> CommitLog::read(const Checkpoint& checkpoint) {
  restart(checkpoint, end());
  std::vector<std::byte> log(static_cast<size_t>(file_bytes_));
  if (file_ != nullptr) file_->read_at(0, log);
  std::vector<std::vector<std::byte>> records;
  int64_t place = 0;
  for (auto head = record_at(log, place, checkpoint); head && head->previous == last_;
       head = record_at(log, place, checkpoint)) {
    const auto* data = log.data() + place + head_bytes;
    records.emplace_back(data, data + head->bytes);
    place += bytes_with_head(head->bytes);
    last_ = head->checksum;
  }
  check_nothing_lost(log, place);
  const std::lock_guard lock(mutex_);
  written_ = durable_ = first_ + place;
  return records;
}

void CommitLog::check_nothing_lost(std::span<const std::byte> log, int64_t place) const {
  for (int64_t at = place; at < static_cast<int64_t>(log.size()); at += record_alignment) {
    const auto head = record_at(log, at, checkpoint_);
    if (head && head->durable > place)
      throw Error(SqlState::data_corrupted, "\"" + path_ + "\" is damaged at byte " + std::to_string(place), -1,
                  "A commit that was on the disk can't be read any more.");
  }
}

void CommitLog::restart(const Checkpoint& checkpoint, int64_t kept) {
  const std::lock_guard lock(mutex_);
  checkpoint_ = checkpoint;
  last_ = checkpoint.checksum;
  // The checkpoint is at another place than what is given up.
  if (kept < written_) lost_.push_back({kept, written_++, failure_});
  first_ = durable_ = written_;
  failure_ = nullptr;
  wake();
}

void CommitLog::remove() noexcept {
  try {
    file_ = nullptr;
    file_bytes_ = 0;
    if (files_.exists(path_)) files_.remove(path_);
  } catch (const Error&) {
    // Its records are of no checkpoint that holds.
  }
}

void CommitLog::open() {
  if (file_ != nullptr) return;
  file_ = files_.open(path_, OpenMode::Create);
  file_bytes_ = file_->size();
  files_.sync_directory(path_);
}

int64_t CommitLog::append(std::span<const std::byte> record) {
  try {
    open();
    RecordHead head = {.checksum = 0,
                       .sequence = checkpoint_.sequence,
                       .place = bytes(),
                       .previous = last_,
                       .durable = durable_bytes(),
                       .bytes = static_cast<int64_t>(record.size())};
    const int64_t end = head.place + bytes_with_head(head.bytes);
    const int64_t grown = end <= file_bytes_ ? end : (end + growth_bytes - 1) / growth_bytes * growth_bytes;
    std::vector<std::byte> bytes(static_cast<size_t>(grown - head.place));
    std::memcpy(bytes.data(), &head, sizeof(head));
    if (!record.empty()) std::memcpy(bytes.data() + head_bytes, record.data(), record.size());
    head.checksum =
        checksum_of_record(std::span(bytes).first(static_cast<size_t>(head_bytes) + record.size()), checkpoint_);
    std::memcpy(bytes.data(), &head, sizeof(head));
    file_->write_at(head.place, bytes);
    file_bytes_ = std::max(file_bytes_, grown);
    last_ = head.checksum;
    const std::lock_guard lock(mutex_);
    return written_ = first_ + end;
  } catch (...) {
    break_off(std::current_exception());
    throw;
  }
}

void CommitLog::break_off(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

void CommitLog::wait_for(int64_t place) {
  std::unique_lock lock(mutex_);
  while (!is_durable(place)) {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    if (!is_syncing_) {
      sync(lock);
      continue;
    }
    Waiter waiter(place);
    waiters_.push_back(&waiter);
    lock.unlock();
    waiter.woken.acquire();
    lock.lock();
  }
}

bool CommitLog::is_durable(int64_t place) const {
  const auto lost = std::partition_point(lost_.begin(), lost_.end(), [&](const Lost& one) { return one.end < place; });
  if (lost != lost_.end() && lost->begin < place) std::rethrow_exception(lost->failure);
  return place <= durable_;
}

void CommitLog::sync(std::unique_lock<std::mutex>& lock) {
  is_syncing_ = true;
  const int64_t until = written_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    file_->sync();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  is_syncing_ = false;
  if (failure != nullptr)
    failure_ = failure;
  else if (failure_ == nullptr)  // else somebody may have gone on from what was known to be on the disk
    durable_ = std::max(durable_, until);
  wake();
}

// Those that are done, and the first of the others, which syncs for them.
void CommitLog::wake() {
  bool has_syncer = false;
  std::erase_if(waiters_, [&](Waiter* waiter) {
    const bool is_done = waiter->place <= durable_ || failure_ != nullptr;
    if (!is_done && std::exchange(has_syncer, true)) return false;
    waiter->woken.release();
    return true;
  });
}

int64_t CommitLog::end() const {
  const std::lock_guard guard(mutex_);
  return written_;
}

int64_t CommitLog::durable() const {
  const std::lock_guard guard(mutex_);
  return durable_;
}

int64_t CommitLog::bytes() const {
  const std::lock_guard lock(mutex_);
  return written_ - first_;
}

int64_t CommitLog::durable_bytes() const {
  const std::lock_guard lock(mutex_);
  return durable_ - first_;
}

void CommitLog::raise_failure() const {
  const std::lock_guard lock(mutex_);
  check_invariant(failure_ != nullptr, "a log that is not broken has no failure");
  std::rethrow_exception(failure_);
}

bool CommitLog::is_broken() const {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

}  // namespace diptych
