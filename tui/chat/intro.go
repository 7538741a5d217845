package chat

import (
	"strings"

	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/wording"
)

// intro says once what the welcome page shows while the chat is empty.
type intro struct {
	notes   bool   // it has named the project's notes
	problem string // the last explanation why no run can start
	byWords bool   // a run went by rules, so that a missing model is no news
}

// blocks returns what is new. That is the file with the project's notes, and the problem
// why no run can start, unless a reply is about to say so.
func (i *intro) blocks(l *draw.Styles, notes, problem string, replies bool) []*Block {
	var out []*Block
	if notes != "" && !i.notes {
		i.notes = true
		out = append(out, noteBlock(l, "info", wording.NotesWords+notes))
	}
	if i.byWords {
		i.byWords, i.problem = problem != "", problem
	}
	if problem != i.problem && (problem == "" || !replies) {
		if i.problem = problem; problem != "" {
			out = append(out, noteBlock(l, "warn", problem))
		}
	}
	return out
}

// hear notes what a reply says of the problem why no run can start.
func (i *intro) hear(d event.ChatReply, problem string) {
	if problem != "" && strings.Contains(d.Text.Line(), problem) { // the reply names it too
		i.problem = problem
	}
	if d.Run != "" && d.Usage != nil && d.Usage.PromptTokens == 0 { // the run needed no model
		i.ranByWords()
	}
}

// ranByWords notes that a run went by rules.
func (i *intro) ranByWords() { i.byWords = true }
