package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/cli/tty"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Report is what was measured, the best model first.
type Report struct {
	Models []Model `json:"models"`
	Best   string  `json:"best"` // the model to work with; "" if none is useful, or none was measured to the end

	Stopped untrusted.Text `json:"stopped,omitempty"` // why the measurement ended early
}

// Model is what was found of a model.
type Model struct {
	fit.Finding
	Parameters untrusted.Text `json:"parameters,omitempty"`
	Made       int            `json:"made"`     // attempts so far, of Of
	Of         int            `json:"attempts"` // that the measurement takes
	Whole      bool           `json:"whole"`    // all were made
	Cannot     bool           `json:"cannot_call_tools,omitempty"`
	Problem    untrusted.Text `json:"problem,omitempty"` // why it was not measured to the end
	Misses     []Attempt      `json:"misses,omitempty"`  // attempts that did not reach their goal
}

// Nothing reports whether nothing was measured.
func (r Report) Nothing() bool {
	return !slices.ContainsFunc(r.Models, func(m Model) bool { return m.Goals().Of > 0 })
}

// Findings returns what was found of the models that were measured to the end, and that
// the server can recognize.
func (r Report) Findings() []fit.Finding {
	var found []fit.Finding
	for _, m := range r.Models {
		if m.Whole && m.Digest != "" {
			found = append(found, m.Finding)
		}
	}
	return found
}

// rank puts the best model first: by goals, then by time. Models that were not measured
// come last.
func (r *Report) rank() {
	slices.SortStableFunc(r.Models, func(a, b Model) int {
		return cmp.Or(-cmp.Compare(min(a.Goals().Of, 1), min(b.Goals().Of, 1)), -cmp.Compare(a.Goals().Rate(), b.Goals().Rate()), cmp.Compare(a.GoalMS, b.GoalMS))
	})
	for _, m := range r.Models {
		if m.Whole && m.Useful() {
			r.Best = m.Model.Line()
			break
		}
	}
}

// Text returns the report as a table for a terminal, and as whole values with tabs for
// nil.
func (r Report) Text(t *tty.Terminal) string {
	list := tty.Listing{Heads: []string{"model", "plans", "answers", "changes", "agents", "tokens/s", "goal", "driven with"}}
	var notes []string
	for _, m := range r.Models {
		if m.Goals().Of > 0 {
			list.Rows = append(list.Rows, cells(t, m.Model.Line() == r.Best, m.Model.Line(), m.Plans.String(), m.Reads.String(), m.Changes.String(), agents(m.Agents),
				speed(m), wording.Milliseconds(m.GoalMS), m.Settings.String()))
		}
		for _, note := range m.notes() {
			lines := []string{note}
			if t != nil {
				lines = draw.Wrap(note, t.Width())
			}
			notes = append(notes, strings.Join(lines, "\n")+"\n")
		}
	}
	text := ""
	if len(list.Rows) > 0 {
		text = listed(t, list) + "\n"
	}
	return text + strings.Join(notes, "")
}

// agents returns the share of steps that agents carried out.
func agents(s fit.Share) string {
	if s.Of == 0 {
		return "-"
	}
	return s.String()
}

// speed returns how fast a model reads and writes.
func speed(m Model) string {
	if m.Speed.Read == 0 && m.Speed.Write == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f, %.0f", m.Speed.Read, m.Speed.Write)
}

// notes returns what the table does not say of the model, a line each.
func (m Model) notes() []string {
	var notes []string
	note := func(format string, args ...any) {
		notes = append(notes, m.Model.Line()+": "+untrusted.Line(fmt.Sprintf(format, args...)))
	}
	switch {
	case m.Problem != "" && m.Goals().Of == 0:
		note("not measured: %s", m.Problem)
	case m.Problem != "":
		note("not measured to the end: %s", m.Problem)
	case !m.Whole:
		note("%d of %d attempts made", m.Made, m.Of)
	default:
		note("%s", m.Expect())
	}
	if m.Cannot {
		note("it cannot call tools, which chat and agents need; it can only plan")
	}
	return notes
}

// cells returns a row of a table.
func cells(t *tty.Terminal, best bool, texts ...string) []tty.Cell {
	row := make([]tty.Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
		if t == nil {
			continue
		}
		row[i].Style = t.Styles.Text
		if i == 0 {
			row[i].Style = t.Styles.Accent
		}
		if best {
			row[i].Style = t.Styles.Success
		}
	}
	return row
}

// listed draws a listing, for a program whole values below their headings.
func listed(t *tty.Terminal, list tty.Listing) string {
	if t != nil {
		return t.List(list)
	}
	rows := [][]string{list.Heads}
	for _, row := range list.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		rows = append(rows, texts)
	}
	return tty.Tabs(rows)
}

// Line describes the attempt made last in a line.
func (p Progress) Line() string {
	line := fmt.Sprintf("%s %d/%d", p.Model, p.Done, p.Of)
	switch a := p.Last; {
	case a == nil:
		line += " begins"
	case a.Reached:
		line += fmt.Sprintf(" done %s %s", wording.Milliseconds(a.MS), a.Goal)
	default:
		line += fmt.Sprintf(" missed %s %s: %s", wording.Milliseconds(a.MS), a.Goal, cmp.Or(a.Missed, a.Error))
	}
	return untrusted.Line(line)
}
