package plain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// tellCall prints a call that a model makes, in its own step or in the chat, and
// reports whether the event is one. Each event takes one line, with the reason for
// a failure below it.
func (l *Log) tellCall(d event.Data) bool {
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
	name := index + " " + untrusted.Line(s.Step.Title)
	switch d := d.(type) {
	case event.StepStarted:
		l.line("%s%s %s  %s", inset, l.marks.started, name, l.arguments(d.Args))
		l.coerced(inset+"  ", d.Coerced)
		l.passed(inset+"  ", d)
	case event.StepCompleted:
		if d.DryRun {
			l.line("%s%s  dry run: not called", inset, name)
			break
		}
		why := Fruitless(s)
		if why == "" {
			l.line("%s%s %s  %s", inset, l.marks.done, name, seconds(d.MS))
			break
		}
		l.line("%s%s %s  %s", inset, l.marks.failed, name, seconds(d.MS))
		l.block(inset+"    ", why, outputShown)
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			break // its gate reports the reason
		}
		l.line("%s%s %s  %s", inset, l.marks.failed, name, seconds(d.MS))
		l.block(inset+"    ", d.Error, outputShown)
	case event.StepInDoubt:
		l.line("%s%s %s  in doubt: %s", inset, l.marks.gate, name, untrusted.Line(d.Reason))
	}
	return true
}

// Fruitless returns why a call that returned still produced nothing: the run it
// started did not complete. It returns "" if that run completed.
func Fruitless(s *agent.StepState) string {
	if s.Status != agent.StepCompleted || s.Run == "" {
		return ""
	}
	came, _ := s.Result.(map[string]any)
	word := func(name string) string { text, _ := came[name].(string); return text }
	status := word("status")
	if status == "" || status == string(event.StatusCompleted) {
		return ""
	}
	return cmp.Or(word("error"), strings.ReplaceAll(word("reason"), "_", " "), status)
}

// arguments formats the arguments of a call on one line.
func (l *Log) arguments(args map[string]any) string {
	const most = 100 // runes
	parts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+": "+text(args[name]))
	}
	line := OneLine(strings.Join(parts, ", "), most)
	if l.ascii {
		line = strings.ReplaceAll(line, "…", "...")
	}
	return line
}

// compacted prints that the oldest part of the conversation was summarized or
// restored.
func (l *Log) compacted(d event.ChatCompacted) {
	if d.Undone {
		l.line("%s %s stand in the conversation again", l.marks.note, english.Count(d.Turns, "message"))
		return
	}
	l.line("%s %s summed up, %d tokens became %d: %s", l.marks.note, english.Count(d.Turns, "message"), d.Before, d.After, untrusted.Line(d.Reason))
}
