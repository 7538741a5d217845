package wording

import (
	"cmp"
	"strings"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// Kept says that a choice of the user was saved, and where. short shortens a path
// for display.
func Kept(k session.SettingSaved, short func(path string) string) string {
	text := settingName(k.Key) + " "
	switch value := untrusted.Line(k.Value); {
	case k.Problem.Line() != "":
		return k.Problem.Line()
	case k.Removed:
		text += cmp.Or(map[string]string{"screen.theme": "auto", "model.think": "auto", "screen.review": "off"}[k.Key], "as by default")
	case value == "true":
		text += "on"
	case value == "false":
		text += "off"
	default:
		text += value
	}
	switch {
	case k.File == "":
		return text + ", for this session"
	case k.Removed:
		return text + ": removed from " + untrusted.Line(short(k.File))
	default:
		return text + " saved in " + untrusted.Line(short(k.File))
	}
}

// settingName returns a setting's name in a sentence.
func settingName(key string) string {
	if name, ok := map[string]string{
		"screen.theme": "Theme", "model.name": "Model", "planning.planner_model": "Planner model", "model.think": "Thinking", "screen.review": "Plan review",
		"screen.ascii": "ASCII", "screen.reduced_motion": "Reduced motion", "screen.notify": "Notifications",
	}[key]; ok {
		return name
	}
	_, name, _ := strings.Cut(untrusted.Line(key), ".")
	name = strings.ReplaceAll(cmp.Or(name, key), "_", " ")
	return english.Capital(name)
}
