package event

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// changer changes JSON values. It returns an object or a list with its type.
type changer interface {
	changeValue(v any) any
	changeList(list []any) []any
	changeObject(object map[string]any) map[string]any
}

// changed returns an event's data with its args, variables and results changed: the
// fields that hold any JSON. It changes no plan and no history in place.
func changed(d Data, c changer) Data {
	switch d := d.(type) {
	case RunStarted:
		d.Plan = changedPlan(d.Plan, c)
		return d
	case PlanCreated:
		d.Plan = *changedPlan(&d.Plan, c)
		return d
	case PlanDiff:
		d.Plan = *changedPlan(&d.Plan, c)
		return d
	case StepStarted:
		d.Args = c.changeObject(d.Args)
		return d
	case StepExpanded:
		d.Items = c.changeList(d.Items)
		return d
	case StepCompleted:
		d.Result = c.changeValue(d.Result)
		d.Args = c.changeObject(d.Args)
		return d
	case GateRequested:
		d.Args = c.changeObject(d.Args)
		return d
	case RunCompleted:
		d.Plan = changedPlan(d.Plan, c)
		d.Variables = c.changeObject(d.Variables)
		d.History = slices.Clone(d.History)
		for i := range d.History {
			item := &d.History[i]
			item.Args = c.changeObject(item.Args)
			item.Result = c.changeValue(item.Result)
		}
		return d
	default:
		return d
	}
}

func changedPlan(p *plan.Plan, c changer) *plan.Plan {
	if p == nil {
		return nil
	}
	now := *p
	now.Variables, now.Steps = c.changeObject(p.Variables), slices.Clone(p.Steps)
	for i := range now.Steps {
		now.Steps[i].Args = c.changeObject(now.Steps[i].Args)
	}
	return &now
}

// Event returns the event of a line. It holds the values of the gaps themselves, which
// lines may share: they may not be changed.
func (l Line) Event() (Event, error) {
	var e Event
	if len(l.Gaps) == 0 {
		return e, e.UnmarshalJSON(l.JSON)
	}
	text, f := l.marked()
	if e.UnmarshalJSON(text) == nil {
		if e.Data = changed(e.Data, &f); f.filled == len(l.Gaps) {
			return e, nil
		}
	}
	// A gap is in a field that does not hold any JSON.
	var whole bytes.Buffer
	if _, err := l.WriteTo(&whole); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	e = Event{}
	return e, e.UnmarshalJSON(whole.Bytes())
}

// Value returns a line as a JSON value, which holds the values of the gaps themselves.
func (l Line) Value() (any, error) {
	text, f := l.marked()
	v, err := plan.DecodeValue(text)
	return f.changeValue(v), err
}

// marked returns the JSON of a line with a mark in place of each gap, and what fills them.
func (l Line) marked() ([]byte, filler) {
	f := filler{mark: rand.Text(), gaps: l.Gaps} //nolint:forbidigo // no event has the mark in the end
	l.Gaps = slices.Clone(l.Gaps)
	for i := range l.Gaps {
		l.Gaps[i].Value = f.mark + strconv.Itoa(i)
	}
	var text bytes.Buffer
	_, _ = l.WriteTo(&text) // a buffer takes everything, and texts have JSON
	return text.Bytes(), f
}

// filler puts the values of gaps in place of their marks.
type filler struct {
	mark   string // before the number of a gap
	gaps   []Gap
	filled int
}

func (f *filler) changeValue(v any) any {
	switch v := v.(type) {
	case string:
		number, ok := strings.CutPrefix(v, f.mark)
		if !ok {
			return v
		}
		i, _ := strconv.Atoi(number)
		f.filled++
		return f.gaps[i].Value
	case []any:
		return f.changeList(v)
	case map[string]any:
		return f.changeObject(v)
	default:
		return v
	}
}

func (f *filler) changeList(list []any) []any {
	for i, item := range list {
		list[i] = f.changeValue(item)
	}
	return list
}

func (f *filler) changeObject(object map[string]any) map[string]any {
	for name, item := range object {
		object[name] = f.changeValue(item)
	}
	return object
}
