package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/wholefile"
	"replan/planning/plan"
)

// journalSuffix is the suffix of a journal file.
const journalSuffix = ".jsonl"

// undoSuffix is the suffix of the folder in which the tools keep the files that a
// run changed. This package only treats it as part of the run.
const undoSuffix = ".undo"

// Folder is a folder of runs. <id>.jsonl is the journal of a run and
// <id>.jsonl.lock its lock; <id>.values holds its large values and <id>.undo the
// files before its changes. Methods that take an id return plan.ErrBadID if
// plan.CheckID rejects it, before they build a path from it. For a missing run
// the error wraps fs.ErrNotExist.
type Folder struct {
	Dir string
}

// Entry is a run in a folder.
type Entry struct {
	ID       string
	Modified time.Time // last write to its journal
	Bytes    int64     // of the journal and the files beside it
	Locked   bool      // a process is using it
}

// Path returns the path of a run's journal, "" for an invalid id.
func (f Folder) Path(id string) string {
	if plan.CheckID(id) != nil {
		return ""
	}
	return filepath.Join(f.Dir, id+journalSuffix)
}

// path is like Path but returns an error.
func (f Folder) path(id string) (string, error) {
	if err := plan.CheckID(id); err != nil {
		return "", fmt.Errorf("the run: %w", err)
	}
	return f.Path(id), nil
}

// Create creates the journal of a new run; see [Create].
func (f Folder) Create(id string) (*Journal, error) {
	path, err := f.path(id)
	if err != nil {
		return nil, err
	}
	return Create(path)
}

// Open opens the journal of a run for appending; see [Open].
func (f Folder) Open(id string) (*Journal, []event.Event, error) {
	path, err := f.path(id)
	if err != nil {
		return nil, nil, err
	}
	return Open(path)
}

// Read returns the events of a run, which may still be in progress; it skips a
// torn last line. If there are no events, the error is event.ErrNoEvents.
func (f Folder) Read(id string) ([]event.Event, error) {
	path, err := f.path(id)
	if err != nil {
		return nil, err
	}
	events, _, err := Read(path)
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("read the journal %s: %w", path, event.ErrNoEvents)
	}
	return events, err
}

// Head returns the first event of a run, which describes it, without reading the
// rest. Errors are those of Read.
func (f Folder) Head(id string) (event.Event, error) {
	path, err := f.path(id)
	if err != nil {
		return event.Event{}, err
	}
	file, err := os.Open(path) //nolint:gosec // the id was checked
	if err != nil {
		return event.Event{}, fmt.Errorf("open the journal: %w", err)
	}
	event, err := head(path, file)
	return event, errors.Join(err, file.Close())
}

// head returns the first event of a journal.
func head(path string, file io.Reader) (event.Event, error) {
	in := bufio.NewReader(io.LimitReader(file, maxLine))
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		if len(line) == maxLine {
			return event.Event{}, &DamageError{path, 1, errLongLine.Error()}
		}
		return event.Event{}, fmt.Errorf("read the journal %s: %w", path, event.ErrNoEvents)
	}
	if err != nil {
		return event.Event{}, fmt.Errorf("read the journal %s: %w", path, err)
	}
	_, more := in.Peek(1)
	r := reader{path: path, values: valuesOf(path)}
	b := block{text: line}
	r.open(&b)
	switch {
	case b.bad == nil:
		return b.events[0], nil
	case b.broken && errors.Is(more, io.EOF):
		return event.Event{}, fmt.Errorf("read the journal %s: %w", path, event.ErrNoEvents)
	default:
		return event.Event{}, &DamageError{path, 1, b.bad.Error()}
	}
}

// Fold returns the state of a run from its journal. For an event out of order,
// the error is a *DamageError with the line.
func (f Folder) Fold(id string) (agent.Run, error) {
	var run agent.Run
	events, err := f.Read(id)
	if err != nil {
		return run, err
	}
	for i, e := range events {
		if err := run.Apply(e); err != nil {
			return run, fmt.Errorf("fold the run %s: %w", id, &DamageError{f.Path(id), i + 1, err.Error()})
		}
	}
	return run, nil
}

// List returns the runs of the folder, newest first. A missing folder has none.
func (f Folder) List() ([]Entry, error) {
	files, names, err := f.journals()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(files))
	for _, file := range files {
		entry, err := f.entry(file, names)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted in the meantime
		}
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID) // ids start with the time
	})
	return entries, nil
}

// journals returns the journals of the folder, and the names of all that is there.
func (f Folder) journals() (journals []fs.DirEntry, names map[string]bool, err error) {
	files, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("list the runs: %w", err)
	}
	names = make(map[string]bool, len(files))
	for _, file := range files {
		names[file.Name()] = true
	}
	return slices.DeleteFunc(files, func(file fs.DirEntry) bool {
		id, ok := strings.CutSuffix(file.Name(), journalSuffix)
		return !ok || !file.Type().IsRegular() || plan.CheckID(id) != nil
	}), names, nil
}

