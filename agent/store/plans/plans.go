package plans

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
	"replan/planning/plan"
)

// ErrExists reports that a plan with this id already exists.
var ErrExists = errors.New("a plan with this id already exists; delete it first or choose another id")

const (
	planSuffix = ".json"
	lockName   = ".lock"

	// createdField is the field of a plan file with the creation time. The name
	// is that of mcp-cli's plan files. The file's own time would not survive a
	// copy or a change of the plan.
	createdField = "created_at"
)

// Limits on the wait for another process's change, which takes milliseconds.
const (
	lockPatience = 5 * time.Second
	lockInterval = 5 * time.Millisecond
)

// Store is a folder of plans. Methods that take an id return plan.ErrBadID if
// plan.CheckID rejects it, before they build a path from it. For a missing plan
// the error wraps fs.ErrNotExist. Several processes may use the same folder.
type Store struct {
	Dir string
}

// Entry is a plan in a store.
type Entry struct {
	ID      string
	Title   string
	Steps   int
	Created time.Time // when it was first saved, else the file's modification time
	Error   error     // why it cannot be read; then only ID and Created are set
}

// Save stores a new plan and returns it as stored. A missing id is derived from
// the title, and a missing created_at is set to now. If the id is taken, the
// error is ErrExists.
func (s Store) Save(p plan.Plan, now time.Time) (plan.Plan, error) {
	if p.ID != "" {
		if err := plan.CheckID(p.ID); err != nil {
			return p, fmt.Errorf("save the plan: %w", err)
		}
	}
	err := s.change(func() error {
		var err error
		if p.ID == "" {
			p.ID, err = s.freshID(string(p.Title))
		} else {
			err = s.free(p.ID)
		}
		if err != nil {
			return err
		}
		p = dated(p, now)
		return s.write(p)
	})
	if err != nil {
		return p, fmt.Errorf("save the plan: %w", err)
	}
	return p, nil
}

// Load reads a plan. The file's name determines the id, whatever the file says.
// If the file is no plan, the error is a *plan.InvalidPlanError; Load does not
// validate the plan, see plan.Validate.
func (s Store) Load(id string) (plan.Plan, error) {
	if err := plan.CheckID(id); err != nil {
		return plan.Plan{}, fmt.Errorf("load the plan: %w", err)
	}
	data, err := os.ReadFile(s.path(id))
	if err != nil {
		return plan.Plan{}, fmt.Errorf("load the plan: %w", err)
	}
	p, faults := plan.DecodePlan(data)
	if err := plan.FaultError(faults); err != nil {
		return plan.Plan{}, fmt.Errorf("load the plan from %s: %w", s.path(id), err)
	}
	p.ID = id
	return p, nil
}

// List returns all plans, newest first. Unreadable plans are included with their
// error. A missing folder has no plans.
func (s Store) List() ([]Entry, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, fmt.Errorf("list the plans: %w", err)
	}
	entries := make([]Entry, 0, len(ids))
	for _, id := range ids {
		e := Entry{ID: id}
		if info, err := os.Stat(s.path(id)); err == nil {
			e.Created = info.ModTime()
		}
		p, err := s.Load(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // deleted in the meantime
		case err != nil:
			e.Error = err
		default:
			e.Title, e.Steps, e.Created = string(p.Title), len(p.Steps), createdAt(p, e.Created)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return entries, nil
}

// Delete removes a plan and returns the removed files. The runs of the plan stay.
func (s Store) Delete(id string) (removed []string, err error) {
	if err := plan.CheckID(id); err != nil {
		return nil, fmt.Errorf("delete the plan: %w", err)
	}
	// Check first, so that no folder is created for a missing plan.
	if _, err := os.Lstat(s.path(id)); err != nil {
		return nil, fmt.Errorf("delete the plan: %w", err)
	}
	err = s.change(func() error { return os.Remove(s.path(id)) })
	if err != nil {
		return nil, fmt.Errorf("delete the plan: %w", err)
	}
	return []string{s.path(id)}, nil
}

// path returns the path of a plan; the id must have been checked.
func (s Store) path(id string) string { return filepath.Join(s.Dir, id+planSuffix) }

// IDs returns the ids of all plans, sorted.
func (s Store) IDs() ([]string, error) {
	files, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ids := make([]string, 0, len(files))
	for _, file := range files {
		id, ok := strings.CutSuffix(file.Name(), planSuffix)
		if ok && !file.IsDir() && plan.CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// free returns ErrExists if the id is taken.
func (s Store) free(id string) error {
	_, err := os.Lstat(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", id, ErrExists)
}

// change calls do under the folder's lock and returns once the change is on disk.
func (s Store) change(do func() error) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock := flock.New(filepath.Join(s.Dir, lockName))
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return fmt.Errorf("lock the folder of plans %s: %w", s.Dir, err)
	}
	err := do()
	if err == nil {
		err = s.sync()
	}
	return errors.Join(err, lock.Unlock())
}

// sync makes the names in the folder durable.
func (s Store) sync() error {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return err
	}
	// Some file systems refuse to sync a folder; the files themselves are synced.
	_ = dir.Sync()
	return dir.Close()
}

// write writes a plan file.
func (s Store) write(p plan.Plan) error {
	data, err := plan.EncodeJSON(p)
	if err != nil {
		return err
	}
	var text bytes.Buffer // indented, because people edit these files by hand
	if err := json.Indent(&text, data, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	return wholefile.Write(s.path(p.ID), text.Bytes())
}

// freshID derives an unused id from a title.
func (s Store) freshID(title string) (string, error) {
	for {
		var random [3]byte
		_, _ = rand.Read(random[:]) // never fails, according to its documentation
		id := slug(title) + "-" + hex.EncodeToString(random[:])
		if err := s.free(id); !errors.Is(err, ErrExists) {
			return id, err
		}
	}
}

// maxSlug is the maximum length of the title's part of an id.
const maxSlug = 40

// slug converts a title to a part of an id: its ASCII letters and digits in lower
// case, with dashes in between.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	out := ""
	for _, word := range words {
		longer := strings.TrimPrefix(out+"-"+word, "-")
		if len(longer) > maxSlug {
			break
		}
		out = longer
	}
	switch {
	case out != "":
		return out
	case len(words) > 0:
		return words[0][:maxSlug]
	default:
		return "plan"
	}
}

// dated returns the plan with its creation time, unless it already has one.
func dated(p plan.Plan, created time.Time) plan.Plan {
	if _, ok := p.Extra[createdField]; ok {
		return p
	}
	extra := map[string]any{createdField: created.UTC().Format(time.RFC3339Nano)}
	maps.Copy(extra, p.Extra)
	p.Extra = extra
	return p
}

// createdAt returns the creation time in a plan, else fallback.
func createdAt(p plan.Plan, fallback time.Time) time.Time {
	text, _ := p.Extra[createdField].(string)
	if created, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return created
	}
	return fallback
}
