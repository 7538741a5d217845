package agent_test

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// bits is how many bits of each byte TestDamagedJournalIsNeverBelieved flips.
var bits = flag.Int("bits", 0, "cut a journal at every byte, and flip so many bits of each; 0 takes a few bytes of each line")

// richWorld has gates, a fan-out with a check, a sub-agent that calls a tool, and a step
// that fails and is planned anew. It counts the calls with an effect.
func richWorld(t *testing.T) (w *world, start event.RunStarted, effects map[any]int) {
	w, effects = newWorld(t), map[any]int{}
	w.finding(2)
	finds := w.tool
	w.tool = func(c agent.CallTool) event.Data {
		if c.Tool.Name == "change" {
			effects[c.Args["at"]]++
		}
		if c.Args["at"] == "fails" {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "it broke", Failure: event.FailureTool}
		}
		return finds(c)
	}
	w.reply = func(r prompt.Request) (string, error) {
		if r.Purpose == prompt.PurposeReplan {
			return `{"title":"x","steps":[{"index":"6","title":"Other way","tool":"change","args":{"at":"other"}}]}`, nil
		}
		return "done", nil
	}
	w.calls = func(r prompt.Request) []reply.ToolUse {
		if r.Purpose != prompt.PurposeAgent || slices.ContainsFunc(r.Messages, func(m prompt.Message) bool { return m.Role == prompt.RoleTool }) {
			return nil
		}
		return []reply.ToolUse{use("change", "agent")}
	}
	w.choose = w.inTime
	start = given(t, `{"title":"Much","steps":[
		{"index":"1","title":"Find","tool":"look","args":{},"result_variable":"found"},
		{"index":"2","title":"Change","tool":"change","for_each":"${found.files}","at_once":2,"args":{"at":"${item}"},"check":{"expect":"result == item"}},
		{"index":"3","title":"Ask","executor":"agent","profile":"scout","depends_on":["2"]},
		{"index":"4","title":"Fail","tool":"change","args":{"at":"fails"},"gate":true,"depends_on":["3"],"on_failure":"replan"},
		{"index":"5","title":"Dropped","tool":"change","args":{"at":"dropped"},"depends_on":["4"]}]}`)
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
	start.InDoubt = event.DoubtDone
	return w, start, effects
}

// stored is the journal of a rich run that was undone.
type stored struct {
	t      *testing.T
	path   string
	text   []byte
	ends   []int // of its lines
	events []event.Event
	safe   map[[2]int]bool // numbers of events, kept and begun, after which a resume was tried
}

func storeRich(t *testing.T) *stored {
	t.Helper()
	w, start, _ := richWorld(t)
	if result := w.play(start); result.Status != event.StatusCompleted {
		t.Fatalf("ended %s: %s", result.Reason, result.Error)
	}
	w.undo(resumed(start))
	s := &stored{t: t, path: filepath.Join(t.TempDir(), "r.jsonl"), safe: map[[2]int]bool{}}
	j, err := journal.Create(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.events {
		if !e.Data.Kind().Passing() {
			s.events = append(s.events, e)
		}
	}
	if err := errors.Join(j.Append(s.events...), j.Close()); err != nil {
		t.Fatal(err)
	}
	if s.text, err = os.ReadFile(s.path); err != nil {
		t.Fatal(err)
	}
	for at, b := range s.text {
		if b == '\n' {
			s.ends = append(s.ends, at+1)
		}
	}
	for _, kind := range []event.Kind{
		event.KindGateResolved, event.KindStepExpanded, event.KindCheckCompleted, event.KindModelReplied, event.KindPlanDiff, event.KindRunUndone,
	} {
		if !slices.Contains(w.kinds(), kind) {
			t.Fatalf("no event of kind %s", kind)
		}
	}
	return s
}

// open opens the journal with other text. Its lock file is removed, as the number of
// lines in it would give every loss away.
func (s *stored) open(text []byte) ([]event.Event, error) {
	s.t.Helper()
	if err := errors.Join(os.WriteFile(s.path, text, 0o600), os.RemoveAll(s.path+".lock")); err != nil {
		s.t.Fatal(err)
	}
	j, events, err := journal.Open(s.path)
	if err == nil {
		err = j.Close()
	}
	return events, err
}

// resume continues a run of which some events were found, while the effects of more had
// begun. It repeats none of those.
func (s *stored) resume(found []event.Event, begun int) {
	s.t.Helper()
	key := [2]int{len(found), begun}
	if s.safe[key] {
		return
	}
	s.safe[key] = true
	w, start, effects := richWorld(s.t)
	w.events = slices.Clone(found)
	w.kill(len(found))
	if r := w.run.Result; r != nil && r.Status == event.StatusCompleted {
		return
	}
	clear(effects)
	w.resume(resumed(start))
	for _, e := range s.events[:begun] {
		if d, ok := e.Data.(event.StepStarted); ok && d.Tool == "change" && effects[d.Args["at"]] > 0 {
			s.t.Errorf("with %d of %d events, the effect on %v was repeated\n%s", len(found), begun, d.Args["at"], w.tail())
		}
	}
}

// lineOf returns the index of the line with a byte.
func (s *stored) lineOf(at int) int {
	return slices.IndexFunc(s.ends, func(end int) bool { return at < end })
}

// bytes returns the offsets to try: all, or a few of each line and all about its end.
func (s *stored) bytes(random *rand.Rand) []int {
	var out []int
	begin := 0
	for _, end := range s.ends {
		for at := begin; at < end; at++ {
			if *bits > 0 || at < begin+2 || at >= end-2 || random.IntN(end-begin) < 1 {
				out = append(out, at)
			}
		}
		begin = end
	}
	return out
}

// damageRandom returns the random numbers of a test, of a fixed seed.
func damageRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) } //nolint:gosec // chosen by a seed

