package runner

import (
	"context"
	"errors"
	"fmt"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

// errNotOpened reports that a run cannot be resumed.
var errNotOpened = errors.New("the run cannot be resumed")

// pastRun is a run to resume, as its journal tells. It is a value.
type pastRun struct {
	journal Journal    // open, contains events; nil if there is no such run
	run     *agent.Run // not started if there is none
	events  []event.Event
	left    []string // sentences about what happened to leftover processes
}

// started returns the event that the run started with.
func (p pastRun) started() event.RunStarted {
	if len(p.events) > 0 {
		if started, ok := p.events[0].Data.(event.RunStarted); ok {
			return started
		}
	}
	return event.RunStarted{}
}

// drop releases a run that is not resumed.
func (p pastRun) drop() {
	if p.journal != nil {
		_ = p.journal.Close() // nothing was written to it
	}
}

// archive has the past runs of a workspace.
type archive struct {
	store     Store
	workspace string
	endLeft   func(ctx context.Context, left event.StepProcess) string // ends a leftover process group; nil ends nothing
}

// reopen reads the run with the given id. After an error it is to be dropped as well.
func (a archive) reopen(ctx context.Context, id string) (p pastRun, err error) {
	p.run = agent.NewRun(nil)
	if p.journal, p.events, err = a.store.ReopenRun(id); err != nil {
		return p, fmt.Errorf("%w: %w", errNotOpened, err)
	}
	for _, e := range p.events {
		if err := p.run.Apply(e); err != nil {
			return p, fmt.Errorf("%w, because its journal does not fit together: %w", errNotOpened, err)
		}
	}
	if !SameFolder(p.run.Workspace, a.workspace) {
		return p, fmt.Errorf("%w here: it worked in %s; go there and resume it", errNotOpened, p.run.Workspace)
	}
	if err := p.checkInner(a.store); err != nil || a.endLeft == nil {
		return p, err
	}
	// Leftover processes must end before the question whether their step took
	// effect.
	for _, left := range event.LeftProcesses(p.events) {
		if word := a.endLeft(ctx, left); word != "" {
			p.left = append(p.left, word)
		}
	}
	return p, nil
}

// checkInner returns an error if the run to resume counts on another one that a
// finished call started, and that was undone since. An open call starts it again.
func (p pastRun) checkInner(store Store) error {
	if !p.run.Resumable() {
		return nil
	}
	for _, e := range p.events {
		spawned, ok := e.Data.(event.RunSpawned)
		if !ok {
			continue
		}
		if step := p.run.Step(spawned.Index); step == nil || step.Run != spawned.Run || step.Status != agent.StepCompleted {
			continue
		}
		if inner := undoneRun(store, spawned.Run); inner != "" {
			return fmt.Errorf("%w, because the run %s, which it started and counts as done, is undone: start its goal or plan again", errNotOpened, inner)
		}
	}
	return nil
}

// undoneRun returns the id of a run, or of one that it started, that is undone; "" if
// none is. Runs that cannot be read count as they stand.
func undoneRun(store Store, id string) string {
	events, err := store.ReadRun(id)
	if err != nil {
		return ""
	}
	undone := ""
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.RunUndone:
			if undone = id; d.Redo {
				undone = ""
			}
		case event.RunSpawned:
			if inner := undoneRun(store, d.Run); inner != "" {
				return inner
			}
		}
	}
	return undone
}

// resumedBy returns the event that resumes a run with a model.
func resumedBy(info prompt.ModelInfo) event.RunResumed {
	return event.RunResumed{
		Model: info.Name, Tools: info.Tools, Window: info.ContextWindow, Small: info.Small, Vision: info.Vision, Speed: info.Speed.Read, Loops: info.Loops,
		Measured: info.Fit.Record(), WritesCalls: info.WritesCalls,
	}
}
