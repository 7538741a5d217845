package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
)

// TestLinesDecodeAsWithEncodingJSON checks that the reader accepts and returns
// the same as encoding/json.
func TestLinesDecodeAsWithEncodingJSON(t *testing.T) {
	line := func(kind, data string) string {
		return `{"v":1,"seq":7,"time":"2026-01-01T00:00:00.5Z","run":"r","kind":"` + kind + `","data":` + data + `}`
	}
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	lines := map[string]string{
		"fields in another order":       `{"seq":7,"v":1,"data":{"text":"x"},"kind":"note","run":"r","time":"2026-01-01T00:00:00Z"}`,
		"unknown field":                 `{"v":1,"seq":7,"new":[1],"time":"2026-01-01T00:00:00Z","run":"r","kind":"note","data":{}}`,
		"unknown field after the data":  line("step.completed", `{"index":"1"},"new":{}`),
		"another kind after the data":   line("step.completed", `{"index":"1"},"kind":"note"`),
		"blanks":                        `{ "v":1, "seq":7, "time":"2026-01-01T00:00:00Z", "run":"r", "kind":"note", "data":{ } }`,
		"time zone":                     strings.Replace(line("note", `{}`), "00.5Z", "00+02:00", 1),
		"time with an escape":           strings.Replace(line("note", `{}`), "2026", `\u0032026`, 1),
		"no time":                       strings.Replace(line("note", `{}`), `"2026-01-01T00:00:00.5Z"`, "null", 1),
		"bad time":                      strings.Replace(line("note", `{}`), "2026-01", "2026-13", 1),
		"fraction as sequence number":   strings.Replace(line("note", `{}`), `"seq":7`, `"seq":7.5`, 1),
		"sequence number too large":     strings.Replace(line("note", `{}`), `"seq":7`, `"seq":18446744073709551616`, 1),
		"run with escapes":              strings.Replace(line("note", `{}`), `"run":"r"`, `"run":"a\"b\u0041"`, 1),
		"unknown kind":                  line("later.kind", `{"a":[1,2.50]}`),
		"kind with escapes":             line(`st\u0065p.completed`, `{"index":"1"}`),
		"no data":                       line("step.completed", `null`),
		"data of the wrong type":        line("step.completed", `[]`),
		"empty object":                  line("step.completed", `{}`),
		"forms of numbers":              line("step.completed", `{"result":[0,-0,-1.5e+10,1E5,12345678901234567890.000]}`),
		"number with a leading zero":    line("step.completed", `{"result":01}`),
		"number without a fraction":     line("step.completed", `{"result":1.}`),
		"literals":                      line("step.completed", `{"result":[true,false,null]}`),
		"cut literal":                   line("step.completed", `{"result":nul}`),
		"null result":                   line("step.completed", `{"index":"1","attempt":1,"result":null,"ms":5}`),
		"empty containers":              line("step.completed", `{"result":{"a":[],"b":{}}}`),
		"repeated name":                 line("step.completed", `{"result":{"a":1,"a":{"b":2}}}`),
		"repeated field":                line("step.completed", `{"result":{"a":1},"result":{"b":2}}`),
		"repeated args":                 line("step.started", `{"args":{"a":1},"args":{"b":2}}`),
		"null args":                     line("step.started", `{"index":"1","args":null,"depends_on":null}`),
		"name in capitals":              line("step.completed", `{"INDEX":"1"}`),
		"fraction as count":             line("step.completed", `{"attempt":1.5}`),
		"count with an exponent":        line("step.completed", `{"attempt":1e2}`),
		"negative count":                line("step.completed", `{"ms":-5}`),
		"reply":                         line("step.completed", `{"index":"1","reply":{"text":"x"},"tokens":9}`),
		"dry run":                       line("step.completed", `{"index":"1","dry_run":true,"args":{"a":1}}`),
		"draft":                         line("step.started", `{"index":"1","draft":true,"parent":"2"}`),
		"escapes":                       line("step.completed", `{"result":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d"}`),
		"invalid escape":                line("step.completed", `{"result":"\x41"}`),
		"invalid UTF-8":                 line("step.completed", "{\"result\":\"a\xffb\"}"),
		"control character":             line("step.completed", "{\"result\":\"a\x01b\"}"),
		"unterminated text":             line("step.completed", `{"result":"a}`),
		"deeply nested values":          line("step.completed", `{"result":`+deep+`}`),
		"extra bracket":                 line("step.completed", `{"result":[]]}`),
		"extra comma in a list":         line("step.completed", `{"result":[1,]}`),
		"extra comma in an object":      line("step.completed", `{"result":{},}`),
		"text after the data":           line("step.completed", `{}x`),
		"all fields of a start":         line("step.started", `{"index":"2","attempt":3,"title":"T","executor":"tool","tool":"t","depends_on":["1","a\"b"],"expected_outcome":"o","args":{"a":[1,{"b":null}]}}`),
		"plan":                          line("plan.created", `{"plan":{"title":"P","steps":[{"title":"S","tool":"t","x":1.50}],"extra":[1]},"revision":1}`),
		"plan with faults":              line("plan.created", `{"plan":{"title":7,"steps":[]},"revision":1}`),
		"no plan":                       line("plan.created", `{"plan":null,"revision":1}`),
		"repeated plan":                 line("plan.created", `{"plan":{"title":"P","steps":[]},"plan":{"title":"Q","steps":[]}}`),
		"result without a plan":         line("run.completed", `{"status":"failed","reason":"no_plan","answer":"","error":"e","plan":null,"variables":{},"history":[],"revisions":[],"usage":{"steps":1},"duration_ms":5}`),
		"result of nulls":               line("run.completed", `{"status":null,"plan":null,"variables":null,"history":null,"revisions":null,"usage":null}`),
		"result with history":           line("run.completed", `{"status":"completed","plan":{"title":"P","steps":[]},"variables":{"n":1.0},"history":[{"index":"1","title":"T","tool":"t","args":{"a":1},"expected_outcome":"o","status":"failed","attempt":2,"result":[1.0],"error":"e","ms":3}],"revisions":[{"revision":2,"removed":["1"]}]}`),
		"history with an unknown field": line("run.completed", `{"history":[{"index":"1","new":1}]}`),
		"ignored list of references":    line("note", `{},"refs":["/text"]`),
	}
	for name, text := range lines {
		t.Run(name, func(t *testing.T) {
			path := inTemp(t)
			if err := os.WriteFile(path, []byte(sealed(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			var want event.Event
			wantErr := json.Unmarshal([]byte(text), &want)
			got, _, err := journal.Read(path)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if err == nil && (len(got) != 1 || !reflect.DeepEqual(got[0], want)) {
				t.Errorf("got  %#v\nwant %#v", got, want)
			}
		})
	}
}

func TestLongJournalIsReadInOrder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("handles MBs in one goroutine")
	}
	path := inTemp(t)
	want := longRun(5_000)
	j, err := journal.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(want...), j.Close()); err != nil {
		t.Fatal(err)
	}
	got, torn, err := journal.Read(path)
	if err != nil || torn || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %d changed events, torn %v: %v", len(got), torn, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []int{1, 3, 4_321, len(want) - 1} {
		damaged := bytes.Clone(data)
		at := 0
		for range line - 1 {
			at += bytes.IndexByte(damaged[at:], '\n') + 1
		}
		damaged[at+12] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, torn, err := journal.Read(path)
		if want := (&journal.DamageError{}); !asDamage(err, want) || want.Line != line || torn || len(got) != line-1 {
			t.Errorf("line %d damaged: %d events, torn %v: %v", line, len(got), torn, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, e := range longRun(2) {
		line, err := e.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"v":1,"seq":1,"time":"2026-01-01T00:00:00Z","run":"r","kind":"step.completed","refs":["/result"],"data":{"result":{"ref":"x","sha256":"y","bytes":1}}}`))
	f.Add([]byte("{}\n{}"))
	nowhere := filepath.Join(f.TempDir(), "r.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		// As a file: reading ends for any content, and the whole part reads the
		// same without the torn end.
		events, whole, torn, err := journal.ReadText(nowhere, text)
		if err == nil {
			again, _, tornAgain, err := journal.ReadText(nowhere, text[:whole])
			if err != nil || tornAgain || !reflect.DeepEqual(again, events) || torn != (whole < int64(len(text))) {
				t.Errorf("%d events, torn %v; without the torn end %d: %v", len(events), torn, len(again), err)
			}
		}
		// As one line with its checksum: it decodes as encoding/json does.
		if len(text) < 2 || bytes.ContainsRune(text, '\n') || bytes.Contains(text, []byte(`"refs":[`)) {
			return
		}
		line := string(text[:len(text)-1]) + "}"
		var want event.Event
		wantErr := json.Unmarshal([]byte(line), &want)
		events, _, _, err = journal.ReadText(nowhere, []byte(sealed(line)))
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(events, []event.Event{want}) {
			t.Errorf("got  %#v\nwant %#v", events, want)
		}
	})
}
