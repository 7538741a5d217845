package ollamatest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// Recording holds what a real model replied to requests. [Record] fills one, and a
// [Script] plays one. Each reply is found by the hash of its request, which is the same
// on every machine. Its methods are safe for concurrent use.
type Recording struct {
	model   Model
	version string // of Ollama

	mu      sync.Mutex
	replies []RecordedReply // those of one request in the order in which they came
	played  map[string]int  // how often the replies of a request were sent, by hash
	missed  []string        // why requests found no reply
}

// RecordedReply is one reply of a real model, and what it took.
type RecordedReply struct {
	Hash    string `json:"hash"` // of the request
	Purpose string `json:"purpose"`
	Step    string `json:"step,omitempty"`
	Goal    string `json:"goal,omitempty"`
	Lines   string `json:"lines"` // a short hash of each line of the request

	Text         string        `json:"text,omitempty"`
	Thinking     string        `json:"thinking,omitempty"`
	Calls        []Call        `json:"calls,omitempty"`
	Pieces       []string      `json:"pieces,omitempty"` // in which a text came that has no end
	DoneReason   string        `json:"done_reason,omitempty"`
	PromptTokens int           `json:"prompt_eval_count,omitempty"`
	Read         time.Duration `json:"prompt_eval_duration,omitempty"` // nanoseconds
	Tokens       int           `json:"eval_count,omitempty"`
	Wrote        time.Duration `json:"eval_duration,omitempty"` // nanoseconds
	Status       int           `json:"status,omitempty"`        // of an HTTP error with Error as its message
	Error        string        `json:"error,omitempty"`
}

// recordedModel is the first line of a recording.
type recordedModel struct {
	Version string `json:"ollama"`
	Model   Model  `json:"model"`
}

// ReadRecording reads what [Recording.Bytes] wrote.
func ReadRecording(data []byte) (*Recording, error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var about recordedModel
	if err := json.Unmarshal(first, &about); err != nil {
		return nil, fmt.Errorf("reading the recorded model: %w", err)
	}
	r := &Recording{model: about.Model, version: about.Version, played: make(map[string]int)}
	for line := range bytes.Lines(rest) {
		var reply RecordedReply
		if err := json.Unmarshal(line, &reply); err != nil {
			return nil, fmt.Errorf("reading a recorded reply: %w", err)
		}
		r.replies = append(r.replies, reply)
	}
	return r, nil
}

// Bytes returns the recording as lines of JSON: the model, then the replies, by the
// hashes of their requests.
func (r *Recording) Bytes() ([]byte, error) {
	r.mu.Lock()
	sorted := slices.Clone(r.replies)
	r.mu.Unlock()
	slices.SortStableFunc(sorted, func(a, b RecordedReply) int { return cmp.Compare(a.Hash, b.Hash) })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(recordedModel{r.version, r.model})
	for _, reply := range sorted {
		err = cmp.Or(err, encoder.Encode(reply))
	}
	if err != nil {
		return nil, fmt.Errorf("writing the recording: %w", err)
	}
	return out.Bytes(), nil
}

// ofOllama returns the version of Ollama that was recorded.
func (r *Recording) ofOllama() string { return r.version }

// Model returns the recorded model.
func (r *Recording) Model() Model { return r.model }

// Len returns the number of replies.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.replies)
}

// Missed returns, for each request without a reply, a message that says what to do.
func (r *Recording) Missed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.missed)
}

// add stores a reply.
func (r *Recording) add(req Request, reply RecordedReply) {
	lines := steadyLines(req)
	reply.Hash, reply.Lines = hashOf(lines), shortHashes(lines)
	reply.Purpose, reply.Step, reply.Goal = req.Purpose, req.Step, req.goal()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, reply)
}

// Played returns a recording of the replies that were sent so far.
func (r *Recording) Played() *Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Recording{
		model: r.model, version: r.version, played: make(map[string]int),
		replies: r.only(func(reply RecordedReply) bool { return r.played[reply.Hash] > 0 }),
	}
}

// With returns a recording of the replies of r and of another recording of its model.
func (r *Recording) With(other *Recording) *Recording {
	both := &Recording{model: r.model, version: r.version, played: make(map[string]int)}
	for _, part := range []*Recording{r, other} {
		part.mu.Lock()
		both.replies = append(both.replies, part.replies...)
		part.mu.Unlock()
	}
	return both
}

// take returns the reply to a request, again the last one once all were sent. If there
// is none and loose is set, it returns the next reply of its purpose, step and goal.
func (r *Recording) take(req Request, loose bool) (Reply, bool) {
	lines := steadyLines(req)
	hash := hashOf(lines)
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.only(func(reply RecordedReply) bool { return reply.Hash == hash })
	if n := len(found); n > 0 {
		reply := found[min(r.played[hash], n-1)]
		r.played[hash]++
		return reply.reply(), true
	}
	if loose {
		for _, reply := range r.only(func(reply RecordedReply) bool { return reply.isLike(req) }) {
			if r.played[reply.Hash] == 0 { // the same reply twice would not help
				r.played[reply.Hash]++
				return reply.reply(), true
			}
		}
	}
	r.missed = append(r.missed, r.miss(req, lines))
	return Reply{}, false
}

