#include "engine/rows/chunk_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <utility>

#include "base/fault_file_system.h"

namespace diptych {
namespace {

constexpr size_t chunk_bytes = 1 << 20;

// A file system whose files wait before they write, until they may.
class SlowFiles final : public FileSystem {
 public:
  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override {
    return std::make_unique<SlowFile>(*this, files_.open(path, mode));
  }
  bool exists(const std::string& path) override { return files_.exists(path); }
  void remove(const std::string& path) override { files_.remove(path); }
  void rename(const std::string& from, const std::string& to) override { files_.rename(from, to); }
  void sync_directory(const std::string& path) override { files_.sync_directory(path); }

  std::promise<void> begun, may_write;

 private:
  class SlowFile final : public File {
   public:
    SlowFile(SlowFiles& files, std::unique_ptr<File> file)
        : File(file->path()), files_(files), file_(std::move(file)) {}
    int64_t size() const override { return file_->size(); }
    void truncate(int64_t bytes) override { file_->truncate(bytes); }
    void sync() override { file_->sync(); }
    void lock(LockMode mode) override { file_->lock(mode); }
    void will_read(int64_t offset, int64_t bytes) const override { file_->will_read(offset, bytes); }

   protected:
    int64_t read_some(int64_t offset, std::span<std::byte> into) const override {
      file_->read_at(offset, into);
      return static_cast<int64_t>(into.size());
    }
    int64_t write_some(int64_t offset, std::span<const std::byte> bytes) override {
      if (!std::exchange(files_.has_begun_, true)) {
        files_.begun.set_value();
        files_.may_write.get_future().wait();
      }
      file_->write_at(offset, bytes);
      return static_cast<int64_t>(bytes.size());
    }

   private:
    SlowFiles& files_;
    std::unique_ptr<File> file_;
  };

  MemoryFileSystem files_;
  bool has_begun_ = false;  // by the one thread that writes
};

class ChunkStoreTest : public ::testing::Test {
 protected:
  // A batch of one chunk whose bytes are all this one; where it was.
  const std::byte* add_batch(std::byte value) {
    const size_t batch = store_.open_batch();
    std::vector<Chunk> chunks;
    chunks.push_back(memory_.allocate(chunk_bytes, "test"));
    std::memset(chunks[0].data(), static_cast<int>(value), chunk_bytes);
    const std::byte* where = chunks[0].data();
    store_.close_batch(batch, std::move(chunks), true);
    return where;
  }

  SlowFiles files_;
  TempSpace temp_{files_, "test"};
  MemoryBudget budget_{3 * chunk_bytes};
  Memory memory_{nullptr, &budget_, &temp_};
  ChunkStore store_{memory_};
};

TEST_F(ChunkStoreTest, ReadersAndWritersDoNotWaitForTheFile) {
  const std::byte* first = add_batch(std::byte{1});
  add_batch(std::byte{2});
  add_batch(std::byte{3});
  auto another = std::async(std::launch::async, [&] { return budget_.try_reserve(chunk_bytes); });
  files_.begun.get_future().wait();
  // The first batch is being written: it and all others can be read, and further ones be begun.
  EXPECT_TRUE(store_.hold(1));
  store_.let_go(1);
  EXPECT_TRUE(store_.hold(0));
  store_.let_go(0);
  EXPECT_EQ(store_.open_batch(), 3U);
  files_.may_write.set_value();
  EXPECT_TRUE(another.get());
  ASSERT_FALSE(store_.hold(0));
  std::byte value{};
  store_.read(0, first + chunk_bytes - 1, {&value, 1});
  EXPECT_EQ(value, std::byte{1});
  budget_.release(chunk_bytes);
}

TEST_F(ChunkStoreTest, WhatIsHeldWhileItIsWrittenStays) {
  add_batch(std::byte{1});
  add_batch(std::byte{2});
  add_batch(std::byte{3});
  auto another = std::async(std::launch::async, [&] { return budget_.try_reserve(chunk_bytes); });
  files_.begun.get_future().wait();
  EXPECT_TRUE(store_.hold(0));
  files_.may_write.set_value();
  EXPECT_TRUE(another.get()) << "the next one moves";
  EXPECT_FALSE(store_.hold(1));
  store_.let_go(0);
  EXPECT_TRUE(store_.hold(0)) << "still in memory";
  store_.let_go(0);
  budget_.release(chunk_bytes);
}

}  // namespace
}  // namespace diptych
