package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/agent/store"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
)

// All returns the settings that have a key of their own: those of [Options.Report], and the
// other keys of the configuration file. The keys of a section stand together.
func (o *Options) All() []session.Setting {
	all := o.Report().Settings
	for i, s := range all {
		switch {
		case s.Key == "screen.theme":
			for _, name := range o.userThemes().Names() {
				all[i].Choices = append(all[i].Choices, string(name))
			}
		case kindOf(s.Key) == reflect.TypeFor[bool]():
			all[i].Choices = []string{"true", "false"}
		}
	}
	var out []session.Setting
	for field, section := range reflect.ValueOf(o.from.file).Fields() {
		name := field.Tag.Get("toml")
		if name == "" || section.Kind() != reflect.Struct {
			continue
		}
		for _, s := range all {
			if strings.HasPrefix(s.Key, name+".") {
				out = append(out, s)
			}
		}
		for field, value := range section.Fields() {
			key := name + "." + field.Tag.Get("toml")
			if !slices.ContainsFunc(all, func(s session.Setting) bool { return s.Key == key }) {
				out = append(out, o.plainSetting(key, value))
			}
		}
	}
	for i, s := range out {
		out[i].About = First(s.About, abouts[s.Key])
	}
	return slices.DeleteFunc(out, func(s session.Setting) bool { return kindOf(s.Key) == nil })
}

// abouts says what the settings do that the screen does not list.
var abouts = map[string]string{
	"planning.phase_timeout":        "longest time of a phase; unset, it follows the machine",
	"planning.max_repairs":          "most repairs of an invalid plan",
	"planning.max_reply_tokens":     "most tokens of a reply",
	"planning.analysis_model":       "the model of the analysis, in place of planner_model",
	"planning.review_model":         "the model of the review, in place of planner_model",
	"planning.plan_model":           "the model of the execution plan, in place of planner_model",
	"planning.agent_model":          "the model of sub-agents without their own",
	"routing.prefer_tools":          "tools that orders use first",
	"routing.require_tests":         "changes end with a run of the tests",
	"limits.preset":                 "the limits to begin with",
	"limits.replan":                 "a failure may lead to a new plan",
	"limits.on_failure":             "what follows a failed step without its own setting",
	"session_limits.max_tokens":     "most tokens of all runs of a session, 0 for no limit",
	"session_limits.max_tool_calls": "most tool calls of all runs of a session, 0 for no limit",
	"session_limits.max_duration":   "longest time of all runs of a session, 0 for no limit",
	"gates.allow":                   "calls that run without a gate",
	"gates.deny":                    "calls that never run",
	"gates.hidden":                  "files that no operator shows or changes",
	"gates.trusted_folders":         "folders whose tests may run without a gate",
	"lsp.enabled":                   "language servers are used",
	"lsp.go":                        "the language server of Go and its arguments",
	"lsp.rust":                      "the language server of Rust and its arguments",
	"lsp.typescript":                "the language server of TypeScript and JavaScript, and its arguments",
	"lsp.python":                    "the language server of Python and its arguments",
	"lsp.c":                         "the language server of C and C++, and its arguments",
	"isolate.enabled":               "programs change only the workspace",
	"isolate.in_place":              "isolated runs work in the folder itself, not in a copy",
	"isolate.network":               "isolated programs may use the network",
	"isolate.write":                 "folders that isolated programs may change too",
	"screen.notify":                 "how you are told that something waits for you",
}

// plainSetting returns a setting that only the file can change, from its value there.
func (o *Options) plainSetting(key string, value reflect.Value) session.Setting {
	s := session.Setting{Key: key, Source: o.from.of("", !value.IsZero()), Choices: map[string][]string{
		"limits.preset": {"default", "strict"}, "limits.on_failure": {string(plan.OnFailureAbort), string(plan.OnFailureSkip), string(plan.OnFailureReplan)},
	}[key]}
	if kindOf(key) == reflect.TypeFor[bool]() {
		s.Choices = []string{"true", "false"}
	}
	if value.IsZero() {
		s.Value = defaultOf(key)
		return s
	}
	if value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.Slice:
		s.Value = strings.Join(value.Interface().([]string), ", ")
		return s
	case reflect.String, reflect.Struct: // a struct is a time
		s.Value = fmt.Sprint(value.Interface())
		s.Literal = strconv.Quote(s.Value)
	default:
		s.Value = fmt.Sprint(value.Interface())
		s.Literal = s.Value
	}
	s.Saved = &s.Value
	return s
}