func (r *Recording) only(fits func(RecordedReply) bool) (found []RecordedReply) {
	for _, reply := range r.replies {
		if fits(reply) {
			found = append(found, reply)
		}
	}
	return found
}

// isLike reports whether the request has the purpose, step and goal of the recorded one.
func (r RecordedReply) isLike(req Request) bool {
	return r.Purpose == req.Purpose && r.Step == req.Step && r.Goal == req.goal()
}

func (r RecordedReply) reply() Reply {
	return Reply{
		Pieces: r.Pieces, Text: r.Text, Thinking: r.Thinking, Calls: r.Calls, DoneReason: r.DoneReason, Status: r.Status, Error: r.Error,
		Took: api.Metrics{PromptEvalCount: r.PromptTokens, PromptEvalDuration: r.Read, EvalCount: r.Tokens, EvalDuration: r.Wrote},
	}
}

// unrecorded is the message for a request without a reply.
const unrecorded = "this request was not recorded: a prompt has changed since; record again with `just record-replies`"

// miss describes a request without a reply: what it is for, and its first line that
// differs from the nearest recorded request.
func (r *Recording) miss(req Request, lines []string) string {
	about := fmt.Sprintf("%s (%s, goal %q)", unrecorded, req.label(), req.goal())
	var near string
	same := -1
	for _, reply := range r.replies {
		if n := agree(reply.Lines, shortHashes(lines)); reply.isLike(req) && n > same {
			near, same = reply.Lines, n
		}
	}
	switch {
	case same < 0:
		return about + "; nothing like it was recorded"
	case same < len(lines):
		return fmt.Sprintf("%s; it differs first in line %d of %d: %q", about, same+1, len(lines), lines[same])
	default:
		return fmt.Sprintf("%s; it lacks the last %d lines of what was recorded", about, len(near)/shortHash-same)
	}
}

const shortHash = 4 // characters

// agree returns how many short hashes are equal from the beginning.
func agree(a, b string) int {
	n := 0
	for n+shortHash <= min(len(a), len(b)) && a[n:n+shortHash] == b[n:n+shortHash] {
		n += shortHash
	}
	return n / shortHash
}

func shortHashes(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(hashOf([]string{line})[:shortHash])
	}
	return out.String()
}

func hashOf(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// goal returns the goal at the end of the last message of the user, "" without one.
func (r Request) goal() string {
	for _, m := range slices.Backward(r.Messages) {
		if _, goal, ok := strings.Cut("\n"+m.Content, "\nGoal: "); ok && m.Role == "user" {
			if at := strings.LastIndex(goal, "\nGoal: "); at >= 0 {
				goal = goal[at+len("\nGoal: "):]
			}
			goal, _, _ = strings.Cut(goal, "\n")
			return strings.TrimSpace(goal)
		}
	}
	return ""
}

// steadyLines returns what a model reads of a request, without what differs from one
// machine, folder or day to the next.
func steadyLines(req Request) []string {
	var text strings.Builder
	part := func(name string, value json.RawMessage) {
		if len(value) > 0 && string(value) != "null" {
			text.WriteString("\n" + name + ": " + string(value))
		}
	}
	part("tools", req.Tools)
	part("format", req.Format)
	if req.Think != nil {
		fmt.Fprintf(&text, "\nthink: %v", req.Think)
	}
	for _, m := range req.Messages {
		text.WriteString("\n" + strings.TrimSpace(m.Role+" "+m.ToolName) + ":\n" + m.Content)
		for _, call := range m.ToolCalls {
			part("call of "+call.Function.Name, call.Function.Arguments)
		}
		for _, image := range m.Images {
			text.WriteString("\nimage: " + hashOf([]string{string(image)}))
		}
	}
	return strings.Split(strings.TrimPrefix(steady(text.String()), "\n"), "\n")
}

var (
	runIDs  = regexp.MustCompile(`\b[rs]-\d{8}-\d{6}-[0-9a-f]+\b`)
	dates   = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?`)
	clock   = regexp.MustCompile(`\b\d{2}:\d{2}:\d{2}(?:\.\d+)?\b`)
	spans   = regexp.MustCompile(`\b(?:\d+\.\d+ ?(?:s|ms|µs)|\d+ ?(?:ms|µs))\b`)
	spansMS = regexp.MustCompile(`("(?:duration_)?ms": ?)\d+`)
	commits = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
)

// steady replaces temporary folders, times, durations, commits and the ids of runs.
func steady(text string) string {
	temporary := []string{filepath.Clean(os.TempDir())}
	if real, err := filepath.EvalSymlinks(temporary[0]); err == nil && real != temporary[0] {
		temporary = append(temporary, real)
	}
	slices.SortFunc(temporary, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, folder := range temporary {
		text = regexp.MustCompile(regexp.QuoteMeta(folder)+`[/\\]+[\w.-]+`).ReplaceAllString(text, "TEMPORARY")
	}
	text = runIDs.ReplaceAllString(text, "RUN")
	text = dates.ReplaceAllString(text, "DATE")
	text = clock.ReplaceAllString(text, "TIME")
	text = spansMS.ReplaceAllString(text, "${1}0")
	text = spans.ReplaceAllString(text, "SPAN")
	return commits.ReplaceAllString(text, "COMMIT")
}
