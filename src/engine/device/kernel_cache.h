// Compiled kernels: in memory as long as a database of the process has the device open, and on disk for the next
// process.
//
//   text, entry --> in memory? --> compiled ahead of time? --> on disk? --load--> the compiler --build--> Kernel
//                                                                                     `--> a file for next time
//
// A file's name is a hash of the text, the entry and the compiler's identity, so that a new driver never sees old
// binaries; its content carries a checksum, and whatever is damaged is built again. Files are written under another
// name and then renamed. The directory is bounded: those go that were used longest ago. A directory that can't be
// written is no error. What a statement asks for is made on a thread of its own: whether the statement ends (StopCheck)
// is asked meanwhile, and the kernel is there for the next one. Thread safety: all members may be called by many
// threads at once; the same text is compiled once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/device/device.h"

namespace diptych {

// A back end's compiler, as the cache needs it.
class KernelCompiler {
 public:
  struct Built {
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::byte> binary;  // empty: nothing to keep
  };
  virtual ~KernelCompiler() = default;
  // Compiler and driver versions, device name, options: all that decides what comes out besides the text.
  virtual std::string identity() const = 0;
  // Errors: 58000 with the compiler's log.
  virtual Built build(const std::string& text, const std::string& entry) = 0;
  // nullptr when the driver does not take the binary.
  virtual std::shared_ptr<const Kernel> load(std::span<const std::byte> binary, const std::string& entry) = 0;
  // What was compiled ahead of time; nullptr: nothing of this text.
  virtual std::shared_ptr<const Kernel> find_ahead(const std::string&, const std::string&) { return nullptr; }
};

class KernelCache {
 public:
  // nullopt: no disk cache. It ends when the kernels are made that are being made.
  KernelCache(KernelCompiler& compiler, std::optional<std::filesystem::path> directory);
  // $DIPTYCH_KERNEL_CACHE ("off": none), $XDG_CACHE_HOME/diptych/kernels, or ~/.cache/diptych/kernels.
  static std::optional<std::filesystem::path> default_directory();
  // That of all databases of the process that have the device open, whose kernels it is, in default_directory(). The
  // compiler is the one that it has where there is none yet. The last that holds it ends it.
  static std::shared_ptr<KernelCache> of(const DeviceInfo& info, std::unique_ptr<KernelCompiler> compiler);

  // Errors: 58000 with the compiler's log, and what the thread's StopCheck throws.
  std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport* report);
  // As compile(), for somebody who asks later, and is told where it came from. Does nothing where another thread makes
  // it.
  void prepare(const KernelText& kernel);
  std::shared_ptr<const Kernel> find(const KernelText& kernel);

  static constexpr size_t kernels_in_memory = 1024;  // beyond them the one used longest ago goes
  static constexpr int64_t disk_bytes = int64_t{1} << 30;
  static constexpr int64_t disk_files = 4096;

 private:
  struct Slot {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    bool is_being_made = false;
    std::shared_ptr<const Kernel> kernel;
    std::exception_ptr failure;             // of the last time it was made
    std::optional<CompileReport> prepared;  // how it was made, as long as nobody has asked for it
  };
  struct Maker {
    std::atomic<bool> is_done = false;
    std::jthread thread;
  };
  struct Held {
    std::shared_ptr<Slot> slot;
    std::list<KernelText::Hash>::iterator age;
  };

  std::shared_ptr<Slot> slot_of(const KernelText& kernel);
  // Of a slot that is being made: until it is there, or has failed.
  void make(Slot& slot, const KernelText& kernel);
  std::shared_ptr<const Kernel> find_or_build(const KernelText& kernel, CompileReport& report);
  // False: there is no thread to be had, or no memory for it.
  bool make_apart(const std::shared_ptr<Slot>& slot, const KernelText& kernel);
  static void wait(Slot& slot, std::unique_lock<std::mutex>& lock);
  std::shared_ptr<const Kernel> load_from_disk(const std::string& key, const std::string& entry);
  void store_on_disk(const std::string& key, std::span<const std::byte> binary);
  std::string key_of(const KernelText& kernel) const;

  KernelCompiler& compiler_;
  std::optional<std::filesystem::path> directory_;
  std::mutex mutex_;  // guards what follows
  std::map<KernelText::Hash, Held> slots_;
  std::list<KernelText::Hash> ages_;  // last used first
  std::list<Maker> makers_;           // last: they use the others
};

}  // namespace diptych
