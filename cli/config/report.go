package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"replan/agent/session"
)

// Report returns the settings in force and their sources.
func (o *Options) Report() session.Settings {
	settings := session.Settings{File: o.saver.path}
	if _, err := os.Stat(settings.File); errors.Is(err, fs.ErrNotExist) {
		settings.Missing = true
	}
	settings.Settings = slices.Concat(
		append(o.model.report(o.from), o.planning.reportThink(o.from)), o.planning.report(o.from), o.limits.report(o.from),
		o.appearance.report(o.from, o.execution.report(o.from)), o.gates.report(o.folders.Workspace), o.isolation.report(o.from), o.workers.report(o.from))
	saved := savedValues(settings.File)
	for i := range settings.Settings {
		s := &settings.Settings[i]
		if value, ok := saved[s.Key]; ok && o.saver.fileOf(s.Key) != "" {
			s.Saved = &value
		}
	}
	return settings
}

// quoted returns a text setting.
func quoted(key, value, source, about string) session.Setting {
	if value == "" {
		return session.Setting{Key: key, Source: source, About: about}
	}
	return session.Setting{Key: key, Value: value, Source: source, Literal: strconv.Quote(value), About: about}
}

// unquoted returns a setting that TOML writes without quotes.
func unquoted(key string, value any, source, about string) session.Setting {
	return session.Setting{Key: key, Value: fmt.Sprint(value), Source: source, Literal: fmt.Sprint(value), About: about}
}

// among adds the possible values of a setting.
func among(s session.Setting, choices ...string) session.Setting {
	s.Choices = choices
	return s
}
