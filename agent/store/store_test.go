package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A session accepts either store.
var (
	_ runner.Store = (*store.Store)(nil)
	_ runner.Store = store.Dry{}
)

// newStore returns a store in a new folder.
func newStore(t *testing.T) *store.Store {
	t.Helper()
	dirs, err := store.FindDirs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store.New(dirs)
}

// keep writes the journal of a run.
func keep(t *testing.T, s *store.Store, id string, data ...event.Data) {
	t.Helper()
	j, err := s.CreateJournal("run", id)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range data {
		if err := j.Append(event.Event{Seq: uint64(i + 1), Time: time.Now(), Run: id, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewestRunReturnsOutermostUnfinishedRun(t *testing.T) {
	for id, want := range map[string]string{
		"outer": "r-outer", "of-it": "r-outer", "of-one-that-is-over": "r-of-one-that-is-over", "of-none": "r-of-none",
	} {
		t.Run(id, func(t *testing.T) {
			s := newStore(t)
			begin := func(id, folder, outer string, rest ...event.Data) {
				keep(t, s, "r-"+id, append([]event.Data{event.RunStarted{Goal: untrusted.Text(id), Workspace: "/" + folder, Session: "s-1", Model: "m", Outer: outer}}, rest...)...)
			}
			begin("outer", "outer", "")
			begin("over", "over", "", event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonDirect}})
			begin("of-it", "of-it", "r-outer")
			begin("of-one-that-is-over", "of-one-that-is-over", "r-over")
			begin("of-none", "of-none", "r-gone")
			if run, ok, err := s.NewestRun("/" + id); err != nil || !ok || run.ID != want {
				t.Errorf("got run %s, %v, %v", run.ID, ok, err)
			}
		})
	}
	if _, ok, err := newStore(t).NewestRun("/w"); ok || err != nil {
		t.Errorf("an empty store returned a run: %v, %v", ok, err)
	}
}

func TestRunsAndPlansAreFoundByPrefix(t *testing.T) {
	s := newStore(t)
	ids := []string{"auth", "auth-2", "billing"}
	for _, id := range ids {
		keep(t, s, id, event.RunStarted{Goal: "g"})
		if _, err := s.Plans.Save(plan.Plan{ID: id, Title: untrusted.Text(id)}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for kind, find := range map[string]func(string) (string, error){"run": s.FindRun, "plan": s.FindPlan} {
		for prefix, want := range map[string]string{"auth": "auth", "auth-": "auth-2", "b": "billing", "billing": "billing"} {
			if id, err := find(prefix); err != nil || id != want {
				t.Errorf("%s %q is %q, want %q: %v", kind, prefix, id, want, err)
			}
		}
		var ambiguous *plan.AmbiguousIDError
		if _, err := find("au"); !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Candidates, ids[:2]) {
			t.Errorf("%s: error %v, want both candidates", kind, err)
		}
		var unknown *store.NotFoundError
		if _, err := find("x"); !errors.Is(err, plan.ErrUnknownID) || !errors.As(err, &unknown) || unknown.Kind != kind || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: error %v, want a NotFoundError that names the prefix", kind, err)
		}
	}
}

func TestRunIsFoundByItsEnd(t *testing.T) {
	s := newStore(t)
	for _, id := range []string{"r-20260102-030405-a61ec9", "r-20260102-030406-a61ef0"} {
		keep(t, s, id, event.RunStarted{Goal: "g"})
	}
	if id, err := s.FindRun("a61ec9"); err != nil || id != "r-20260102-030405-a61ec9" {
		t.Errorf("got %q, %v", id, err)
	}
	if id, err := s.FindChange("ec9"); err != nil || id != "r-20260102-030405-a61ec9" {
		t.Errorf("something to undo: got %q, %v", id, err)
	}
}

func TestLastRunIsTheNewestThatWasAskedForInTheFolder(t *testing.T) {
	s := newStore(t)
	for id, started := range map[string]event.RunStarted{
		"r-1": {Goal: "g", Workspace: "/w"}, "r-2": {Goal: "g", Workspace: "/w"}, "r-3": {Goal: "g", Workspace: "/other"},
		"r-4": {Goal: "g", Workspace: "/w", Outer: "r-2"}, "r-5": {Goal: "g", Workspace: "/w", PlanOnly: true},
		"r-6": {Goal: "g", Workspace: "/caf\xe9\xe8"},
	} {
		keep(t, s, id, started)
		seconds := int64(id[2] - '0')
		if err := os.Chtimes(s.Runs.Path(id), time.Unix(seconds, 0), time.Unix(seconds, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]string{"/w": "r-2", "/other": "r-3", "/caf\xe9\xe8": "r-6", "/nowhere": ""} {
		if id, err := s.LastRun(folder, nil); err != nil || id != want {
			t.Errorf("%s: got %q, %v; want %q", folder, id, err, want)
		}
	}
	if id, err := s.LastRun("/w", func(id string) bool { return id != "r-2" }); err != nil || id != "r-1" {
		t.Errorf("without r-2: got %q, %v", id, err)
	}
}

func TestNewestRunOfSessionsBeganWithThem(t *testing.T) {
	s := newStore(t)
	keep(t, s, "r-1", event.RunStarted{Session: "a"})
	keep(t, s, "r-2", event.RunStarted{Session: "other"})
	keep(t, s, "r-3", event.RunStarted{Session: "a", Outer: "r-1"})
	for since, want := range map[time.Time]string{time.Now().Add(-time.Hour): "r-1", time.Now().Add(time.Hour): ""} {
		run, ok, err := s.NewestOfSessions([]string{"b", "a"}, since)
		if err != nil || ok != (want != "") || run.ID != want {
			t.Errorf("got %q, %v, %v; want %q", run.ID, ok, err, want)
		}
	}
}

func TestSummariesFollowTheJournals(t *testing.T) {
	s := newStore(t)
	keep(t, s, "r-1", event.RunStarted{Goal: "first"})
	keep(t, s, "r-2", event.RunStarted{Goal: "second"})
	check := func(want string) {
		t.Helper()
		for range 2 { // the second time from what the first has kept
			list, broken, err := store.New(s.Dirs).Summaries()
			var got []string
			for _, one := range list {
				got = append(got, one.Run+" "+string(one.Goal)+" "+string(one.Status))
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != want || len(broken) > 0 || err != nil {
				t.Fatalf("got %q, %v, %v; want %q", got, broken, err, want)
			}
		}
	}
	check("r-1 first unfinished, r-2 second unfinished")

	j, _, err := s.Runs.Open("r-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(event.Event{Seq: 2, Time: time.Now(), Run: "r-1", Data: event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}}}); err != nil {
		t.Fatal(err)
	}
	list, err := s.RunSummaries() // journals of the same tick of the clock are in any order
	if err != nil || !slices.ContainsFunc(list, func(one agent.Summary) bool { return one.Run == "r-1" && one.Status == event.StatusCompleted }) {
		t.Errorf("while it is open: %+v, %v", list, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	check("r-1 first completed, r-2 second unfinished")
	if _, err := s.Runs.Delete("r-2"); err != nil {
		t.Fatal(err)
	}
	check("r-1 first completed")
	if err := os.WriteFile(filepath.Join(s.Dirs.State, "summaries.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("r-1 first completed")
}

func TestRunThatCountsOnAnUndoneRunIsNotListedAsResumable(t *testing.T) {
	s := newStore(t)
	done := event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}}
	failed := event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed}}
	keep(t, s, "r-1", event.RunStarted{Goal: "its inner run is undone"})
	keep(t, s, "r-2", event.RunStarted{Goal: "inner", Outer: "r-1"}, done, event.RunUndone{})
	keep(t, s, "r-3", event.RunStarted{Goal: "undone in the inner one", Outer: "r-4"}, done, event.RunUndone{})
	keep(t, s, "r-4", event.RunStarted{Goal: "inner", Outer: "r-5"}, done)
	keep(t, s, "r-5", event.RunStarted{Goal: "outermost"})
	keep(t, s, "r-6", event.RunStarted{Goal: "starts its call again"})
	keep(t, s, "r-7", event.RunStarted{Goal: "inner", Outer: "r-6"}, failed, event.RunUndone{})
	want := map[string]bool{"r-1": false, "r-2": false, "r-3": false, "r-4": false, "r-5": false, "r-6": true, "r-7": false}
	for range 2 { // the second time from what the first has kept
		list, err := s.RunSummaries()
		if err != nil || len(list) != len(want) {
			t.Fatalf("got %+v, %v", list, err)
		}
		for _, one := range list {
			if one.Resumable != want[one.Run] {
				t.Errorf("%s: resumable is %v", one.Run, one.Resumable)
			}
		}
	}
}

func TestSummariesAreReadFromJournalsOnlyOnceUntilTheyChange(t *testing.T) {
	s := newStore(t)
	keep(t, s, "r-1", event.RunStarted{Goal: "first"})
	file := filepath.Join(s.Dirs.State, "summaries.json")
	check := func(goal untrusted.Text, status event.Status) {
		t.Helper()
		list, err := s.RunSummaries()
		if err != nil || len(list) != 1 || list[0].Goal != goal || list[0].Status != status {
			t.Errorf("got %+v, %v; want %s, %s", list, err, goal, status)
		}
	}
	cached := func() string {
		t.Helper()
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	check("first", agent.StatusUnfinished)
	if err := os.WriteFile(file, []byte(strings.Replace(cached(), "first", "cached", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	check("cached", agent.StatusUnfinished)
	before := cached()
	j, _, err := s.Runs.Open("r-1")
	if err != nil {
		t.Fatal(err)
	}
	check("first", agent.StatusRunning) // a process writes it
	if err := j.Append(event.Event{Seq: 2, Time: time.Now(), Run: "r-1", Data: event.RunSteered{Text: "go on"}}); err != nil {
		t.Fatal(err)
	}
	check("first", agent.StatusRunning)
	if after := cached(); after != before {
		t.Errorf("a run that is under way changed the cache from %s to %s", before, after)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	check("first", agent.StatusUnfinished) // its journal has changed
	if after := cached(); after == before || strings.Contains(after, "cached") {
		t.Errorf("the summary of a changed journal stays %s", after)
	}
}

func TestUndoNamesEffectsThatItLeavesButNoTests(t *testing.T) {
	s := newStore(t)
	tools := plan.Catalog{{Server: "out", Name: "send"}, {Server: "out", Name: "look", ReadOnly: true}}
	data := []event.Data{nil, event.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "t", Steps: []plan.Step{{Index: "1", Executor: plan.ExecutorSelf}}}}}
	for i, name := range []string{"fs.patch", "test.run", "test.lint", "proc.run", "send", "look"} {
		if i < 4 {
			tools = append(tools, plan.Tool{Server: "workspace", Name: name, Trusted: true})
		}
		data = append(data, event.StepStarted{Index: "1", Attempt: i + 1, Tool: name})
	}
	data[0] = event.RunStarted{Goal: "change", Catalog: tools}
	keep(t, s, "r-1", data...)
	c, err := s.Changes("r-1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Notes(false), "anything that proc.run and out:send changed is not restored"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUndoIsRecordedOnceInEachJournal(t *testing.T) {
	s := newStore(t)
	keep(t, s, "r-1", event.RunStarted{Goal: "outer"}, event.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "t", Steps: []plan.Step{{Index: "1", Executor: plan.ExecutorSelf}}}},
		event.RunSpawned{Index: "1", Run: "r-2"}, event.RunSpawned{Index: "1", Run: "r-lost"})
	keep(t, s, "r-2", event.RunStarted{Goal: "inner", Outer: "r-1"})
	for range 2 {
		undo(t, s, "r-1")
	}
	list, broken, err := s.Summaries()
	if err != nil || len(broken) > 0 || len(list) != 2 {
		t.Fatalf("got %+v, %v, %v", list, broken, err)
	}
	for _, run := range list {
		if !run.Undone || run.Restored != 1 || run.Resumable {
			t.Errorf("got %+v", run)
		}
	}
	if events, err := s.ReadRun("r-2"); err != nil || len(events) != 2 {
		t.Errorf("got the events %v: %v", events, err)
	}
}

func TestUndoLeavesTheOrderOfRuns(t *testing.T) {
	s := newStore(t)
	long := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	keep(t, s, "r-old", event.RunStarted{Goal: "g", Workspace: "/w", Session: "a"})
	if err := os.Chtimes(s.Runs.Path("r-old"), long, long); err != nil {
		t.Fatal(err)
	}
	keep(t, s, "r-new", event.RunStarted{Goal: "g", Workspace: "/w", Session: "a"})
	undo(t, s, "r-old")
	list, err := s.Runs.List()
	if err != nil || len(list) != 2 || list[1].ID != "r-old" || !list[1].Modified.Equal(long) {
		t.Errorf("got %+v, %v", list, err)
	}
	if id, err := s.LastRun("/w", nil); err != nil || id != "r-new" {
		t.Errorf("the last run is %s, %v", id, err)
	}
	if run, _, err := s.NewestRun("/w"); err != nil || run.ID != "r-new" {
		t.Errorf("the newest run is %s, %v", run.ID, err)
	}
	if list, err := s.RunSummaries(); err != nil || len(list) != 2 || !list[1].Undone {
		t.Errorf("got %+v, %v", list, err)
	}
}

// undo records that a run is undone.
func undo(t *testing.T, s *store.Store, run string) {
	t.Helper()
	c, err := s.Changes(run)
	if err != nil {
		t.Fatal(err)
	}
	release, err := c.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Record(event.RunUndone{Files: []event.UndoneFile{{Path: "a.go", Action: "restored"}}}, time.Now()), release()); err != nil {
		t.Fatal(err)
	}
}

func TestKilledUndoIsRecordedByTheNextReader(t *testing.T) {
	for name, read := range map[string]func(s *store.Store) error{
		"list": func(s *store.Store) error {
			list, err := s.RunSummaries()
			if err == nil && (len(list) != 1 || !list[0].Undone || list[0].Resumable) {
				err = fmt.Errorf("got %+v", list)
			}
			return err
		},
		"resume": func(s *store.Store) error {
			j, events, err := s.ReopenRun("r-1")
			if err == nil && events[len(events)-1].Data.Kind() != event.KindRunUndone {
				err = fmt.Errorf("got %+v", events)
			}
			return errors.Join(err, j.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			s.UseUndoRecords(func(run string) bool { return run == "r-1" })
			keep(t, s, "r-1", event.RunStarted{Goal: "g"})
			if events, err := s.ReadRun("r-1"); err != nil || len(events) != 2 || events[1].Data.Kind() != event.KindRunUndone {
				t.Errorf("read %+v, %v", events, err)
			}
			if err := read(s); err != nil {
				t.Fatal(err)
			}
			s.UseUndoRecords(nil)
			if run, err := s.FoldRun("r-1"); err != nil || run.Undone == nil {
				t.Errorf("the journal has %+v, %v", run.Undone, err)
			}
		})
	}
}

func TestPruneTakesAnUndoneRunForEnded(t *testing.T) {
	s := newStore(t)
	keep(t, s, "r-killed", event.RunStarted{Goal: "g"})
	keep(t, s, "r-undone", event.RunStarted{Goal: "g"}, event.RunUndone{})
	if pruned, err := s.Prune(store.Pruning{}, time.Now()); err != nil || !slices.Contains(pruned.Files, s.Runs.Path("r-undone")) {
		t.Errorf("removed %v, %v", pruned.Files, err)
	}
	if ids, err := s.Runs.IDs(); err != nil || !slices.Equal(ids, []string{"r-killed"}) {
		t.Errorf("keeps %v, %v", ids, err)
	}
}

func TestDryRunsKeepNoJournal(t *testing.T) {
	s := newStore(t)
	refused := errors.New("not dry")
	dry := store.Dry{Store: s, NoResume: refused}
	j, err := dry.CreateJournal("run", "r-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(event.Event{Seq: 1, Run: "r-1"}), j.Close()); err != nil {
		t.Error(err)
	}
	if _, _, err := dry.ReopenRun("r-1"); !errors.Is(err, refused) {
		t.Errorf("ReopenRun: got error %v, want %v", err, refused)
	}
	if left, _ := os.ReadDir(s.Dirs.State); len(left) > 0 {
		t.Errorf("the dry run left %v", left)
	}
}

func TestExportOverwritesNothing(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 4, 0, 0, time.UTC)
	workspace := t.TempDir()
	s := store.New(store.Dirs{Data: t.TempDir()})
	exports := filepath.Join(s.Dirs.Data, "exports")
	if err := os.WriteFile(filepath.Join(workspace, "there.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(workspace, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, want string
		refused          error
	}{
		{"no name", "", filepath.Join(exports, "chat-20261122-100400.md"), nil},
		{"second export", "", filepath.Join(exports, "chat-20261122-100400-2.md"), nil},
		{"third export", "", filepath.Join(exports, "chat-20261122-100400-3.md"), nil},
		{"name in the workspace", "talk.md", filepath.Join(workspace, "talk.md"), nil},
		{"folder", "notes", filepath.Join(workspace, "notes", "chat-20261122-100400.md"), nil},
		{"existing file", "there.md", "", os.ErrExist},
		{"missing folder", "nowhere/talk.md", "", os.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := s.Export(workspace, c.file, "text", now)
			if c.refused != nil {
				if !errors.Is(err, c.refused) {
					t.Errorf("err %v", err)
				}
				return
			}
			if err != nil || path != c.want {
				t.Fatalf("wrote %s, %v", path, err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "text" { //nolint:gosec // the test's own
				t.Errorf("the export holds %q, %v", text, err)
			}
		})
	}
	if text, _ := os.ReadFile(filepath.Join(workspace, "there.md")); string(text) != "mine" {
		t.Errorf("the existing file holds %q", text)
	}
}

func TestRedoneRunIsAsItWas(t *testing.T) {
	s := newStore(t)
	undone := true
	s.UseUndoRecords(func(string) bool { return undone })
	keep(t, s, "r-1", event.RunStarted{Goal: "g"})
	redo := func() {
		t.Helper()
		c, err := s.Changes("r-1")
		if err != nil {
			t.Fatal(err)
		}
		release, err := c.Hold()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Record(event.RunUndone{Redo: true}, time.Now()), release()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		undo(t, s, "r-1")
		undone = false
		redo()
		redo()
	}
	events, err := s.ReadRun("r-1")
	if err != nil || len(events) != 5 || event.Undone(events) {
		t.Errorf("got %+v, %v", events, err)
	}
	if list, err := s.RunSummaries(); err != nil || len(list) != 1 || list[0].Undone || !list[0].Resumable {
		t.Errorf("got %+v, %v", list, err)
	}
	undone = true // undone again, and killed before it was recorded
	if events, err := s.ReadRun("r-1"); err != nil || !event.Undone(events) {
		t.Errorf("got %+v, %v", events, err)
	}
}
