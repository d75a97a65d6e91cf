// bench_load FILE [THREADS]: where the time of loading a data file goes, without a database.
//
//   read       the file to batches, thrown away
//   append     batches into the staging columns of a tablet        }
//   encode     staging columns to encoded ones                      }  on one thread, the sum over all tablets
//   serialize  encoded columns to the block that a file holds       }
//   load       the block back to views                              }
//
// Then, for each column, its bytes at rest and in memory. The columns have the file's own types, decimals exact.
#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/posix_file_system.h"
#include "io/data_file.h"
#include "tablet/builder.h"
#include "tablet/dictionary.h"
#include "tablet/layout.h"

namespace diptych {
namespace {

constexpr int64_t tablet_rows = 65536;

class Stopwatch {
 public:
  // Adds the time that the action takes.
  template <typename Action>
  auto time(Action action) {
    auto start = std::chrono::steady_clock::now();
    struct AddOnExit {
      double& seconds;
      std::chrono::steady_clock::time_point start;
      ~AddOnExit() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
    } add{seconds_, start};
    return action();
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

class LoadBenchmark {
 public:
  LoadBenchmark(DataFile& file, int threads)
      : file_(file), arena_(threads), at_rest_(columns()), in_memory_(columns()) {
    std::vector<Dictionary*> dictionaries;
    for (const ColumnDefinition& column : file.columns()) {
      dictionaries_.push_back(column.type.is_string() ? std::make_unique<Dictionary>() : nullptr);
      dictionaries.push_back(dictionaries_.back().get());
    }
    builder_ = std::make_unique<TabletBuilder>(file.columns(), tablet_rows, dictionaries);
  }

  void run() {
    read_.time([this] { read([](const RowBatch&) {}); });
    read([this](const RowBatch& batch) { take(batch); });
    if (builder_->rows() > 0) finish_tablet();
  }

  void print() const {
    int64_t bytes = 0;
    fmt::print("{} rows\n", rows_);
    print_stage("read", read_);
    print_stage("append", append_);
    print_stage("encode", encode_);
    print_stage("serialize", serialize_);
    print_stage("load", load_);
    for (size_t i = 0; i < columns(); ++i) {
      fmt::print("{:24} {:8.2f} MB at rest {:8.2f} MB in memory\n", file_.columns()[i].name,
                 static_cast<double>(at_rest_[i]) / 1e6, static_cast<double>(in_memory_[i]) / 1e6);
      bytes += at_rest_[i];
    }
    fmt::print("{:24} {:8.2f} MB at rest\n", "all", static_cast<double>(bytes) / 1e6);
  }

 private:
  size_t columns() const { return file_.columns().size(); }

  void read(const BatchSink& sink) {
    arena_.execute([&] { file_.for_each_batch(sink); });
  }

  void take(const RowBatch& batch) {
    rows_ += batch.rows;
    for (int64_t taken = 0; taken < batch.rows;) {
      taken += append_.time([&] { return builder_->append(batch, taken, batch.rows - taken); });
      if (builder_->full()) finish_tablet();
    }
  }

  void finish_tablet() {
    EncodedTablet tablet = encode_.time([this] { return builder_->finish(); });
    AlignedBuffer block = serialize_.time([&] { return serialize(tablet); });
    load_.time([&] {
      TabletMeta meta = parse_meta(block.span(), block.size());
      for (size_t i = 0; i < columns(); ++i) {
        load_column(meta, i, block.span(), dictionaries_[i].get());
        at_rest_[i] += meta.columns[i].stored_bytes();
        in_memory_[i] += meta.columns[i].loaded_bytes(meta.rows);
      }
    });
  }

  void print_stage(const char* name, const Stopwatch& watch) const {
    fmt::print("{:10} {:8.3f} s {:8.2f} million rows/s\n", name, watch.seconds(),
               static_cast<double>(rows_) / 1e6 / watch.seconds());
  }

  DataFile& file_;
  tbb::task_arena arena_;
  std::vector<std::unique_ptr<Dictionary>> dictionaries_;
  std::unique_ptr<TabletBuilder> builder_;
  Stopwatch read_, append_, encode_, serialize_, load_;
  std::vector<int64_t> at_rest_, in_memory_;
  int64_t rows_ = 0;
};

}  // namespace
}  // namespace diptych

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_load FILE [THREADS]\n");
    return 2;
  }
  try {
    diptych::PosixFileSystem files;
    auto file = diptych::open_data_file(files, argv[1], *diptych::options_for(argv[1]));
    diptych::LoadBenchmark benchmark(*file, argc > 2 ? std::atoi(argv[2]) : 1);
    benchmark.run();
    benchmark.print();
  } catch (const diptych::Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return 1;
  }
  return 0;
}
