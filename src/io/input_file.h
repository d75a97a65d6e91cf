// Opens what rows are read from: files are read in place, pipes are read whole first.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/file_system.h"

namespace diptych {

class TempSpace;

// What reading takes.
struct ReadContext {
  ReadContext(FileSystem& files, TempSpace* temp = nullptr, const std::atomic<bool>* cancelled = nullptr)
      : files(files), temp(temp), cancelled(cancelled) {}
  FileSystem& files;
  TempSpace* temp;                     // for what a pipe gives beyond a few megabytes; null: memory
  const std::atomic<bool>* cancelled;  // ends waiting for a pipe; null: nothing does
};

// Errors: 58P01, 58030; 42809 a directory, socket or device; of pipes also 57014, and 53100 without room in the
// temporary files. A pipe's temporary file is one of the context's space, which must outlive it.
std::unique_ptr<File> open_input(const ReadContext& context, const std::string& path);

}  // namespace diptych
