package store_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/store"
	"replan/planning/plan"
)

func TestFolderRemembersItsTools(t *testing.T) {
	dirs, err := store.FindDirs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := plan.Catalog{
		{Name: "get", Server: "hub", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "declared", Server: "hub", OutputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "never", Server: "hub"},
		{Name: "fs.read", Server: "workspace", Trusted: true},
	}
	for range 2 {
		err := store.New(dirs).NoteCalls("/home/a", tools, []plan.HistoryItem{
			{Tool: "get", Result: map[string]any{"title": "a secret"}},
			{Tool: "hub:get", Result: map[string]any{"count": json.Number("4711")}},
			{Tool: "declared", Result: map[string]any{"x": "y"}},
			{Tool: "gone", Result: "x"},
			{Tool: "fs.read", Result: map[string]any{"of": "a file"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.New(dirs).RecallTools("/home/b", tools); err != nil {
		t.Fatal(err)
	}
	got, err := store.New(dirs).RecallTools("/home/a", tools)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":["object"],"properties":{"count":{"type":["number"]},"title":{"type":["string"]}}}`; got[0].Uses != 2 || string(got[0].SeenSchema) != want {
		t.Errorf("got %d uses and %s, want 2 and %s", got[0].Uses, got[0].SeenSchema, want)
	}
	if got[3].Uses != 2 || got[3].SeenSchema != nil {
		t.Errorf("got %+v of an operator", got[3])
	}
	if got[1].Uses != 2 || got[1].SeenSchema != nil || got[2].Uses != 0 || tools[0].Uses != 0 {
		t.Errorf("got %+v of %+v", got, tools)
	}
	if other, err := store.New(dirs).RecallTools("/home/b", tools); err != nil || other[0].Uses != 0 {
		t.Errorf("another folder has %+v: %v", other[0], err)
	}
	changed := plan.Catalog{{Name: "get", Server: "hub", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}}
	if got, err := store.New(dirs).RecallTools("/home/a", changed); err != nil || got[0].SeenSchema != nil || got[0].Uses != 2 {
		t.Errorf("a tool with another schema has %+v: %v", got[0], err)
	}
	files, err := filepath.Glob(filepath.Join(dirs.State, "tools", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q: %v", files, err)
	}
	if data, err := os.ReadFile(files[0]); err != nil || strings.Contains(string(data), "secret") || strings.Contains(string(data), "4711") {
		t.Errorf("the file holds values: %s %v", data, err)
	}
}

func TestLateRunsCountMost(t *testing.T) {
	dirs, err := store.FindDirs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := plan.Catalog{{Name: "early", Server: "s"}, {Name: "late", Server: "s"}}
	for _, name := range []string{"early", "late"} {
		for range 100 {
			if err := store.New(dirs).NoteCalls("/f", tools, []plan.HistoryItem{{Tool: name}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := store.New(dirs).RecallTools("/f", tools)
	if err != nil || got[0].Uses >= got[1].Uses || got[1].Uses > 64 {
		t.Errorf("got %d and %d uses: %v", got[0].Uses, got[1].Uses, err)
	}
}
