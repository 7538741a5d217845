package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"replan/internal/untrusted"
	"replan/internal/wholefile"
	"replan/planning/fit"
	"replan/planning/pace"
)

// Attempt is what came of one attempt at a task.
type Attempt struct {
	Task     string         `json:"task"`
	Goal     string         `json:"goal"`
	Settings fit.Settings   `json:"settings"`
	Pass     int            `json:"pass"` // from 1
	Plan     bool           `json:"plan"` // the first plan had the calls that the goal needs, and its steps ran
	Reached  bool           `json:"reached"`
	Missed   untrusted.Text `json:"missed,omitempty"` // what the goal lacks
	Error    untrusted.Text `json:"error,omitempty"`  // why the run did not complete
	MS       int64          `json:"ms"`
	Speed    pace.Speed     `json:"speed,omitzero"` // of the model, as known after it
	At       time.Time      `json:"at"`             // when it ended
}

// attemptsVersion is the version of the file format.
const attemptsVersion = 2

// attemptsFile is the form of the file of attempts.
type attemptsFile struct {
	V        int                  `json:"v"`
	Attempts map[string][]Attempt `json:"attempts"` // by key
}

// decode reads a file. A damaged one counts as empty: it can be measured again.
func decode(data []byte) attemptsFile {
	var file attemptsFile
	if json.Unmarshal(data, &file) != nil || file.V != attemptsVersion || file.Attempts == nil {
		return attemptsFile{V: attemptsVersion, Attempts: map[string][]Attempt{}}
	}
	return file
}

// recall reads the attempts of a key.
func recall(path, key string) ([]Attempt, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the program's own file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was measured before: %w", err)
	}
	return decode(data).Attempts[key], nil
}

// saveAttempt stores an attempt.
func saveAttempt(ctx context.Context, path, key string, a Attempt) error {
	return edit(ctx, path, func(attempts map[string][]Attempt) { attempts[key] = append(attempts[key], a) })
}

// forget removes the attempts of a key.
func forget(ctx context.Context, path, key string) error {
	return edit(ctx, path, func(attempts map[string][]Attempt) { delete(attempts, key) })
}

func edit(ctx context.Context, path string, change func(map[string][]Attempt)) error {
	err := wholefile.Edit(ctx, path, func(before []byte) ([]byte, error) {
		file := decode(before)
		change(file.Attempts)
		return json.Marshal(file)
	})
	if err != nil {
		return fmt.Errorf("keep what was measured; choose another folder with --data-dir: %w", err)
	}
	return nil
}