// entry describes one journal. It looks only at what is among the names, since a
// look at what is missing takes as long.
func (f Folder) entry(file fs.DirEntry, names map[string]bool) (Entry, error) {
	info, err := file.Info()
	if err != nil {
		return Entry{}, err
	}
	e := Entry{ID: strings.TrimSuffix(file.Name(), journalSuffix), Modified: info.ModTime(), Bytes: info.Size()}
	path := filepath.Join(f.Dir, file.Name())
	for _, dir := range []string{valuesOf(path).folder(), undoOf(path)} {
		if !names[filepath.Base(dir)] {
			continue
		}
		beside, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Entry{}, err
		}
		for _, b := range beside {
			info, err := b.Info()
			if err != nil {
				return Entry{}, err
			}
			e.Bytes += info.Size()
		}
	}
	e.Locked, err = locked(path)
	return e, err
}

// undoOf returns the folder with the files changed by the run whose journal is at
// path.
func undoOf(path string) string { return strings.TrimSuffix(path, journalSuffix) + undoSuffix }

// Orphans returns files without a journal, newest first, such as those of a
// server whose client keeps none.
func (f Folder) Orphans() ([]Entry, error) {
	files, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var orphans []Entry
	for _, file := range files {
		id, ok := strings.CutSuffix(file.Name(), undoSuffix)
		if !ok || !file.IsDir() || plan.CheckID(id) != nil {
			continue
		}
		if _, err := os.Lstat(f.Path(id)); err == nil {
			continue
		}
		info, err := file.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted in the meantime
		}
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		held, err := locked(f.Path(id))
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		orphans = append(orphans, Entry{ID: id, Modified: info.ModTime(), Locked: held})
	}
	slices.SortFunc(orphans, func(a, b Entry) int { return b.Modified.Compare(a.Modified) })
	return orphans, nil
}

// Held is a run that no other process can work on or resume.
type Held struct {
	path string
	lock *lock
}

// Release lets other processes work on the run again.
func (h Held) Release() error { return h.lock.release() }

// Amend adds an undo or a redo to the journal of the held run, unless it says so already.
// It is no work on the run, so the time of the last write stays, by which lists are
// sorted. A crash leaves the old journal or the new one. Errors are those of [Open].
func (h Held) Amend(data event.RunUndone, now time.Time) error {
	info, err := os.Stat(h.path)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	text, err := os.ReadFile(h.path)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	codes, err := authenticate(filepath.Dir(h.path))
	if err != nil {
		return err
	}
	found, err := read(h.path, bytes.NewReader(text), codes)
	if err == nil {
		found, err = found.miss(h.path, h.lock.noted())
	}
	codes.follow(found.last)
	switch {
	case err != nil:
		return err
	case len(found.events) == 0:
		return fmt.Errorf("open the journal %s: %w", h.path, event.ErrNoEvents)
	case event.Undone(found.events) != data.Redo:
		return nil
	}
	var added []event.Event
	last := found.events[len(found.events)-1]
	if found.broken {
		last = found.damaged()
		added = append(added, last)
	}
	added = append(added, event.Event{Seq: last.Seq + 1, Time: now, Run: last.Run, Data: data})
	if text, err = valuesOf(h.path).seal(text[:found.whole], added, &codes); err != nil {
		return err
	}
	if err := wholefile.WriteDated(h.path, text, info.ModTime()); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	h.lock.note(len(found.events) + len(added))
	return h.lock.takeJournal(h.path)
}

// Hold keeps other processes from working on or resuming a run until it is
// released. If one is working on it, the error is ErrLocked.
func (f Folder) Hold(id string) (h Held, err error) {
	path, err := f.path(id)
	if err != nil {
		return h, err
	}
	lock, err := hold(path)
	return Held{path, lock}, err
}

// IDs returns the ids of all runs. A missing folder has none.
func (f Folder) IDs() ([]string, error) {
	files, _, err := f.journals()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(files))
	for i, file := range files {
		ids[i] = strings.TrimSuffix(file.Name(), journalSuffix)
	}
	return ids, nil
}

// Files returns the paths that may belong to a run, its lock last.
func (f Folder) Files(id string) []string {
	path := f.Path(id)
	return []string{path, valuesOf(path).folder(), undoOf(path), path + lockSuffix}
}

// Delete removes a run and returns the removed files and folders. While the run
// is in use, the error is ErrLocked. Delete also completes an interrupted
// removal.
func (f Folder) Delete(id string) (removed []string, err error) {
	path, err := f.path(id)
	if err != nil {
		return nil, err
	}
	// Remove the journal first: without it, the rest means nothing.
	belongings := f.Files(id)
	there := slices.DeleteFunc(slices.Clone(belongings), func(name string) bool {
		_, err := os.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(there) == 0 {
		return nil, fmt.Errorf("delete the run %s: %w", id, fs.ErrNotExist)
	}
	lock, err := hold(path)
	if err != nil {
		return nil, err
	}
	for _, name := range belongings[:3] {
		if err := os.RemoveAll(name); err != nil {
			return removed, errors.Join(fmt.Errorf("delete the run %s: %w", id, err), lock.release())
		}
		if slices.Contains(there, name) {
			removed = append(removed, name)
		}
	}
	if err := lock.remove(); err != nil {
		return removed, fmt.Errorf("delete the run %s: %w", id, err)
	}
	if slices.Contains(there, path+lockSuffix) {
		removed = append(removed, path+lockSuffix)
	}
	return removed, syncDir(f.Dir)
}
