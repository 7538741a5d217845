package plain

import (
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/telling"
)

// printCall prints a call that a model makes, in its own step or in the chat, and
// reports whether the event is one. Each event takes one line, with the reason for
// a failure below it.
func (l *Log) printCall(d event.Data) bool {
	index := ""
	switch d := d.(type) {
	case event.StepStarted:
		index = d.Index
	case event.StepCompleted:
		index = d.Index
	case event.StepFailed:
		index = d.Index
	case event.StepInDoubt:
		index = d.Index
	}
	s := l.run.Step(index)
	if s == nil || s.Parent == "" {
		return false
	}
	inset := "  "
	if s.Parent == prompt.ChatParent {
		inset = ""
	}
	name := index + " " + s.Step.Title.Line()
	switch d := d.(type) {
	case event.StepStarted:
		l.Line("%s%s %s  %s", inset, l.Signs.Started, name, l.Faint("%s", l.arguments(d.Args)))
		l.coerced(inset+"  ", d.Coerced)
		l.passed(inset+"  ", d)
	case event.StepCompleted:
		if d.DryRun {
			l.Line("%s%s  dry run: not called", inset, name)
			break
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
	}
	return true
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