// A journal that is cut anywhere resumes after its whole lines, and repeats no effect.
func TestCutJournalIsResumedWithoutRepetition(t *testing.T) {
	if testing.Short() {
		t.Skip("starts no goroutine for the race detector to watch")
	}
	s := storeRich(t)
	for _, at := range s.bytes(damageRandom()) {
		events, err := s.open(s.text[:at])
		whole := s.lineOf(at)
		if whole == 0 {
			if !errors.Is(err, event.ErrNoEvents) {
				t.Fatalf("cut at %d: %v", at, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(written(t, events), written(t, s.events[:whole])) {
			t.Fatalf("cut at %d: %d events, want %d: %v", at, len(events), whole, err)
		}
		s.resume(events, whole)
	}
}

// written returns events as they are written.
func written(t *testing.T, events []event.Event) []string {
	t.Helper()
	out := make([]string, len(events))
	for i, e := range events {
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(line)
	}
	return out
}

// A journal with a flipped bit is refused with its line. What the last
// line recorded is then unknown: a step that could have started there is in doubt.
func TestDamagedJournalIsNeverBelieved(t *testing.T) {
	if testing.Short() {
		t.Skip("starts no goroutine for the race detector to watch")
	}
	s, random := storeRich(t), damageRandom()
	for _, at := range s.bytes(random) {
		first := random.IntN(8)
		for n := range max(*bits, 1) {
			line := s.lineOf(at)
			flipped := bytes.Clone(s.text)
			flipped[at] ^= 1 << ((first + n) % 8)
			if line < len(s.ends)-1 {
				_, err := s.open(flipped)
				var damage *journal.DamageError
				if !errors.As(err, &damage) || damage.Line != line+1 {
					t.Fatalf("bit %d of byte %d: %v, want damage at line %d", (first+n)%8, at, err, line+1)
				}
			}
			s.lastLine(flipped[:s.ends[line]], line, at)
		}
	}
}

// lastLine opens a journal whose last line is damaged.
func (s *stored) lastLine(text []byte, line, at int) {
	s.t.Helper()
	events, err := s.open(text)
	var damage *journal.DamageError
	switch {
	case line == 0 && errors.Is(err, event.ErrNoEvents):
	case errors.As(err, &damage) && damage.Line == line+1 && bytes.Count(text, []byte("\n")) > line+1: // the flip made a line break
	case err != nil || len(events) != line+1:
		s.t.Fatalf("byte %d of the last line %d: %d events, %v", at, line+1, len(events), err)
	case events[line].Data != event.Data(event.JournalDamaged{Line: line + 1}) || !reflect.DeepEqual(written(s.t, events[:line]), written(s.t, s.events[:line])):
		s.t.Fatalf("byte %d of the last line %d: believed\n%s", at, line+1, strings.Join(written(s.t, events), "\n"))
	default:
		s.resume(events, line+1)
	}
}

// The key of the journals and what lies beside them are needed as they were.
func TestJournalWithoutItsKeyIsRefused(t *testing.T) {
	s := storeRich(t)
	key := filepath.Join(filepath.Dir(s.path), ".key")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for at := range good {
		other := bytes.Clone(good)
		other[at] ^= 1
		if err := os.WriteFile(key, other, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *journal.DamageError
		if _, err := s.open(s.text); !errors.As(err, &damage) || damage.Line != 1 {
			t.Fatalf("byte %d of the key: %v", at, err)
		}
	}
}
