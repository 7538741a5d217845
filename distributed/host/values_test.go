package host_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/agent/runner/conformance"
	"replan/agent/session"
	"replan/agent/store"
	"replan/distributed/client"
	"replan/distributed/host"
	"replan/distributed/records"
	"replan/planning/plan"
)

// text is what a step finds: as large as that, with what JSON escapes.
func text(size int) string { return strings.Repeat("0123456789 <ä> \"\\\n", size/18) }

// large is a text that does not fit into a record.
var large = text(300 << 10)

// finder is a server whose tool look finds a text. What change is called with goes to
// changed.
type finder struct {
	runner.Tools
	found   string
	changed chan<- any
}

func (f finder) Call(_ context.Context, c plan.ToolCall) (any, error) {
	if c.Tool.Name == "change" {
		f.changed <- c.Args["where"]
		return map[string]any{"n": 1}, nil
	}
	return map[string]any{"text": f.found}, nil
}

// finding finds the text twice, and passes it on.
var finding = plan.Plan{Title: "Find", Steps: []plan.Step{
	{Index: "1", Title: "Look", Tool: "look", Args: map[string]any{"where": "1"}, ResultVariable: "found"},
	{Index: "2", Title: "Look again", Tool: "look", Args: map[string]any{"where": "2"}},
	{Index: "3", Title: "Change", Tool: "change", Args: map[string]any{"where": "${found.text}"}, DependsOn: []string{"1", "2"}},
}}

// finds opens runs with a finder.
func finds(t testing.TB, found string) (open func(context.Context, remote.Task) (host.Opened, error), changed <-chan any) {
	dir, calls := t.TempDir(), make(chan any, 10)
	return func(context.Context, remote.Task) (host.Opened, error) {
		cfg := conformance.Case{}.Config()
		cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
		cfg.Tools = finder{cfg.Tools, found, calls}
		return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
	}, calls
}

// tables is a database that a test looks into.
type tables struct {
	t      testing.TB
	db     *sql.DB
	schema string
}

func lookInto(t testing.TB, address string) tables {
	t.Helper()
	driver, source, schema := "pgx", address, "replan."
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, source, schema = "sqlite", "file:"+file+"?_pragma=busy_timeout(10000)", ""
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return tables{t, db, schema}
}

// number returns the result of a query. % stands for the schema.
func (d tables) number(query string) (n int) {
	d.t.Helper()
	if err := d.db.QueryRowContext(d.t.Context(), strings.ReplaceAll(query, "%", d.schema)).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// bytes returns the type of bytes.
func (d tables) bytes() string {
	if d.schema == "" {
		return "BLOB"
	}
	return "BYTEA"
}

func (d tables) execute(statement string, args ...any) {
	d.t.Helper()
	if _, err := d.db.ExecContext(d.t.Context(), strings.ReplaceAll(statement, "%", d.schema), args...); err != nil {
		d.t.Fatal(err)
	}
}

// leaveAtGate carries a run out until its gate is open, and ends its worker.
func leaveAtGate(t *testing.T, address, run string, open func(context.Context, remote.Task) (host.Opened, error)) (*client.Client, *watched) {
	t.Helper()
	first, err := host.Start(t.Context(), host.Config{Database: openDatabase(t, address), Worker: remote.Worker{ID: "w1", Version: version}, Open: open, Rhythm: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c := openClient(t, address)
	w := submit(t, c, remote.Task{Run: run, Plan: &finding, Attended: true})
	await[event.GateRequested](t, w, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	return c, w
}

// allow answers the n-th gate of a run.
func allow(t *testing.T, c *client.Client, w *watched, run string, n int) {
	t.Helper()
	gate := await[event.GateRequested](t, w, n)
	send(t, c, run, "ann", session.Resolve{Run: run, Gate: gate.Gate, Call: gate.Call, Decision: event.Allow})
}

func TestLargeValueIsKeptOnceAndReachesTheNextWorker(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		found := text(3 << 20)
		open, changed := finds(t, found)
		c, w := leaveAtGate(t, address, "r-1", open)
		if gate := await[event.GateRequested](t, w, 1); gate.Args["where"] != found {
			t.Error("the gate shows other arguments")
		}
		db := lookInto(t, address)
		if records, values := db.number("SELECT SUM(octet_length(output)) FROM %operation_outputs"), db.number("SELECT COUNT(*) FROM %replan_values"); records > 100_000 || values != 1 {
			t.Errorf("the records have %d bytes and %d values beside them", records, values)
		}
		startHost(t, address, "w2", open)
		allow(t, c, w, "r-1", 2)
		if got := <-changed; got != found {
			t.Errorf("the next worker passes on %.40v…", got)
		}
		if end := await[event.ChatReply](t, w, 1); end.Status != event.StatusCompleted {
			t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
		}
		for _, e := range events(t, c, "r-1") {
			if d, ok := e.Data.(event.RunCompleted); ok && d.History[0].Result.(map[string]any)["text"] != found {
				t.Error("the end of the run has another result")
			}
		}
		if n := db.number("SELECT COUNT(*) FROM %replan_values"); n != 1 {
			t.Errorf("the run has %d values in the end", n)
		}
	})
}

func TestListOfRunsLoadsNoLargeValues(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open, _ := finds(t, large)
		c, _ := leaveAtGate(t, address, "r-1", open)
		want, err := c.Runs(t.Context(), 0)
		if err != nil || len(want) != 1 || want[0].Steps != 3 || want[0].Done != 2 {
			t.Fatalf("the runs are %+v, %v", want, err)
		}
		lookInto(t, address).execute("DELETE FROM %replan_values")
		if got, err := c.Runs(t.Context(), 0); err != nil || len(got) != 1 || got[0] != want[0] {
			t.Errorf("the runs are %+v, %v", got, err)
		}
		refused(t, c, "is missing")
	})
}