// defaultOf returns the value of a key that the file does not set.
func defaultOf(key string) string {
	defaults := map[string]string{
		"planning.phase_timeout": "follows the machine", "planning.max_repairs": strconv.Itoa(prompt.DefaultMaxRepairs), "planning.max_reply_tokens": strconv.Itoa(prompt.DefaultMaxTokens),
		"limits.preset": "default", "limits.replan": "true", "lsp.enabled": "true", "isolate.network": "true",
	}
	section, _, _ := strings.Cut(key, ".")
	switch kind := kindOf(key); {
	case defaults[key] != "":
		return defaults[key]
	case kind == reflect.TypeFor[bool](), kind == reflect.TypeFor[*bool]():
		return "false"
	case section == "session_limits":
		return "no limit"
	case section == "lsp":
		return "the usual one on PATH"
	default:
		return "none"
	}
}

// kindOf returns the type of a key such as screen.theme in the configuration, nil if it
// has no such key.
func kindOf(key string) reflect.Type {
	section, name, _ := strings.Cut(key, ".")
	kind := fieldOf(reflect.TypeFor[file](), section)
	if kind == nil || kind.Kind() != reflect.Struct {
		return nil
	}
	return fieldOf(kind, name)
}

// CheckSetting reports why a value cannot be saved for a setting: it is none of the
// possible ones, or replan would not start with it. The error says what is allowed.
func (o *Options) CheckSetting(s session.Setting, value string) error {
	number, noNumber := strconv.Atoi(value)
	_, noTime := time.ParseDuration(value)
	unfit := func(takes string) error { return fmt.Errorf("%s takes %s, not %q", s.Key, takes, value) }
	switch kind := kindOf(s.Key); {
	case kind.Kind() == reflect.Slice:
		return fmt.Errorf("%s is a list: write it with replan config edit", s.Key)
	case len(s.Choices) > 0 && !slices.Contains(s.Choices, value):
		return fmt.Errorf("%w%s", unfit(english.List(s.Choices, "or")), english.DidYouMean(value, s.Choices))
	case kind == reflect.TypeFor[int]() && (noNumber != nil || number < 0):
		return unfit("a whole number from 0 on")
	case kind == reflect.TypeFor[duration]() && noTime != nil:
		return unfit("a time such as 90s or 10m")
	case kind == reflect.TypeFor[keepAlive]() && !isTime(value):
		return unfit("a time such as 30m, or -1 for ever")
	}
	return o.trySetting(s.Key, value)
}

// trySetting saves a setting in a copy of the file, and reports what is wrong with that.
func (o *Options) trySetting(key, value string) error {
	folder, err := os.MkdirTemp("", "replan-config-")
	if err != nil {
		return fmt.Errorf("try the setting; set TMPDIR to a writable folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the folder for temporary files
	path, now := store.Dirs{Config: folder}.ConfigFile(), o.saver.path
	text, err := os.ReadFile(now) //nolint:gosec // the user's own configuration
	if err == nil {
		err = os.WriteFile(path, text, 0o600) //nolint:gosec // a copy in our own folder
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		_, err = saver{path: path, chosen: &choices{}}.save(key, &value)
	}
	if err == nil {
		err = o.CheckFile(path)
	}
	if err == nil {
		return nil
	}
	for strings.Contains(err.Error(), path) { // down to what is wrong
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	why := strings.TrimPrefix(strings.ReplaceAll(err.Error(), path, now), key+" is not saved: ")
	return fmt.Errorf("%s is not saved: %s", key, why)
}

// CheckFile reports what is wrong with a file config.toml, if it were the user's. Flags
// and the environment do not count.
func (o *Options) CheckFile(path string) error {
	other := &Options{appearance: Appearance{beside: o.saver.path}}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	other.Register(flags)
	other.dataDir = filepath.Dir(path)
	return other.Complete(flags, Environment{Workspace: other.dataDir, Getenv: func(string) string { return "" }})
}

// userThemes returns the themes beside the user's file, which need not be right.
func (o *Options) userThemes() *themes.Set { return themesBeside(o.saver.path) }
