package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/reply"
)

// text returns a string of n bytes, and so a JSON value of n+2.
func text(n int) string { return strings.Repeat("x", n) }

// texts returns n small values.
func texts(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf("small value %08d", i)
	}
	return out
}

// storedLine is one line of a journal as stored in the file.
type storedLine struct {
	Refs []string        `json:"refs"`
	Data json.RawMessage `json:"data"`
}

func storedLines(t *testing.T, path string) []storedLine {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []storedLine
	for line := range strings.Lines(string(data)) {
		if len(line) > 2*journal.MaxValue {
			t.Errorf("a line has %d bytes", len(line))
		}
		var l storedLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func TestLargeValuesMoveToFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("handles MBs in one goroutine")
	}
	const limit = journal.MaxValue
	lookalike := map[string]any{"ref": "a.json", "sha256": strings.Repeat("0", 64), "bytes": json.Number("7")}
	result := func(v any) event.Data { return event.StepCompleted{Index: "1", Attempt: 1, Result: v} }
	cases := map[string]struct {
		data  event.Data
		refs  []string
		files int
	}{
		"small value":               {result("small"), nil, 0},
		"256 KB":                    {result(text(limit - 2)), nil, 0},
		"256 KB and a byte":         {result(text(limit - 1)), []string{"/result"}, 1},
		"innermost value moves":     {result(map[string]any{"a": []any{"x", map[string]any{"b": text(limit)}}}), []string{"/result/a/1/b"}, 1},
		"several values":            {result([]any{text(limit), "x", text(limit + 1)}), []string{"/result/0", "/result/2"}, 2},
		"list of many small values": {result(map[string]any{"list": texts(20_000), "n": json.Number("1")}), []string{"/result/list"}, 1},
		"list of many small values and a large one":        {result(map[string]any{"list": append(texts(20_000), text(limit))}), []string{"/result/list"}, 1},
		"equal values share a file":                        {result([]any{text(limit), text(limit)}), []string{"/result/0", "/result/1"}, 1},
		"args":                                             {event.StepStarted{Index: "1", Args: map[string]any{"content": text(limit)}}, []string{"/args/content"}, 1},
		"names escaped in pointers":                        {result(map[string]any{"a/b~c \"": text(limit)}), []string{"/result/a~1b~0c \""}, 1},
		"empty name":                                       {result(map[string]any{"": text(limit)}), []string{"/result/"}, 1},
		"numbers keep every digit":                         {result([]any{json.Number("12345678901234567890.10"), text(limit), json.Number("1e400")}), []string{"/result/1"}, 1},
		"numbers within the moved value":                   {result(append(texts(20_000), json.Number("0.1000000000000000000001"))), []string{"/result"}, 1},
		"value that looks like a reference":                {result(lookalike), nil, 0},
		"value that looks like a reference beside one":     {result(map[string]any{"a": lookalike, "b": text(limit), "c": lookalike}), []string{"/result/b"}, 1},
		"value that looks like a reference in a moved one": {result(append(texts(20_000), lookalike)), []string{"/result"}, 1},
		"text without HTML escapes":                        {result("<&>" + text(limit)), []string{"/result"}, 1},
		"control characters and emoji":                     {result("\u0000\u001b[31m😀\u2028" + text(limit)), []string{"/result"}, 1},
		"plan of many steps":                               {event.PlanCreated{Plan: longRun(5_000)[1].Data.(event.PlanCreated).Plan, Revision: 1}, []string{"/plan/steps"}, 1},
		"fields that are large only together":              {event.SynthesisCompleted{Text: untrusted.Text(text(limit - 2)), Reply: reply.Reply{Text: text(limit / 2)}}, nil, 0},
		"unknown kind with a list":                         {event.Unknown{Name: "later.kind", Raw: mustJSON(t, texts(20_000))}, []string{""}, 1},
		"unknown kind with a text":                         {event.Unknown{Name: "later.kind", Raw: mustJSON(t, text(limit))}, []string{""}, 1},
		"text that looks like fields of the line":          {event.Note{Text: untrusted.Text(`,"data":{"refs":["/x"]}` + text(limit))}, []string{"/text"}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t)
			want := []event.Event{sampleEvent(1, c.data), sampleEvent(2, event.Note{Text: "after"})}
			store(t, path, want)
			got, torn, err := journal.Read(path)
			if err != nil || torn || !reflect.DeepEqual(got, want) {
				t.Fatalf("the events changed, torn %v: %v", torn, err)
			}
			if refs := storedLines(t, path)[0].Refs; !slices.Equal(refs, c.refs) {
				t.Errorf("moved %q, want %q", refs, c.refs)
			}
			if files := valueFiles(t, path); len(files) != c.files {
				t.Errorf("files %v, want %d", files, c.files)
			}
		})
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := plan.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// valueFiles returns the paths of the large values of a journal.
func valueFiles(t *testing.T, path string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl")+".values", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLargeTextsAreNotCopied(t *testing.T) {
	const size, times = 2 << 20, 8
	result := text(size)
	completed := event.RunCompleted{Result: event.Result{Variables: map[string]any{"v": result}}}
	for range times - 1 {
		completed.History = append(completed.History, plan.HistoryItem{Index: "1", Result: result})
	}
	j, err := journal.Create(inTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = j.Append(number(completed)...)
	runtime.ReadMemStats(&after)
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	// A text is encoded in parts, whose memory the race detector does not let be used again.
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 3*times*size/2>>20 {
		t.Errorf("allocated %d MB to keep %d texts of %d MB", got, times, size>>20)
	}
}

func TestReferencesNameTheirFile(t *testing.T) {
	path := inTemp(t)
	store(t, path, number(event.StepCompleted{Index: "1", Result: text(journal.MaxValue)}))
	var data struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal(storedLines(t, path)[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	file := valueFiles(t, path)[0]
	sum := strings.TrimSuffix(filepath.Base(file), ".json")
	want := map[string]any{"ref": filepath.Base(file), "sha256": sum, "bytes": float64(journal.MaxValue + 2)}
	if !reflect.DeepEqual(data.Result, want) {
		t.Errorf("reference %v, want %v", data.Result, want)
	}
	for name, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v: %v", name, info.Mode(), err)
		}
	}
}

func TestRepeatedLargeResultsShareFile(t *testing.T) {
	path := inTemp(t)
	result := map[string]any{"text": text(journal.MaxValue)}
	store(t, path, number(
		event.StepCompleted{Index: "1", Result: result},
		event.RunCompleted{Result: event.Result{History: []plan.HistoryItem{{Index: "1", Result: result}}}},
	))
	if files := valueFiles(t, path); len(files) != 1 {
		t.Errorf("files %v, want one", files)
	}
}

func TestChangedLargeValueIsDamage(t *testing.T) {
	written := number(event.Note{Text: "one"}, event.StepCompleted{Index: "1", Result: text(journal.MaxValue)}, event.Note{Text: "three"})
	for name, damage := range map[string]func(path string) error{
		"missing": os.Remove,
		"shorter": func(path string) error { return os.Truncate(path, 100) },
		"changed": func(path string) error {
			return os.WriteFile(path, []byte(`"`+strings.Repeat("y", journal.MaxValue)+`"`), 0o600)
		},
		"pipe that nobody writes to": func(path string) error {
			if runtime.GOOS == "windows" {
				return os.Remove(path)
			}
			return errors.Join(os.Remove(path), exec.CommandContext(t.Context(), "mkfifo", path).Run())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t)
			store(t, path, written)
			file := valueFiles(t, path)[0]
			if err := damage(file); err != nil {
				t.Fatal(err)
			}
			var damaged *journal.DamageError
			events, _, err := journal.Read(path)
			if !errors.As(err, &damaged) || damaged.Line != 2 || !strings.Contains(err.Error(), file) {
				t.Errorf("error %v, want damage at line 2 that names %s", err, file)
			}
			if len(events) != 1 {
				t.Errorf("%d events before it, want 1", len(events))
			}
			if _, _, err := journal.Open(path); !errors.As(err, &damaged) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

func TestWriterRepairsTornValue(t *testing.T) {
	path := inTemp(t)
	large := number(event.StepCompleted{Index: "1", Result: text(journal.MaxValue)})
	store(t, path, large)
	file := valueFiles(t, path)[0]
	if err := errors.Join(os.Truncate(file, 10), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	store(t, path, large)
	if got, _, err := journal.Read(path); err != nil || !reflect.DeepEqual(got, large) {
		t.Errorf("the events changed: %v", err)
	}
}

func TestReferencesReachNoOtherFile(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for name, c := range map[string]struct{ refs, data string }{
		"path":                     {`["/result"]`, `{"result":{"ref":"../secret.json","sha256":"` + sum + `","bytes":2}}`},
		"hash that is a path":      {`["/result"]`, `{"result":{"ref":"../` + sum[3:] + `.json","sha256":"../` + sum[3:] + `","bytes":2}}`},
		"absolute path":            {`["/result"]`, `{"result":{"ref":"/etc/passwd","sha256":"` + sum + `","bytes":2}}`},
		"no object":                {`["/result"]`, `{"result":7}`},
		"no such place":            {`["/elsewhere"]`, `{"result":{}}`},
		"reference within another": {`["/result/a","/result"]`, `{"result":{"a":{}}}`},
		"malformed data":           {`["/result"]`, `{"result":{]}`},
	} {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t)
			line := `{"v":1,"seq":1,"time":"2026-01-01T00:00:00Z","run":"r","kind":"step.completed","refs":` + c.refs + `,"data":` + c.data + `}`
			if err := os.WriteFile(path, []byte(sealed(line)), 0o600); err != nil {
				t.Fatal(err)
			}
			var damage *journal.DamageError
			if _, _, err := journal.Read(path); !errors.As(err, &damage) || damage.Line != 1 {
				t.Errorf("error %v, want damage at line 1", err)
			}
		})
	}
}
