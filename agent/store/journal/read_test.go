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

// TestLinesDecodeAsWithEncodingJSON holds that a journal adds
// and refuses nothing: whoever reads its lines by themselves sees the same events.
func TestLinesDecodeAsWithEncodingJSON(t *testing.T) {
	line := func(kind, data string) string {
		return `{"v":1,"seq":7,"time":"2026-01-01T00:00:00.5Z","run":"r","kind":"` + kind + `","data":` + data + `}`
	}
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	lines := map[string]string{
		"fields in another order":       `{"seq":7,"v":1,"data":{"text":"x"},"kind":"note","run":"r","time":"2026-01-01T00:00:00Z"}`,
		"a field that nobody knows":     `{"v":1,"seq":7,"new":[1],"time":"2026-01-01T00:00:00Z","run":"r","kind":"note","data":{}}`,
		"one after the data":            line("step.completed", `{"index":"1"},"new":{}`),
		"another kind after the data":   line("step.completed", `{"index":"1"},"kind":"note"`),
		"blanks":                        `{ "v":1, "seq":7, "time":"2026-01-01T00:00:00Z", "run":"r", "kind":"note", "data":{ } }`,
		"a time zone":                   strings.Replace(line("note", `{}`), "00.5Z", "00+02:00", 1),
		"a time with an escape":         strings.Replace(line("note", `{}`), "2026", `\u0032026`, 1),
		"no time":                       strings.Replace(line("note", `{}`), `"2026-01-01T00:00:00.5Z"`, "null", 1),
		"a bad time":                    strings.Replace(line("note", `{}`), "2026-01", "2026-13", 1),
		"a number that is a fraction":   strings.Replace(line("note", `{}`), `"seq":7`, `"seq":7.5`, 1),
		"a number that is too large":    strings.Replace(line("note", `{}`), `"seq":7`, `"seq":18446744073709551616`, 1),
		"a run with escapes":            strings.Replace(line("note", `{}`), `"run":"r"`, `"run":"a\"b\u0041"`, 1),
		"an unknown kind":               line("later.kind", `{"a":[1,2.50]}`),
		"a kind with escapes":           line(`st\u0065p.completed`, `{"index":"1"}`),
		"no data":                       line("step.completed", `null`),
		"data of the wrong type":        line("step.completed", `[]`),
		"an empty object":               line("step.completed", `{}`),
		"every number":                  line("step.completed", `{"result":[0,-0,-1.5e+10,1E5,12345678901234567890.000]}`),
		"a number that is none":         line("step.completed", `{"result":01}`),
		"another":                       line("step.completed", `{"result":1.}`),
		"words":                         line("step.completed", `{"result":[true,false,null]}`),
		"a word that is none":           line("step.completed", `{"result":nul}`),
		"a null result":                 line("step.completed", `{"index":"1","attempt":1,"result":null,"ms":5}`),
		"empty containers":              line("step.completed", `{"result":{"a":[],"b":{}}}`),
		"a name twice":                  line("step.completed", `{"result":{"a":1,"a":{"b":2}}}`),
		"a field twice":                 line("step.completed", `{"result":{"a":1},"result":{"b":2}}`),
		"args twice":                    line("step.started", `{"args":{"a":1},"args":{"b":2}}`),
		"args that are null":            line("step.started", `{"index":"1","args":null,"depends_on":null}`),
		"a name in capitals":            line("step.completed", `{"INDEX":"1"}`),
		"a count that is a fraction":    line("step.completed", `{"attempt":1.5}`),
		"a count in powers":             line("step.completed", `{"attempt":1e2}`),
		"a negative count":              line("step.completed", `{"ms":-5}`),
		"a reply":                       line("step.completed", `{"index":"1","reply":{"text":"x"},"tokens":9}`),
		"a dry run":                     line("step.completed", `{"index":"1","dry_run":true,"args":{"a":1}}`),
		"a draft":                       line("step.started", `{"index":"1","draft":true,"parent":"2"}`),
		"escapes":                       line("step.completed", `{"result":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d"}`),
		"an escape that is none":        line("step.completed", `{"result":"\x41"}`),
		"bytes that are not UTF-8":      line("step.completed", "{\"result\":\"a\xffb\"}"),
		"a control character":           line("step.completed", "{\"result\":\"a\x01b\"}"),
		"a text without an end":         line("step.completed", `{"result":"a}`),
		"values nested deep":            line("step.completed", `{"result":`+deep+`}`),
		"a bracket too many":            line("step.completed", `{"result":[]]}`),
		"a comma too many":              line("step.completed", `{"result":[1,]}`),
		"another comma too many":        line("step.completed", `{"result":{},}`),
		"text after the data":           line("step.completed", `{}x`),
		"every field of a start":        line("step.started", `{"index":"2","attempt":3,"title":"T","executor":"tool","tool":"t","depends_on":["1","a\"b"],"expected_outcome":"o","args":{"a":[1,{"b":null}]}}`),
		"a plan":                        line("plan.created", `{"plan":{"title":"P","steps":[{"title":"S","tool":"t","x":1.50}],"extra":[1]},"revision":1}`),
		"a plan with faults":            line("plan.created", `{"plan":{"title":7,"steps":[]},"revision":1}`),
		"no plan":                       line("plan.created", `{"plan":null,"revision":1}`),
		"a plan twice":                  line("plan.created", `{"plan":{"title":"P","steps":[]},"plan":{"title":"Q","steps":[]}}`),
		"a result without a plan":       line("run.completed", `{"status":"failed","reason":"no_plan","answer":"","error":"e","plan":null,"variables":{},"history":[],"revisions":[],"usage":{"steps":1},"duration_ms":5}`),
		"a result of nulls":             line("run.completed", `{"status":null,"plan":null,"variables":null,"history":null,"revisions":null,"usage":null}`),
		"a result with history":         line("run.completed", `{"status":"completed","plan":{"title":"P","steps":[]},"variables":{"n":1.0},"history":[{"index":"1","title":"T","tool":"t","args":{"a":1},"expected_outcome":"o","status":"failed","attempt":2,"result":[1.0],"error":"e","ms":3}],"revisions":[{"revision":2,"removed":["1"]}]}`),
		"a history with another field":  line("run.completed", `{"history":[{"index":"1","new":1}]}`),
		"a list of references, ignored": line("note", `{},"refs":["/text"]`),
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
		t.Fatalf("%d events came back changed, torn %v: %v", len(got), torn, err)
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
		// As a file: whatever it holds, reading ends, and what is whole of it is
		// read alone as it was with what is torn.
		events, whole, torn, err := journal.ReadText(nowhere, text)
		if err == nil {
			again, _, tornAgain, err := journal.ReadText(nowhere, text[:whole])
			if err != nil || tornAgain || !reflect.DeepEqual(again, events) || torn != (whole < int64(len(text))) {
				t.Errorf("%d events, torn %v; without the torn end %d: %v", len(events), torn, len(again), err)
			}
		}
		// As one line with its checksum: it means what encoding/json says.
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
