package story

import (
	"maps"
	"slices"

	"replan/agent"
)

// heldLines are the entries of steps whose work is done and whose checks are not, by run and
// step. Whether such a step is done is known after its checks, and it is told once.
type heldLines map[string]heldStep

// heldStep is the entry that tells that a step is done, and those of its checks so far.
type heldStep struct {
	run    string
	done   Entry
	checks []Entry
}

func heldKey(run *agent.Run, index string) string { return run.ID + " " + index }

// begin holds the entry of a step that is being checked. It reports false if none is.
func (h heldLines) begin(at scene, index string, done Entry) bool {
	step := at.run.Step(index)
	if !at.isRead(Lines) || step == nil || step.Status != agent.StepChecking {
		return false
	}
	h[heldKey(at.run, index)] = heldStep{run: at.run.ID, done: done}
	return true
}

// add holds the entry of a check, and tells all of its step after the last one. It reports false
// if nothing of the step is held.
func (h heldLines) add(at scene, index string, check Entry) bool {
	key := heldKey(at.run, index)
	held, is := h[key]
	if !is {
		return false
	}
	held.checks = append(held.checks, check)
	h[key] = held
	if step := at.run.Step(index); step != nil && step.Status == agent.StepCompleted {
		h.release(at, index, true)
	}
	return true
}

// release tells the checks of a step, and before them that it is done, unless it failed.
func (h heldLines) release(at scene, index string, done bool) {
	key := heldKey(at.run, index)
	if done {
		at.tell(Lines, h[key].done)
	}
	for _, check := range h[key].checks {
		at.tell(Lines, check)
	}
	delete(h, key)
}

// releaseRun tells of the steps of a run that ends before they were checked.
func (h heldLines) releaseRun(at scene) {
	for _, key := range slices.Sorted(maps.Keys(h)) {
		held := h[key]
		if held.run != at.run.ID {
			continue
		}
		held.done.Level = Info
		held.done.Facts = append(slices.Clone(held.done.Facts), "not checked yet")
		at.tell(Lines, held.done)
		for _, check := range held.checks {
			at.tell(Lines, check)
		}
		delete(h, key)
	}
}
