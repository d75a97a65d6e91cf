#include "shell/edit/line_editor.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <cwchar>
#include <iostream>
#include <new>

namespace diptych::shell {

namespace {

constexpr int history_entries = 5000;

// One UTF-8 character from `descriptor`: 1, or 0 at its end. Bytes that are no character are passed over.
int read_utf8(int descriptor, wchar_t* character) {
  std::mbstate_t state = {};
  while (true) {
    char byte;
    const ssize_t got = ::read(descriptor, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    const size_t used = std::mbrtowc(character, &byte, 1, &state);
    if (used == static_cast<size_t>(-1)) state = {};
    if (used <= 1) return 1;
  }
}

// A terminal that is told so puts these around what is pasted.
constexpr std::string_view begin_of_paste = "\x1b[200~", end_of_paste = "\x1b[201~";
constexpr std::string_view mark_pastes = "\x1b[?2004h", no_marks = "\x1b[?2004l";

bool can_mark_pastes() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool has_input(int wait_ms) {
  pollfd wait{STDIN_FILENO, POLLIN, 0};
  return ::poll(&wait, 1, wait_ms) > 0;
}

}  // namespace

LineEditor::LineEditor(Completion& completion, const InterruptPipe& interrupts, std::string history_path)
    : editor_(::el_init("diptych", stdin, stdout, stderr)),
      history_(::history_init()),
      completion_(completion),
      interrupts_(interrupts),
      history_path_(std::move(history_path)),
      marks_pastes_(can_mark_pastes()) {
  if (editor_ == nullptr || history_ == nullptr) throw std::bad_alloc();
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, history_entries);
  ::history(history_, &event, H_SETUNIQUE, 1);
  if (!history_path_.empty()) ::history(history_, &event, H_LOAD, history_path_.c_str());

  ::el_set(editor_, EL_CLIENTDATA, this);
  ::el_set(editor_, EL_PROMPT, &LineEditor::show_prompt);
  ::el_set(editor_, EL_EDITOR, "emacs");
  ::el_set(editor_, EL_HIST, &::history, history_);
  ::el_set(editor_, EL_GETCFN, &LineEditor::read_character);
  ::el_set(editor_, EL_ADDFN, "diptych-complete", "Complete the word", &LineEditor::complete);
  ::el_set(editor_, EL_BIND, "^I", "diptych-complete", nullptr);
  ::el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  ::el_source(editor_, nullptr);
}

LineEditor::~LineEditor() {
  ::el_end(editor_);
  ::history_end(history_);
}

LineEditor::Outcome LineEditor::read(const std::string& prompt, std::string& line) {
  prompt_ = prompt;
  interrupted_ = false;
  interrupts_.take();
  int count = 0;
  if (marks_pastes_) std::cout << mark_pastes << std::flush;
  const char* text = ::el_gets(editor_, &count);
  if (marks_pastes_) std::cout << no_marks << std::flush;
  if (interrupted_) {
    std::cout << "^C\n" << std::flush;
    return Outcome::Interrupted;
  }
  if (text == nullptr || count <= 0) return Outcome::End;
  line.assign(text);
  if (line.ends_with('\n')) line.pop_back();
  return Outcome::Line;
}

void LineEditor::remember(std::string_view entry) {
  HistEvent event;
  while (entry.ends_with('\n')) entry.remove_suffix(1);
  ::history(history_, &event, H_ENTER, std::string(entry).c_str());
  if (!history_path_.empty()) ::history(history_, &event, H_SAVE, history_path_.c_str());
}

LineEditor& LineEditor::of(EditLine* editor) {
  void* self = nullptr;
  ::el_get(editor, EL_CLIENTDATA, &self);
  return *static_cast<LineEditor*>(self);
}

const char* LineEditor::show_prompt(EditLine* editor) { return of(editor).prompt_.c_str(); }

int LineEditor::read_character(EditLine* editor, wchar_t* character) {
  LineEditor& self = of(editor);
  while (true) {
    const int count = self.next_character(character);
    if (count != 1) return count;
    if (self.takes_mark(*character)) continue;
    // What is pasted is text: libedit's quoted insert takes control characters, such as a tab, as they are.
    constexpr wchar_t quoted_insert = 'V' - '@', last_control = 0x1F;
    if (self.pasting_ && !self.quoted_ && *character <= last_control && *character != '\n' && *character != '\r') {
      self.ahead_.push_front(*character);
      *character = quoted_insert;
      self.quoted_ = true;
    } else {
      self.quoted_ = false;
    }
    return 1;
  }
}

// libedit's own reader restarts after a signal, so that Ctrl-C would go unnoticed: this one waits for both.
int LineEditor::next_character(wchar_t* character) {
  if (!ahead_.empty()) {
    *character = ahead_.front();
    ahead_.pop_front();
    return 1;
  }
  pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {interrupts_.descriptor(), POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
  }
  if (waits[1].revents != 0 && interrupts_.take()) {
    interrupted_ = true;
    return -1;
  }
  // A Ctrl-D typed while no line was edited comes as a NUL, which libedit would put into the line.
  int count = read_utf8(STDIN_FILENO, character);
  while (count == 1 && *character == 0) count = read_utf8(STDIN_FILENO, character);
  return count;
}

// Whether a paste begins or ends with this character and those behind it; others that were looked at stay ahead.
bool LineEditor::takes_mark(wchar_t first) {
  const std::string_view mark = pasting_ ? end_of_paste : begin_of_paste;
  if (quoted_ || first != static_cast<wchar_t>(mark[0])) return false;
  constexpr int wait_ms = 20;  // a terminal sends a mark in one go
  for (size_t i = 1; i < mark.size(); ++i) {
    if (ahead_.size() < i) {
      wchar_t character = 0;
      if (!has_input(wait_ms) || read_utf8(STDIN_FILENO, &character) != 1) return false;
      ahead_.push_back(character);
    }
    if (ahead_[i - 1] != static_cast<wchar_t>(mark[i])) return false;
  }
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<ptrdiff_t>(mark.size()) - 1);
  pasting_ = !pasting_;
  return true;
}

unsigned char LineEditor::complete(EditLine* editor, int) {
  LineEditor& self = of(editor);
  const LineInfo* info = ::el_line(editor);
  const std::string line(info->buffer, info->cursor);
  const std::string_view word = last_word(line);
  const std::vector<std::string> found = self.completion_.candidates(line);
  if (found.empty()) return CC_REFRESH_BEEP;

  std::string rest = common_prefix(found);
  const size_t typed = word.size();
  rest = rest.size() > typed ? rest.substr(typed) : std::string();
  if (found.size() == 1) rest += ' ';
  if (!rest.empty()) {
    ::el_insertstr(editor, rest.c_str());
    return CC_REFRESH;
  }
  std::cout << '\n';
  for (const std::string& candidate : found) std::cout << candidate << "  ";
  std::cout << '\n' << std::flush;
  return CC_REDISPLAY;
}

}  // namespace diptych::shell
