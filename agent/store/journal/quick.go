package journal

import (
	"encoding/json"
	"strconv"

	"replan/agent"
	"replan/planning"
)

// quickData decodes the data of the kinds that make up most of a long journal,
// several times faster than encoding/json does: the two that come with every
// step, and the two that grow with the plan. It knows their usual fields; where
// it meets another, or one twice, it is not ok and encoding/json decodes the
// line, so that a field that is added to these types needs nothing here.
func quickData(kind agent.Kind, data string) (agent.Data, bool) {
	c := cursor{text: data}
	var d agent.Data
	var ok bool
	switch kind {
	case agent.KindStepStarted:
		d, ok = c.stepStarted()
	case agent.KindStepCompleted:
		d, ok = c.stepCompleted()
	case agent.KindPlanCreated:
		d, ok = c.planCreated()
	case agent.KindRunCompleted:
		d, ok = c.runCompleted()
	}
	return d, ok && c.at == len(data)
}

func (c *cursor) stepStarted() (agent.Data, bool) {
	var d agent.StepStarted
	var seen fieldSet
	ok := c.fields(c.str, func(name string) (ok bool) {
		switch name {
		case "index":
			d.Index, ok = c.str()
			return ok && seen.first(0)
		case "attempt":
			d.Attempt, ok = c.count()
			return ok && seen.first(1)
		case "title":
			d.Title, ok = c.str()
			return ok && seen.first(2)
		case "executor":
			var executor string
			executor, ok = c.str()
			d.Executor = planning.Executor(executor)
			return ok && seen.first(3)
		case "tool":
			d.Tool, ok = c.str()
			return ok && seen.first(4)
		case "depends_on":
			d.DependsOn, ok = c.strings()
			return ok && seen.first(5)
		case "expected_outcome":
			d.ExpectedOutcome, ok = c.str()
			return ok && seen.first(6)
		case "args":
			d.Args, ok = c.object(0)
			return ok && seen.first(7)
		}
		return false
	})
	return d, ok
}

func (c *cursor) stepCompleted() (agent.Data, bool) {
	var d agent.StepCompleted
	var seen fieldSet
	ok := c.fields(c.str, func(name string) (ok bool) {
		switch name {
		case "index":
			d.Index, ok = c.str()
			return ok && seen.first(0)
		case "attempt":
			d.Attempt, ok = c.count()
			return ok && seen.first(1)
		case "result":
			d.Result, ok = c.value(0)
			return ok && seen.first(2)
		case "ms":
			var ms int
			ms, ok = c.count()
			d.MS = int64(ms)
			return ok && seen.first(3)
		case "tokens":
			d.Tokens, ok = c.count()
			return ok && seen.first(4)
		}
		return false
	})
	return d, ok
}

func (c *cursor) planCreated() (agent.Data, bool) {
	var d agent.PlanCreated
	var seen fieldSet
	ok := c.fields(c.str, func(name string) (ok bool) {
		switch name {
		case "plan":
			var plan *planning.Plan
			if plan, ok = c.plan(); !ok || plan == nil {
				return false
			}
			d.Plan = *plan
			return seen.first(0)
		case "revision":
			d.Revision, ok = c.count()
			return ok && seen.first(1)
		}
		return false
	})
	return d, ok
}

func (c *cursor) runCompleted() (agent.Data, bool) {
	var d agent.RunCompleted
	var seen fieldSet
	ok := c.fields(c.str, func(name string) (ok bool) {
		switch name {
		case "status":
			return c.other(&d.Status) && seen.first(0)
		case "reason":
			return c.other(&d.Reason) && seen.first(1)
		case "answer":
			d.Answer, ok = c.str()
			return ok && seen.first(2)
		case "error":
			d.Error, ok = c.str()
			return ok && seen.first(3)
		case "plan":
			d.Plan, ok = c.plan()
			return ok && seen.first(4)
		case "variables":
			d.Variables, ok = c.object(0)
			return ok && seen.first(5)
		case "history":
			d.History, ok = c.history()
			return ok && seen.first(6)
		case "revisions":
			return c.other(&d.Revisions) && seen.first(7)
		case "usage":
			return c.other(&d.Usage) && seen.first(8)
		case "duration_ms":
			return c.other(&d.DurationMS) && seen.first(9)
		}
		return false
	})
	return d, ok
}

// plan reads a plan, or null.
func (c *cursor) plan() (*planning.Plan, bool) {
	if c.literal("null") {
		return nil, true
	}
	raw, ok := c.skip()
	if !ok {
		return nil, false
	}
	plan, faults := planning.DecodePlan([]byte(raw))
	return &plan, len(faults) == 0
}

func (c *cursor) history() ([]planning.HistoryItem, bool) {
	out := []planning.HistoryItem{}
	ok := c.items(func(int) bool {
		item, ok := c.historyItem()
		out = append(out, item)
		return ok
	})
	return out, ok
}

func (c *cursor) historyItem() (planning.HistoryItem, bool) {
	var d planning.HistoryItem
	var seen fieldSet
	ok := c.fields(c.str, func(name string) (ok bool) {
		switch name {
		case "index":
			d.Index, ok = c.str()
			return ok && seen.first(0)
		case "title":
			d.Title, ok = c.str()
			return ok && seen.first(1)
		case "tool":
			d.Tool, ok = c.str()
			return ok && seen.first(2)
		case "args":
			d.Args, ok = c.object(0)
			return ok && seen.first(3)
		case "expected_outcome":
			d.ExpectedOutcome, ok = c.str()
			return ok && seen.first(4)
		case "status":
			var status string
			status, ok = c.str()
			d.Status = planning.ItemStatus(status)
			return ok && seen.first(5)
		case "attempt":
			d.Attempt, ok = c.count()
			return ok && seen.first(6)
		case "result":
			d.Result, ok = c.value(0)
			return ok && seen.first(7)
		case "error":
			d.Error, ok = c.str()
			return ok && seen.first(8)
		case "ms":
			var ms int
			ms, ok = c.count()
			d.MS = int64(ms)
			return ok && seen.first(9)
		}
		return false
	})
	return d, ok
}

// other reads a small value into v, which holds no numbers of unknown type, by
// encoding/json.
func (c *cursor) other(v any) bool {
	raw, ok := c.skip()
	return ok && json.Unmarshal([]byte(raw), v) == nil
}

// skip steps over a value and returns its text.
func (c *cursor) skip() (string, bool) {
	w := walk{cursor: *c, leave: func([]byte, int, int) {}}
	ok := w.value(0)
	start := c.at
	c.at = w.at
	return c.text[start:c.at], ok
}

// count reads a whole number.
func (c *cursor) count() (int, bool) {
	text, ok := c.number()
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// fieldSet holds which fields of an object were read.
type fieldSet uint

// first reports whether the field had not been read before.
func (s *fieldSet) first(field int) bool {
	had := *s&(1<<field) != 0
	*s |= 1 << field
	return !had
}
