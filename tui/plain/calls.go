package plain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// printCall prints a call that a model makes, in its own step or in the chat, or an item
// of a step, and reports whether the event is one. Each event takes one line, with the
// reason for a failure below it.
func (l *Log) printCall(d event.Data) bool {
	index := callOf(d)
	s := l.run.Step(index)
	if s == nil || s.Parent == "" {
		return false
	}
	of := l.run.Step(s.Parent)
	inset := "  "
	switch {
	case of == nil: // in the chat
		inset = ""
	case of.Parent != "":
		inset = "    "
	}
	if _, item := s.Item(); item && len(of.Items) > plan.DefaultMax && l.printOfMany(s, of, d) {
		return true
	}
	name := index + " " + telling.InnerTitle(s, of)
	switch d := d.(type) {
	case event.StepStarted:
		if s.Polls > 0 {
			break // it still waits
		}
		l.Line("%s%s %s  %s", inset, l.Signs.Started, name, l.Faint("%s", l.arguments(d.Args)))
		l.coerced(inset+"  ", d.Coerced)
		l.passed(inset+"  ", d)
	case event.StepCompleted:
		if _, item := s.Item(); item && d.DryRun {
			l.Line("%s%s %s  %s", inset, l.Signs.Pending, name, l.Faint("dry run"))
			l.dryCall(inset+"    ", d)
			break
		}
		if d.DryRun {
			l.Line("%s%s  dry run: not called", inset, name)
			break
		}
		if s.Step.Until != nil {
			break // what it waits for has a line of its own
		}
		why := telling.Fruitless(s).Visible()
		if why == "" {
			l.Line("%s%s %s  %s", inset, l.Signs.Done, name, l.Faint("%s", telling.Milliseconds(d.MS)))
			break
		}
		l.Line("%s%s %s  %s", inset, l.Signs.Failed, name, l.Faint("%s", telling.Milliseconds(d.MS)))
		l.Block(inset+"    ", why, outputShown)
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			break // its gate reports the reason
		}
		l.Line("%s%s %s  %s", inset, l.Signs.Failed, name, l.Faint("%s", telling.Milliseconds(d.MS)))
		l.failure(inset+"    ", d)
	case event.StepInDoubt:
		l.Line("%s%s %s  in doubt%s", inset, l.Signs.Gate, name, l.unlessSaid(d.Reason))
	case event.StepSkipped:
		l.Line("%s%s %s  %s", inset, l.Signs.Skipped, name, s.Error.Line())
	case event.CheckCompleted:
		l.checked(inset+"  ", d)
	}
	return true
}

// callOf returns the step of an event that takes a line below the step it belongs to, if it
// is of a call or an item. Gates have the same lines everywhere.
func callOf(d event.Data) string {
	switch d.(type) {
	case event.StepStarted, event.StepCompleted, event.StepFailed, event.StepInDoubt, event.StepSkipped, event.CheckCompleted:
		index, _ := event.StepOf(d)
		return index
	default:
		return ""
	}
}

// expanded prints that a step begins with its items.
func (l *Log) expanded(d event.StepExpanded) {
	s := l.run.Step(d.Index)
	if s == nil {
		return
	}
	again, words := "", english.Count(len(d.Items), "item")
	if d.Attempt > 1 {
		again = fmt.Sprintf(", attempt %d", d.Attempt)
	}
	if done := s.EndedItems(); done > 0 {
		words += fmt.Sprintf(", %d done before", done)
	}
	l.Line("%s %s %s  %s", l.Signs.Started, d.Index, s.Step.Title.Line(),
		l.Faint("[%s]%s%s%s", plantext.Executor(s.Step.Executor, s.Step.Tool), again, l.Between, words))
}

// printOfMany prints an event of one of so many items that a line for each would bury the
// rest: each tenth of them that has ended. It reports whether that is all there is to say,
// which it is not of a failure or a doubt.
func (l *Log) printOfMany(s, of *agent.StepState, d event.Data) bool {
	const dryShown = 10
	key, tenth := l.id()+" "+of.Step.Index, strconv.Itoa(10*of.EndedItems()/len(of.Items))
	if last := l.progresses[key].message; tenth != cmp.Or(last, "0") && tenth != "10" && !s.DryRun {
		l.progresses[key] = said{message: tenth}
		l.Line("  %s %s %s", l.Signs.Note, of.Step.Index, telling.ItemsWords(of))
	}
	switch d := d.(type) {
	case event.StepStarted, event.StepSkipped:
		return true
	case event.CheckCompleted:
		return d.State == plan.StateVerified
	case event.StepCompleted:
		at := slices.Index(of.Items, s)
		if d.DryRun && at == dryShown {
			l.Line("  %s and %s more", l.Signs.Note, english.Count(len(of.Items)-dryShown, "item"))
		}
		return !d.DryRun || at >= dryShown
	default:
		return false
	}
}

// arguments formats the arguments of a call on one line.
func (l *Log) arguments(args map[string]any) string {
	const maxRunes = 100 // runes
	parts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+": "+text(args[name]))
	}
	line := telling.Excerpt(untrusted.Text(strings.Join(parts, ", ")), maxRunes)
	if l.ascii {
		line = strings.ReplaceAll(line, "…", "...")
	}
	return line
}

// compacted prints that the oldest part of the conversation was summarized or
// restored.
func (l *Log) compacted(d event.ChatCompacted) {
	if d.Undone {
		l.Line("%s %s", l.Signs.Note, telling.CompactedWords(d))
		return
	}
	l.Line("%s %s, %d tokens became %d: %s", l.Signs.Note, telling.CompactedWords(d), d.Before, d.After, d.Reason.Line())
}
