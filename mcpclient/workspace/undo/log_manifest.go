package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// read reads the manifest of a run. A run that changed nothing has none.
func (u *Log) read(run string) (runManifest, error) {
	dir, err := u.at(run)
	if err != nil {
		return runManifest{}, err
	}
	at := filepath.Join(dir, manifest)
	text, err := os.ReadFile(at) //nolint:gosec // the id was checked
	if errors.Is(err, fs.ErrNotExist) {
		return runManifest{}, nil
	}
	if err != nil {
		return runManifest{}, fmt.Errorf("reading the changes of the run %s: %w", run, err)
	}
	// What a crash has cut off was not begun.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var r runManifest
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var l manifestLine
		if err := json.Unmarshal(line, &l); err != nil {
			return runManifest{}, fmt.Errorf("the list of changes %s is damaged at line %d: it cannot be used for an undo", at, number)
		}
		r = r.take(l, run)
	}
	return r, nil
}

// since returns the run that, after that time, left a path of this workspace as it
// is now. It is empty if none is known.
func (u *Log) since(at, hash string, after time.Time, but []string) string {
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return "" // it is a hint
	}
	found, newest := "", after
	for _, e := range entries {
		run, ok := strings.CutSuffix(e.Name(), undoSuffix)
		if !ok || slices.Contains(but, run) {
			continue
		}
		r, err := u.read(run)
		if err != nil || r.workspace != u.tree.Dir {
			continue
		}
		for _, c := range chains(r.changes) {
			if last := c.last(); c.path == at && c.leaves(hash) && last.Time.After(newest) {
				found, newest = run, last.Time
			}
		}
	}
	return found
}
