package tui_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replan/tui"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// TestEveryActionHasKeyWordsAndHandler checks the lines of all parts: each has keys and
// words, or names those of another line, and stands once in its place. Those that many
// parts share are carried out by each of them.
func TestEveryActionHasKeyWordsAndHandler(t *testing.T) {
	shared, said := map[string]bool{}, map[string]bool{}
	for _, l := range append(keymap.Shared(), keymap.SharedSearch()...) {
		shared[l.ID] = true
	}
	type spot struct {
		keymap.Place
		id string
	}
	placed := map[spot]bool{}
	for _, s := range tui.Sections() {
		for _, l := range s.Lines {
			switch {
			case placed[spot{s.Place, l.ID}]:
				t.Errorf("%s stands twice in %q", l.ID, s.Title)
			case !l.Handled && !shared[l.ID]:
				t.Errorf("nothing carries out %s", l.ID)
			case l.Like != "" && !said[l.Like]:
				t.Errorf("%s is like %s, which stands in no line before it", l.ID, l.Like)
			case l.Like == "" && !said[l.ID] && (l.Keys == "" || l.Does == ""):
				t.Errorf("%s has the keys %q and the words %q", l.ID, l.Keys, l.Does)
			}
			placed[spot{s.Place, l.ID}], said[l.ID] = true, true
		}
	}
}

// TestTestsOfPartsHaveTheKeysOfTheScreen compares the keys of [panetest.Keys] with those
// of the parts; -update writes them.
func TestTestsOfPartsHaveTheKeysOfTheScreen(t *testing.T) {
	want, err := json.Marshal(tui.Sections())
	if err != nil {
		t.Fatal(err)
	}
	want = append(bytes.ReplaceAll(want, []byte(`{"ID"`), []byte("\n"+`{"ID"`)), '\n') // a line for each action
	if bytes.Equal(want, panetest.KeysFile) {
		return
	}
	if update := flag.Lookup("update"); update == nil || update.Value.String() != "true" {
		t.Fatal("the keys of the tests of parts are not those of the program: run the tests of tui with -update")
	}
	if err := os.WriteFile("panetest/testdata/keys.json", want, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEveryRowNamesAnAction reads the rows of all tables: one that gives the key of another
// action a meaning has no line of its own, so that a wrong id would go unnoticed.
func TestEveryRowNamesAnAction(t *testing.T) {
	known := map[string]bool{}
	for _, s := range tui.Sections() {
		for _, l := range s.Lines {
			known[l.ID] = true
		}
	}
	row := regexp.MustCompile(`(?m)^\s+(?:\{ID: |(?:closing\[\*\w+\]|refused|moves|answering)\()"([\w.]+)"`)
	rows := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range row.FindAllStringSubmatch(string(source), -1) {
			if rows++; !known[found[1]] {
				t.Errorf("%s: there is no action %q", path, found[1])
			}
		}
		return err
	})
	if err != nil || rows < 200 {
		t.Errorf("read %d rows: %v", rows, err)
	}
}