// refused checks that the run r-1 cannot be read.
func refused(t *testing.T, c *client.Client, sentence string) {
	t.Helper()
	err := c.Follow(t.Context(), "r-1", func(records.Record, bool) error { return nil })
	problem, ok := errors.AsType[*remote.Problem](err)
	if !ok || problem.Code != remote.CodeDatabase || !strings.Contains(err.Error(), "the run r-1 is damaged: its large value ") || !strings.Contains(err.Error(), sentence) {
		t.Errorf("reading the run gives %v", err)
	}
}

func TestNothingRunsOnAChangedValue(t *testing.T) {
	onEach(t, func(t *testing.T, address string) {
		open, changed := finds(t, large)
		c, w := leaveAtGate(t, address, "r-1", open)
		lookInto(t, address).execute("UPDATE %replan_values SET value = $1", []byte(`"another text"`))
		startHost(t, address, "w2", func(context.Context, remote.Task) (host.Opened, error) {
			t.Error("the run is opened")
			return host.Opened{}, errors.New("it must not be opened")
		})
		w.mu.Lock()
		for !w.ended {
			w.more.Wait()
		}
		err := w.err
		w.mu.Unlock()
		if err == nil || !strings.Contains(err.Error(), "the run r-1 is damaged: its large value ") || !strings.Contains(err.Error(), "is not what was written; restore the database from a backup") {
			t.Errorf("who follows the run reads: %v", err)
		}
		refused(t, c, "is not what was written")
		if len(changed) > 0 {
			t.Error("a step ran")
		}
	})
}

// distinct is a finder whose results differ.
type distinct struct{ finder }

func (d distinct) Call(_ context.Context, c plan.ToolCall) (any, error) {
	return map[string]any{"text": fmt.Sprint(c.Args["where"], d.found)}, nil
}

// BenchmarkLargeStep measures steps with results of 10 MB, from the start of one to that
// of the next, and the rows of their records and of the end of the run.
func BenchmarkLargeStep(b *testing.B) {
	for name, address := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "runs.db") },
		"postgres": func() string { return synced(b) },
	} {
		b.Run(name, func(b *testing.B) {
			on := address()
			open, _ := finds(b, text(10<<20))
			startHost(b, on, "w1", func(ctx context.Context, task remote.Task) (host.Opened, error) {
				o, err := open(ctx, task)
				o.Config.Tools = distinct{o.Config.Tools.(finder)}
				return o, err
			})
			c := openClient(b, on)
			p := plan.Plan{Title: "Bench"}
			const steps = 6
			for i := range steps {
				s := plan.Step{Index: fmt.Sprint(i + 1), Title: "Look", Tool: "look", Args: map[string]any{"where": i}}
				if i > 0 {
					s.DependsOn = []string{fmt.Sprint(i)}
				}
				p.Steps = append(p.Steps, s)
			}
			for n := range b.N {
				run := fmt.Sprint("r-", n)
				if err := c.Submit(b.Context(), remote.Task{Run: run, Plan: &p}, version); err != nil {
					b.Fatal(err)
				}
				var starts []time.Time
				for _, e := range events(b, c, run) {
					if _, ok := e.Data.(event.StepStarted); ok {
						starts = append(starts, e.Time)
					}
				}
				b.ReportMetric(float64(starts[steps-1].Sub(starts[0]).Milliseconds())/(steps-1), "ms/step")
			}
			db := lookInto(b, on)
			b.ReportMetric(float64(db.number("SELECT MAX(octet_length(output)) FROM %operation_outputs")), "bytes/end")
			b.ReportMetric(float64(db.number("SELECT octet_length(output) FROM %operation_outputs ORDER BY 1 DESC LIMIT 1 OFFSET 4")), "bytes/row")
			b.ReportMetric(0, "ns/op") // it would count the start of the host
		})
	}
}
