package fit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/telling"
)

// Report is what was measured, the best model first.
type Report struct {
	Goals    int     `json:"goals"`     // to measure for each model
	OwnTools bool    `json:"own_tools"` // the user's tools stood beside them
	Models   []Model `json:"models"`
	Best     string  `json:"best"` // the model to plan with; "" if none got anything right, or none was measured to the end

	Stopped untrusted.Text `json:"stopped,omitempty"` // why the measurement ended early
}

// Nothing reports whether no goal was measured.
func (r Report) Nothing() bool {
	return !slices.ContainsFunc(r.Models, func(m Model) bool { return m.Measured > 0 })
}

// Model sums up the results of a model. Shares are from 0 to 1 and, but for Valid, the
// means of its goals; a goal without a valid plan counts as 0.
type Model struct {
	Name         string         `json:"name"`
	Parameters   untrusted.Text `json:"parameters,omitempty"`
	Measured     int            `json:"measured"` // goals
	Score        float64        `json:"score"`    // the mean of tools, arguments and dependencies
	Valid        float64        `json:"valid"`
	Tools        float64        `json:"tools"`
	Arguments    float64        `json:"arguments"`
	Dependencies float64        `json:"dependencies"`
	Repairs      int            `json:"repairs"` // of all goals together
	Tokens       int            `json:"tokens"`  // of a goal, on average
	MS           int64          `json:"ms"`      // for a goal, on average
	Beside       []Beside       `json:"beside"`  // by number of tools, ascending
	Cannot       bool           `json:"cannot_call_tools,omitempty"`
	Problem      untrusted.Text `json:"problem,omitempty"` // why it was not measured to the end
	Results      []Result       `json:"results"`
}

// Beside is the score beside a number of foreign tools.
type Beside struct {
	Tools    int     `json:"foreign_tools"`
	Measured int     `json:"measured"`
	Score    float64 `json:"score"`
}

// summary sums up the results of a model.
func summary(info prompt.ModelInfo, results []Result, problem untrusted.Text) Model {
	m := Model{Name: info.Name, Parameters: info.Parameters, Measured: len(results), Cannot: !info.Tools, Problem: problem, Results: append([]Result{}, results...)}
	of := func(results []Result, share func(Result) float64) float64 {
		sum := 0.0
		for _, r := range results {
			sum += share(r)
		}
		return sum / max(float64(len(results)), 1)
	}
	score := func(r Result) float64 { return r.Mean() }
	m.Score = of(results, score)
	m.Valid = of(results, func(r Result) float64 {
		if r.Valid {
			return 1
		}
		return 0
	})
	m.Tools = of(results, func(r Result) float64 { return r.Score.Tools })
	m.Arguments = of(results, func(r Result) float64 { return r.Arguments })
	m.Dependencies = of(results, func(r Result) float64 { return r.Dependencies })
	m.Tokens = int(math.Round(of(results, func(r Result) float64 { return float64(r.Tokens) })))
	m.MS = int64(math.Round(of(results, func(r Result) float64 { return float64(r.MS) })))
	sizes := map[int][]Result{}
	for _, r := range results {
		m.Repairs += r.Repairs
		sizes[r.Tools] = append(sizes[r.Tools], r)
	}
	m.Beside = []Beside{}
	for size, results := range sizes {
		m.Beside = append(m.Beside, Beside{size, len(results), of(results, score)})
	}
	slices.SortFunc(m.Beside, func(a, b Beside) int { return cmp.Compare(a.Tools, b.Tools) })
	return m
}

