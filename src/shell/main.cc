// The program `diptych`.
#include <fmt/format.h>

#include <clocale>
#include <exception>
#include <iostream>

#include "shell/calibrate.h"
#include "shell/handle.h"
#include "shell/options.h"
#include "shell/shell.h"

namespace {

using namespace diptych::shell;

int run(const Options& options) {
  diptych_database* opened = nullptr;
  const auto open = options.is_read_only ? diptych_open_read_only : diptych_open;
  const diptych_status status = open(options.database.c_str(), &opened);
  const DatabaseHandle database(opened);
  diptych_connection* connected = nullptr;
  if (status != DIPTYCH_OK || diptych_connect(opened, &connected) != DIPTYCH_OK) {
    const diptych_error error = diptych_database_error(opened);
    std::cerr << fmt::format("ERROR {}: {}\n", error.sqlstate, error.message);
    return 1;
  }
  const ConnectionHandle connection(connected);
  return Shell(connected, options).run();
}

}  // namespace

int main(int argc, char** argv) {
  // Diptych's texts are UTF-8 whatever the environment says; widths of characters depend on it.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  std::ios::sync_with_stdio(false);
  const ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  try {
    if (parsed.options.calibrate) return calibrate(*parsed.options.calibrate, std::cout, std::cerr);
    return run(parsed.options);
  } catch (const std::exception& error) {
    std::cerr << "ERROR: " << error.what() << '\n';
    return 1;
  }
}
