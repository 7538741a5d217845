package plans_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/store/plans"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// now returns the time of these tests.
func now() time.Time { return time.Date(2026, 11, 21, 9, 30, 0, 123, time.UTC) }

func samplePlan(id, title string) plan.Plan {
	return plan.Plan{ID: id, Title: untrusted.Text(title), Goal: untrusted.Text(title), Steps: []plan.Step{
		{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"n": json.Number("1.50"), "html": "<&>"}},
	}}
}

func save(t *testing.T, s plans.Store, p plan.Plan) plan.Plan {
	t.Helper()
	saved, err := s.Save(p, now())
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func TestSavedPlanIsLoaded(t *testing.T) {
	s := plans.Store{Dir: filepath.Join(t.TempDir(), "data", "plans")}
	p := samplePlan("auth", "Refactor auth")
	p.Extra = map[string]any{"owner": "me", "big": json.Number("12345678901234567890")}
	saved := save(t, s, p)
	got, err := s.Load("auth")
	if err != nil || !plan.EqualValues(asValue(t, got), asValue(t, saved)) || !reflect.DeepEqual(got.Steps[0].Args, p.Steps[0].Args) {
		t.Errorf("loaded %+v, want %+v: %v", got, saved, err)
	}
	if got.Extra["owner"] != "me" || got.Extra["big"] != json.Number("12345678901234567890") {
		t.Errorf("extra fields %v", got.Extra)
	}
	if len(p.Extra) != 2 {
		t.Errorf("the caller's plan changed: %v", p.Extra)
	}
	for name, mode := range map[string]os.FileMode{s.Dir: 0o700, filepath.Join(s.Dir, "auth.json"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v: %v", name, info.Mode(), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "auth.json"))
	if err != nil || !strings.Contains(string(text), `"html": "<&>"`) || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("file %s: %v", text, err)
	}
}

func TestMissingAndEmptyArgsStayDistinct(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	p := samplePlan("auth", "Refactor auth")
	p.PlannedBy = "qwen3:8b"
	p.Steps = append(p.Steps, p.Steps[0], p.Steps[0])
	p.Steps[1].Index, p.Steps[1].Args = "2", nil
	p.Steps[2].Index, p.Steps[2].Args = "3", map[string]any{}
	save(t, s, p)
	got, err := s.Load("auth")
	if err != nil || got.Steps[1].Args != nil || got.Steps[2].Args == nil || got.PlannedBy != p.PlannedBy {
		t.Errorf("%+v: %v", got, err)
	}
}

// asValue returns a plan as plain JSON.
func asValue(t *testing.T, p plan.Plan) any {
	t.Helper()
	v, err := plan.DecodeValue([]byte(plan.CanonicalJSON(p)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIDIsDerivedFromTitle(t *testing.T) {
	for title, want := range map[string]string{
		"Refactor auth module":        `refactor-auth-module`,
		"  Fix: the `Parse()` bug!  ": `fix-the-parse-bug`,
		"../../etc/passwd":            `etc-passwd`,
		"升级":                          `plan`,
		"":                            `plan`,
		"...":                         `plan`,
		"Rename verify_user, then run every one of the tests": `rename-verify-user-then-run-every-one-of`,
		strings.Repeat("a", 200):                              strings.Repeat("a", 40),
	} {
		t.Run(title, func(t *testing.T) {
			s := plans.Store{Dir: t.TempDir()}
			first, second := save(t, s, samplePlan("", title)), save(t, s, samplePlan("", title))
			pattern := regexp.MustCompile(`^` + want + `-[0-9a-f]{6}$`)
			if !pattern.MatchString(first.ID) || plan.CheckID(first.ID) != nil || first.ID == second.ID {
				t.Errorf("got the ids %q and %q, want two different ones that match %s", first.ID, second.ID, pattern)
			}
			if got, err := s.Load(first.ID); err != nil || string(got.Title) != title {
				t.Errorf("loaded %q: %v", got.Title, err)
			}
		})
	}
}

func TestSaveRefusesTakenID(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	save(t, s, samplePlan("a", "First"))
	if _, err := s.Save(samplePlan("a", "Second"), now()); !errors.Is(err, plans.ErrExists) || !strings.Contains(err.Error(), "a:") {
		t.Errorf("error %v, want ErrExists", err)
	}
	if got, err := s.Load("a"); err != nil || got.Title != "First" {
		t.Errorf("loaded %q: %v", got.Title, err)
	}
}

func TestSaveKeepsCreationTimeOfPlan(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	p := samplePlan("a", "Imported")
	p.Extra = map[string]any{"created_at": "2025-01-02T03:04:05Z"}
	save(t, s, p)
	p = samplePlan("b", "Imported too")
	p.Extra = map[string]any{"created_at": "yesterday"}
	save(t, s, p)
	got, err := s.List()
	if err != nil || len(got) != 2 || got[0].ID != "b" || got[0].Created.IsZero() || !got[1].Created.Equal(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("listed %+v: %v", got, err)
	}
	if b, err := s.Load("b"); err != nil || b.Extra["created_at"] != "yesterday" {
		t.Errorf("loaded %v: %v", b.Extra, err)
	}
}

func TestFileNameIsID(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.Dir, "copy.json"), []byte(`{"id":"original","title":"T","steps":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Load("copy"); err != nil || p.ID != "copy" {
		t.Errorf("loaded %q: %v", p.ID, err)
	}
}

func TestListIsNewestFirstWithBrokenFiles(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	for i, id := range []string{"first", "second", "third"} {
		if _, err := s.Save(samplePlan(id, "Plan "+id), now().Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	old := now().Add(-time.Hour)
	for name, text := range map[string]string{"broken.json": `{"title":`, "list.json": `[1]`} {
		path := filepath.Join(s.Dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	// Files that cannot be plans are left out.
	for _, name := range []string{"notes.txt", ".hidden.json"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.Dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range got {
		ids = append(ids, e.ID)
		if broken := e.ID == "broken" || e.ID == "list"; broken != (e.Error != nil) {
			t.Errorf("%s: error %v", e.ID, e.Error)
		} else if !broken && (e.Steps != 1 || e.Title != "Plan "+e.ID) {
			t.Errorf("entry %+v", e)
		}
	}
	if want := []string{"third", "second", "first", "broken", "list"}; !slices.Equal(ids, want) {
		t.Errorf("listed %v, want %v", ids, want)
	}
	var invalid *plan.InvalidPlanError
	if !errors.As(got[3].Error, &invalid) || !strings.Contains(got[3].Error.Error(), "broken.json") {
		t.Errorf("error %v, want an *InvalidPlanError that names the file", got[3].Error)
	}
}

func TestDeleteReturnsRemovedFiles(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	save(t, s, samplePlan("a", "A"))
	save(t, s, samplePlan("b", "B"))
	removed, err := s.Delete("a")
	if want := []string{filepath.Join(s.Dir, "a.json")}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q: %v", removed, want, err)
	}
	if _, err := s.Load("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("loaded: %v", err)
	}
	if _, err := s.Delete("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second delete: %v", err)
	}
	if _, err := s.Load("b"); err != nil {
		t.Error(err)
	}
}

func TestIDsAreCheckedBeforeUseInPaths(t *testing.T) {
	s := plans.Store{Dir: filepath.Join(t.TempDir(), "plans")}
	for _, id := range []string{"..", "../x", "a/b", "/etc/passwd", ".hidden", "a\n", strings.Repeat("a", 129)} {
		_, saveErr := s.Save(samplePlan(id, "T"), now())
		_, loadErr := s.Load(id)
		_, deleteErr := s.Delete(id)
		for name, err := range map[string]error{"Save": saveErr, "Load": loadErr, "Delete": deleteErr} {
			if !errors.Is(err, plan.ErrBadID) {
				t.Errorf("%s(%q): %v, want ErrBadID", name, id, err)
			}
		}
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}

func TestMissingFolderHasNoPlans(t *testing.T) {
	s := plans.Store{Dir: filepath.Join(t.TempDir(), "plans")}
	if got, err := s.List(); err != nil || len(got) != 0 {
		t.Errorf("listed %v: %v", got, err)
	}
	if _, err := s.Delete("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}

func TestConcurrentSavesOfOneID(t *testing.T) {
	s := plans.Store{Dir: t.TempDir()}
	results := make([]error, 8)
	var savers sync.WaitGroup
	for i := range results {
		savers.Go(func() { _, results[i] = s.Save(samplePlan("a", "A"), now()) })
	}
	savers.Wait()
	saved := 0
	for _, err := range results {
		if err == nil {
			saved++
		} else if !errors.Is(err, plans.ErrExists) {
			t.Error(err)
		}
	}
	if saved != 1 {
		t.Errorf("%d saves succeeded, want 1", saved)
	}
}
