package wording

import (
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// SideTitle names the card of a side question.
const SideTitle = "Side question"

// SideNotInRun says what a side question is not.
const SideNotInRun = "not part of the run"

// SideFacts returns what the answer to a side question took.
func SideFacts(d event.ChatSide) []string {
	var facts []string
	if n := len(d.Calls); n > 0 {
		facts = append(facts, english.Count(n, "call"))
	}
	if n := int(d.Usage.Tokens()); n > 0 {
		facts = append(facts, Tokens(n)+" tokens")
	}
	return append(facts, DoneIn(d.MS))
}

// SideEnding says how a side question ended without an answer; "" if it has one.
func SideEnding(d event.ChatSide) string {
	switch d.Status {
	case event.StatusCompleted:
		return ""
	case event.StatusCanceled:
		return "canceled"
	default:
		return "no answer: " + d.Error.Visible()
	}
}

// SideCallWords describes a call for the answer to a side question in one line.
func SideCallWords(c event.SideCall) string {
	words := untrusted.Line(c.Tool)
	if len(c.Args) > 0 {
		if arg := MainArgument(c.Args); arg != "" {
			words += "  " + arg
		}
	}
	return words
}
