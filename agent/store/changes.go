package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Changes is what the journals say about a run to undo and the runs that its plan
// tools started.
type Changes struct {
	Runs      []string // starting with the run itself
	Workspace string   // "" if no journal names it

	journals  journal.Folder
	held      []journal.Held
	committed bool
	copied    bool     // the run worked in a copy, so that an undo covers programs too
	others    []string // called tools whose effects cannot be undone
	damaged   []string // runs whose journal cannot be read completely
}

// follow reads the journal of a run. The changed files are listed elsewhere, so a
// damaged journal does not prevent the undo.
func (c *Changes) follow(id string) error {
	if slices.Contains(c.Runs, id) {
		return nil
	}
	c.Runs = append(c.Runs, id)
	events, err := c.journals.Read(id)
	var damaged *journal.DamageError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents):
		return nil
	case errors.As(err, &damaged):
		c.damaged = append(c.damaged, id)
	case err != nil:
		return err
	}
	var tools plan.Catalog
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.RunStarted:
			tools, c.copied = d.Catalog, c.copied || d.Copied
			if c.Workspace == "" {
				c.Workspace = d.Workspace
			}
		case event.RunResumed:
			tools = d.Catalog
		case event.RunSpawned:
			if err := c.follow(d.Run); err != nil {
				return err
			}
		case event.StepStarted:
			c.note(tools, d.Tool)
		}
	}
	return nil
}

// note records a called tool whose effects cannot be undone. Tests and linters are not
// called for their effects.
func (c *Changes) note(tools plan.Catalog, name string) {
	if _, err := prompt.OwnTools().Find(name); err == nil || name == "" {
		return
	}
	tool, err := tools.Find(name)
	switch {
	case err != nil, tool.ReadOnly, tool.Trusted && (strings.HasPrefix(tool.Name, "fs.") || strings.HasPrefix(tool.Name, "test.")):
	case tool.Trusted && tool.Name == "vcs.commit":
		c.committed = true
	case tool.Trusted && c.copied:
	case tool.Trusted && !slices.Contains(c.others, tool.Name):
		c.others = append(c.others, tool.Name)
	case !tool.Trusted && !slices.Contains(c.others, tool.QualifiedName()):
		c.others = append(c.others, tool.QualifiedName())
	}
}

// BusyError reports that a process is still working on a run.
type BusyError struct{ Run string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the run %s is still active: stop it first, or wait until it ends", e.Run)
}

// Hold keeps other processes from working on the runs until release is called. If
// one is working on a run, the error is a *BusyError.
func (c *Changes) Hold() (release func() error, err error) {
	release = func() error {
		var errs []error
		for _, one := range slices.Backward(c.held) {
			errs = append(errs, one.Release())
		}
		return errors.Join(errs...)
	}
	for _, run := range c.Runs {
		one, err := c.journals.Hold(run)
		if errors.Is(err, journal.ErrLocked) {
			err = &BusyError{run}
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		c.held = append(c.held, one)
	}
	return release, nil
}

// Record writes into the journals of the held runs that they are undone, or redone, so
// that whoever reads or resumes them knows. It skips runs whose journal says so already,
// and those that have none or a damaged one.
func (c *Changes) Record(what event.RunUndone, now time.Time) error {
	var errs []error
	for _, one := range c.held {
		err := one.Amend(what, now)
		var damaged *journal.DamageError
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, event.ErrNoEvents) && !errors.As(err, &damaged) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Notes returns what an undo leaves unchanged. A redo brings only files back, and says so.
func (c *Changes) Notes(redo bool) []string {
	var notes []string
	if redo {
		return nil // what the undo left unchanged is still there
	}
	if c.committed {
		notes = append(notes, "the run made a commit: git's history stays as it is")
	}
	if n := len(c.others); n > 0 {
		names := c.others[n-1]
		if n > 1 {
			names = strings.Join(c.others[:n-1], ", ") + " and " + names
		}
		notes = append(notes, "anything that "+names+" changed is not restored")
	}
	for _, id := range c.damaged {
		notes = append(notes, "the journal of "+id+" is damaged: runs it started later are not undone with it")
	}
	return notes
}
