// Pipes as data files: read whole, into memory or a temporary file, until somebody cancels.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/posix_file_system.h"
#include "base/temp_space.h"
#include "io/data_writer.h"
#include "io/file_rows.h"

namespace diptych {
namespace {

using testing::error_of;
using testing::message_of;
using testing::rows_of;
using testing::state_of;
using testing::type;

class PipeTest : public ::testing::Test {
 protected:
  PipeTest() {
    ::signal(SIGPIPE, SIG_IGN);  // of writers whose reader has failed
    std::string name = ::testing::TempDir() + "diptych_pipe_XXXXXX";
    directory_ = ::mkdtemp(name.data());
    pipe_ = directory_ + "/pipe";
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
  }
  ~PipeTest() override {
    if (writer_.joinable()) writer_.join();
    std::filesystem::remove_all(directory_);
  }
  void write(std::string text) {
    writer_ = std::thread([this, text = std::move(text)] { std::ofstream(pipe_, std::ios::binary) << text; });
  }

  PosixFileSystem files_;
  std::string directory_, pipe_;
  TempSpace temp_{files_, ::testing::TempDir() + "diptych_pipe_tmp-"};
  std::atomic<bool> cancelled_{false};
  ReadContext context_{files_, &temp_, &cancelled_};
  std::vector<ColumnDefinition> two_{{"a", type(TypeId::Integer)}, {"b", type(TypeId::Text)}};
  std::thread writer_;
};

TEST_F(PipeTest, AShortCsvFile) {
  write("1,x\n2,y\n");
  EXPECT_EQ(rows_of(*open_data_file(context_, pipe_, {}, two_)), (std::vector<std::string>{"1|x", "2|y"}));
  EXPECT_EQ(temp_.used(), 0);
}

TEST_F(PipeTest, AnEmptyOne) {
  write("");
  EXPECT_TRUE(rows_of(*open_data_file(context_, pipe_, {}, two_)).empty());
}

TEST_F(PipeTest, ALongOneGoesToATemporaryFile) {
  std::string text = "id,word\n";
  constexpr int rows = 1500000;
  for (int i = 0; i < rows; ++i) text += std::to_string(i) + ",w\n";
  ASSERT_GT(text.size(), size_t{9} << 20);
  write(text);
  auto source = open_file_source(context_, pipe_, {});
  EXPECT_GT(temp_.used(), 0);
  EXPECT_EQ(source->row_count(), rows);
  source.reset();
  EXPECT_EQ(temp_.used(), 0);
}

TEST_F(PipeTest, TheTemporaryFileIsLimited) {
  temp_.set_limit(1 << 20);
  write(std::string(size_t{12} << 20, 'x'));
  EXPECT_EQ(state_of(error_of([&] { open_file_source(context_, pipe_, {}); })), SqlState::disk_full);
}

TEST_F(PipeTest, AParquetFile) {
  write("1,x\n2,y\n");
  auto rows = open_file_source(context_, pipe_, {});
  writer_.join();
  FileOptions parquet;
  parquet.format = FileFormat::Parquet;
  write_data_file(files_, directory_ + "/x.parquet", parquet, *rows);
  std::ifstream written(directory_ + "/x.parquet", std::ios::binary);
  write({std::istreambuf_iterator<char>(written), {}});
  EXPECT_EQ(rows_of(*open_file_source(context_, pipe_, parquet)), (std::vector<std::string>{"1|x", "2|y"}));
}

TEST_F(PipeTest, WaitingEndsWhenCancelled) {
  writer_ = std::thread([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled_ = true;
  });
  EXPECT_EQ(state_of(error_of([&] { open_data_file(context_, pipe_, {}, two_); })), SqlState::query_canceled);
}

TEST_F(PipeTest, WhatIsNoFileIsRefusedByName) {
  EXPECT_EQ(message_of(error_of([&] { open_data_file(context_, directory_, {}, two_); })),
            "\"" + directory_ + "\" is a directory");
  EXPECT_EQ(state_of(error_of([&] { open_data_file(context_, "/dev/zero", {}, two_); })), SqlState::wrong_object_type);
  EXPECT_TRUE(rows_of(*open_data_file(context_, "/dev/null", {}, two_)).empty());
  for (const std::string& path : {pipe_, directory_}) {
    EXPECT_EQ(state_of(error_of([&] { make_data_writer(files_, path, {}, two_); })), SqlState::wrong_object_type);
  }
}

}  // namespace
}  // namespace diptych
