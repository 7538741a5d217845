package fit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"replan/internal/untrusted"
	"replan/internal/wholefile"
	"replan/planning/fit"
)

// Result is the plan of a model for one goal.
type Result struct {
	Goal  int    `json:"goal"` // its number
	Text  string `json:"text"`
	Tools int    `json:"foreign_tools"` // beside the operators of the workspace
	fit.Score
	Repairs int            `json:"repairs"`
	Tokens  int            `json:"tokens"`
	MS      int64          `json:"ms"`
	Reason  untrusted.Text `json:"reason,omitempty"` // why there is no valid plan
}

// keptVersion is the version of the file format.
const keptVersion = 1

// keptFile is the form of the file with results.
type keptFile struct {
	V       int                       `json:"v"`
	Results map[string]map[int]Result `json:"results"` // by key, then by goal
}

// decode reads a file. A damaged one counts as empty: it can be measured again.
func decode(data []byte) keptFile {
	var file keptFile
	if json.Unmarshal(data, &file) != nil || file.V != keptVersion || file.Results == nil {
		return keptFile{V: keptVersion, Results: map[string]map[int]Result{}}
	}
	return file
}

// recall reads the results of a key, by goal.
func recall(path, key string) (map[int]Result, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the program's own file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was measured before: %w", err)
	}
	return decode(data).Results[key], nil
}

// keep stores a result.
func keep(ctx context.Context, path, key string, result Result) error {
	return edit(ctx, path, func(results map[string]map[int]Result) {
		if results[key] == nil {
			results[key] = map[int]Result{}
		}
		results[key][result.Goal] = result
	})
}

// forget removes the results of a key.
func forget(ctx context.Context, path, key string) error {
	return edit(ctx, path, func(results map[string]map[int]Result) { delete(results, key) })
}

func edit(ctx context.Context, path string, change func(map[string]map[int]Result)) error {
	err := wholefile.Edit(ctx, path, func(before []byte) ([]byte, error) {
		file := decode(before)
		change(file.Results)
		return json.Marshal(file)
	})
	if err != nil {
		return fmt.Errorf("keep what was measured; choose another folder with --data-dir: %w", err)
	}
	return nil
}

// shortSum returns a short checksum.
func shortSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
