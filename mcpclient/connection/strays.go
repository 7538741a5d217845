package connection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"

	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/mcpclient/incoming"
	"replan/planning/plan"
)

// maxStrays is how many bytes that are no message are kept of a server.
const maxStrays = 4 << 10

// strays reads the output of a process, line by line. It leaves out the lines that are no
// message, logs them and keeps their end.
type strays struct {
	output io.Reader
	log    func(line string)

	unread []byte // whole lines with messages, not read yet
	line   []byte // not yet finished
	err    error  // after it

	mu    sync.Mutex
	kept  []byte // the last of the lines that are no message
	count int    // these lines so far
}

// Read reads whole messages.
func (s *strays) Read(p []byte) (int, error) {
	var part [32 << 10]byte
	for len(s.unread) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		n, err := s.output.Read(part[:])
		s.take(part[:n])
		if s.err = err; err != nil {
			s.add(s.line)
		}
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// take takes a part of the output.
func (s *strays) take(part []byte) {
	for {
		piece, rest, whole := bytes.Cut(part, []byte("\n"))
		s.line = append(s.line, piece...)
		if !whole {
			return
		}
		if message, ok := asMessage(s.line); ok {
			s.unread = append(append(s.unread, message...), '\n')
		} else {
			s.add(s.line)
		}
		s.line, part = s.line[:0], rest
		if cap(s.line) > maxStrays {
			s.line = nil // a long message would be held forever
		}
	}
}

// add logs and keeps a line that is no message.
func (s *strays) add(line []byte) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	end := line[max(len(line)-maxStrays, 0):]
	s.mu.Lock()
	s.count++
	s.kept = append(append(s.kept, end...), '\n')
	s.kept = s.kept[max(len(s.kept)-maxStrays, 0):]
	s.mu.Unlock()
	s.log(string(bytes.ToValidUTF8(line[:min(len(line), maxStrays)], []byte("\ufffd"))))
}

// since returns how many lines were no message after the first ones, and the end of all.
func (s *strays) since(first int) (count int, end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count - first, string(bytes.ToValidUTF8(s.kept, nil))
}

// envelope is what tells a message from other JSON.
type envelope struct {
	Method string  `json:"method"`
	Result present `json:"result"`
	Error  present `json:"error"`
}

// present is whether there is a value, which is not copied.
type present bool

// UnmarshalJSON notes a value.
func (p *present) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// asMessage returns a line as the library reads it. It reports false if it is none: no JSON,
// or JSON without a method and without an answer.
func asMessage(line []byte) (message []byte, ok bool) {
	var e envelope
	if json.Unmarshal(line, &e) != nil || e.Method == "" && !bool(e.Result) && !bool(e.Error) {
		return nil, false
	}
	return incoming.Numbered(line), true
}

// soFar returns how many lines were no message so far. Nil has none.
func (s *strays) soFar() int {
	if s == nil {
		return 0
	}
	count, _ := s.since(0)
	return count
}

// tell says what was written that is no message. It is empty if that is no more than the
// first lines of that kind.
func (s *strays) tell(first int) string {
	if s == nil {
		return ""
	}
	count, end := s.since(first)
	if count == 0 {
		return ""
	}
	lines := "1 line that is no message"
	if count > 1 {
		lines = strconv.Itoa(count) + " lines that are no messages"
	}
	last, cut := []rune(plan.OneLine(redact.Text(untrusted.Visible(end)), maxStrays)), ""
	if len(last) > maxRefusal {
		last, cut = last[len(last)-maxRefusal:], "…"
	}
	return fmt.Sprintf("meanwhile it wrote %s to standard output, which its log holds: %s%s", lines, cut, string(last))
}
