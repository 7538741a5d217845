package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Changes is what the journals say of a run that is to be undone, and of those
// that its plan tools started.
type Changes struct {
	Runs      []string // the run itself first
	Workspace string   // "" where no journal says

	journals  journal.Folder
	committed bool
	others    []string // tools with effects that cannot be undone
	damaged   []string // runs whose journal cannot be read to its end
}

// Changes follows a run and the runs that it started, as far as their journals
// can be read.
func (s *Store) Changes(run string) (*Changes, error) {
	c := &Changes{journals: s.Runs}
	return c, c.follow(run)
}

// follow reads the journal of a run. Which files it changed is listed elsewhere,
// so a damaged journal does not keep it from being undone.
func (c *Changes) follow(id string) error {
	if slices.Contains(c.Runs, id) {
		return nil
	}
	c.Runs = append(c.Runs, id)
	events, err := c.journals.Read(id)
	var damaged *journal.DamageError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrEmpty):
		return nil
	case errors.As(err, &damaged):
		c.damaged = append(c.damaged, id)
	case err != nil:
		return err
	}
	var tools plan.Catalogue
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.RunStarted:
			tools = d.Catalogue
			if c.Workspace == "" {
				c.Workspace = d.Workspace
			}
		case event.RunResumed:
			tools = d.Catalogue
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

// note takes note of a tool that was called whose effects cannot be undone.
func (c *Changes) note(tools plan.Catalogue, name string) {
	if _, err := prompt.PlanTools().Find(name); err == nil || name == "" {
		return
	}
	tool, err := tools.Find(name)
	switch {
	case err != nil, tool.ReadOnly, tool.Trusted && strings.HasPrefix(tool.Name, "fs."):
	case tool.Trusted && tool.Name == "vcs.commit":
		c.committed = true
	case tool.Trusted && !slices.Contains(c.others, tool.Name):
		c.others = append(c.others, tool.Name)
	case !tool.Trusted && !slices.Contains(c.others, tool.QualifiedName()):
		c.others = append(c.others, tool.QualifiedName())
	}
}

// BusyError says that somebody still works on a run.
type BusyError struct{ Run string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the run %s still goes on: stop it first, or wait until it has ended", e.Run)
}

// Hold keeps everybody from working on the runs until they are released. It
// fails with a *BusyError where somebody does.
func (c *Changes) Hold() (release func() error, err error) {
	var held []func() error
	release = func() error {
		var errs []error
		for _, one := range slices.Backward(held) {
			errs = append(errs, one())
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
		held = append(held, one)
	}
	return release, nil
}

// Notes say what an undo leaves as it is.
func (c *Changes) Notes() []string {
	var notes []string
	if c.committed {
		notes = append(notes, "the run made a commit: git's history stays as it is")
	}
	if n := len(c.others); n > 0 {
		names := c.others[n-1]
		if n > 1 {
			names = strings.Join(c.others[:n-1], ", ") + " and " + names
		}
		notes = append(notes, "what "+names+" changed is not put back")
	}
	for _, id := range c.damaged {
		notes = append(notes, "the journal of "+id+" is damaged: runs that it started later are not undone with it")
	}
	return notes
}
