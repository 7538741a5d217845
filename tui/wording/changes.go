package wording

import (
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/internal/english"
)

// Changed counts what runs changed in a copy of the workspace.
func Changed(c event.Changes) string {
	var parts []string
	if n := len(c.Files); n > 0 {
		added, removed := 0, 0
		for _, f := range c.Files {
			added, removed = added+f.Added, removed+f.Removed
		}
		parts = append(parts, fmt.Sprintf("%s (+%d -%d)", english.Count(n, "changed file"), added, removed))
	}
	if n := len(c.Moves); n > 0 {
		parts = append(parts, english.Count(n, "change")+" of branches")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return english.List(parts, "and")
}

// ChangesWait says that changes wait for a decision.
func ChangesWait(c event.Changes) string {
	n := len(c.Files) + len(c.Moves)
	return Changed(c) + " " + english.Agree(n, "waits", "wait")
}

// ChangeOf describes the change of a file in a few words.
func ChangeOf(f event.ChangedFile) string {
	if f.Folder {
		return "folder " + f.Action
	}
	return fmt.Sprintf("%s, +%d -%d", f.Action, f.Added, f.Removed)
}

// Settled says which changes were taken and which dropped.
func Settled(s event.SettledChanges) string {
	if s.Refused != "" {
		return s.Refused
	}
	var parts []string
	if n := len(s.Taken); n > 0 {
		parts = append(parts, "took "+english.Count(n, "changed file"))
	}
	if n := len(s.Dropped); n > 0 {
		parts = append(parts, "dropped "+english.Count(n, "changed file"))
	}
	text := "nothing was taken"
	if len(parts) > 0 {
		text = strings.Join(parts, ", ")
	}
	for _, note := range s.Notes {
		text += "\n  " + note
	}
	return text
}