// rank puts the best model first: by score, then by time. Models that were not measured
// come last.
func (r *Report) rank() {
	slices.SortStableFunc(r.Models, func(a, b Model) int {
		return cmp.Or(-compareBool(a.Measured > 0, b.Measured > 0), -cmp.Compare(a.Score, b.Score), cmp.Compare(a.MS, b.MS))
	})
	for _, m := range r.Models {
		if m.Measured == r.Goals && m.Score > 0 {
			r.Best = m.Name
			break
		}
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// Text returns the report as tables for a terminal, and as whole values with tabs for
// nil.
func (r Report) Text(t *tty.Terminal) string {
	list := tty.Listing{Heads: []string{"model", "score", "valid", "tools", "args", "deps", "repairs", "tokens", "time"}}
	var notes []string
	for _, m := range r.Models {
		if m.Measured > 0 {
			list.Rows = append(list.Rows, cells(t, m.Name == r.Best, m.Name, share(m.Score), share(m.Valid), share(m.Tools), share(m.Arguments), share(m.Dependencies),
				strconv.Itoa(m.Repairs), telling.Tokens(m.Tokens), telling.Milliseconds(m.MS)))
		}
		for _, note := range r.notes(m) {
			lines := []string{note}
			if t != nil {
				lines = draw.Wrap(note, t.Width())
			}
			notes = append(notes, strings.Join(lines, "\n")+"\n")
		}
	}
	text := ""
	if len(list.Rows) > 0 {
		text = listed(t, list) + "\n" + listed(t, r.besides(t)) + "\n"
	}
	return text + strings.Join(notes, "")
}

// besides lists the scores by number of foreign tools.
func (r Report) besides(t *tty.Terminal) tty.Listing {
	list := tty.Listing{Heads: []string{"score beside foreign tools"}}
	sizes := map[int]bool{}
	for _, m := range r.Models {
		for _, b := range m.Beside {
			sizes[b.Tools] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(sizes))
	for _, size := range sorted {
		list.Heads = append(list.Heads, strconv.Itoa(size))
	}
	for _, m := range r.Models {
		if m.Measured == 0 {
			continue
		}
		row := []string{m.Name}
		for _, size := range sorted {
			at := slices.IndexFunc(m.Beside, func(b Beside) bool { return b.Tools == size })
			if at < 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, share(m.Beside[at].Score))
		}
		list.Rows = append(list.Rows, cells(t, m.Name == r.Best, row...))
	}
	return list
}

// notes returns what the table does not say of a model, a line each.
func (r Report) notes(m Model) []string {
	var notes []string
	note := func(format string, args ...any) {
		notes = append(notes, untrusted.Line(m.Name+": "+fmt.Sprintf(format, args...)))
	}
	switch {
	case m.Problem != "" && m.Measured == 0:
		note("not measured: %s", m.Problem)
	case m.Problem != "":
		note("not measured to the end: %s", m.Problem)
	case m.Measured < r.Goals:
		note("%d of %s measured", m.Measured, english.Count(r.Goals, "goal"))
	}
	if m.Measured > 0 && m.Valid == 0 {
		note("it made no valid plan: %s", m.Results[0].Reason)
	}
	if m.Cannot {
		note("it cannot call tools, which chat and sub-agents need; it can only plan")
	}
	return notes
}

// share formats a share as percent.
func share(s float64) string { return fmt.Sprintf("%.0f%%", 100*s) }

// cells returns a row of a table.
func cells(t *tty.Terminal, best bool, texts ...string) []tty.Cell {
	row := make([]tty.Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
		if t == nil {
			continue
		}
		row[i].Style = t.Look.Text
		if i == 0 {
			row[i].Style = t.Look.Accent
		}
		if best {
			row[i].Style = t.Look.Success
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

// Line describes the goal measured last in a line.
func (p Progress) Line() string {
	line := fmt.Sprintf("%s %d/%d", p.Model, p.Done, p.Of)
	switch r := p.Last; {
	case p.Loading:
		line += " loading the model"
	case r == nil:
		line += " planning"
	case r.Valid:
		line += fmt.Sprintf(" %s %s %s", share(r.Mean()), telling.Milliseconds(r.MS), r.Text)
	default:
		line += fmt.Sprintf(" no valid plan %s %s: %s", telling.Milliseconds(r.MS), r.Text, r.Reason)
	}
	return untrusted.Line(line)
}
