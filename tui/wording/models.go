package wording

import (
	"cmp"

	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// Model describes a model with its context and abilities, if known.
func Model(name string, info prompt.ModelInfo) string {
	words := "`" + untrusted.Line(name) + "`"
	if info.Name == "" {
		return words
	}
	if room := cmp.Or(info.ContextWindow, info.Longest); room > 0 {
		words += ", " + WindowSize(room) + " of context"
	}
	return words + ", " + Abilities(info)
}

// Abilities lists what a model can do besides answering.
func Abilities(info prompt.ModelInfo) string {
	if !info.Chats {
		return "no chat"
	}
	can := "no tools"
	if info.Tools {
		can = "tools"
	}
	if info.Thinks {
		can += ", thinking"
	}
	if info.Vision {
		can += ", images"
	}
	return can
}

// NoThinking returns a warning if a model cannot think at the requested level, else
// "".
func NoThinking(info prompt.ModelInfo, level prompt.ThinkLevel) string {
	if info.Name == "" || info.Thinks || level == prompt.ThinkAuto || level == prompt.ThinkOff {
		return ""
	}
	return untrusted.Line(info.Name) + " cannot think, so the level has no effect"
}
