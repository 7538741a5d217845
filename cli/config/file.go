package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/pelletier/go-toml/v2"

	"replan/agent/policy"
	"replan/internal/english"
	"replan/internal/tomledit"
	"replan/mcpclient/workspace/code/lsp"
	"replan/tui"
)

// file is the user's configuration file, config.toml.
type file struct {
	Model         modelSection              `toml:"model"`
	Planning      planningSection           `toml:"planning"`
	Routing       routingSection            `toml:"routing"`
	Profiles      map[string]profileSection `toml:"profiles"`
	Limits        limitsSection             `toml:"limits"`
	SessionLimits sessionLimitsSection      `toml:"session_limits"`
	Policy        []policy.Block            `toml:"policy"`
	Gates         policy.Section            `toml:"gates"`
	LSP           lsp.Section               `toml:"lsp"`
	Isolate       isolationSection          `toml:"isolate"`
	Distributed   workersSection            `toml:"distributed"`
	Screen        screenSection             `toml:"screen"`
	Keys          map[string]any            `toml:"keys"` // action → key or keys; see screenKeys

	path string
}

// duration is a time span such as "10m".
type duration struct{ time.Duration }

// UnmarshalText parses the duration.
func (d *duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// readConfig reads the configuration at path; a missing file counts as empty. Unknown
// keys and actions are an error, so that typos do not go unnoticed.
func readConfig(path string) (file, error) {
	c := file{path: path}
	document, err := os.ReadFile(path) //nolint:gosec // the user's own configuration
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	var strict *toml.StrictMissingError
	err = toml.NewDecoder(bytes.NewReader(document)).DisallowUnknownFields().Decode(&c)
	if err != nil && !errors.As(err, &strict) {
		return c, fmt.Errorf("the configuration %s is not valid: %w", path, misread(err))
	}
	var unknown []string
	if strict != nil {
		for i := range strict.Errors {
			line, _ := strict.Errors[i].Position()
			key := strict.Errors[i].Key()
			unknown = append(unknown, unknownKey(strings.Join(key, "."), line, meantKey(key)))
		}
	}
	actions := tui.Keys().IDs()
	for _, action := range slices.Sorted(maps.Keys(c.Keys)) {
		if _, table := c.Keys[action].(map[string]any); !table && !slices.Contains(actions, action) {
			unknown = append(unknown, unknownKey(fmt.Sprintf("keys.%q", action), tomledit.Line(document, "keys", action), english.DidYouMean(action, actions)))
		}
	}
	if len(unknown) > 0 {
		return c, fmt.Errorf("the configuration %s has %s: %s", path,
			english.Agree(len(unknown), "a key that does not exist", "keys that do not exist"), english.List(unknown, "and"))
	}
	return c, nil
}

// location returns the path of the file.
func (c file) location() string { return c.path }

// unusable marks an error as one about a value in the configuration.
func (c file) unusable(err error) error {
	return fmt.Errorf("the configuration %s cannot be used: %w", c.path, err)
}

// unknownKey names a key that does not exist, its line, and the key that was meant.
func unknownKey(key string, line int, hint string) string {
	return fmt.Sprintf("%s (line %d%s)", key, line, hint)
}

// meantKey suggests the key of the configuration that was meant by another.
func meantKey(key []string) string {
	section, last := reflect.TypeFor[file](), len(key)-1
	for _, part := range key[:last] {
		if section = fieldOf(section, part); section == nil {
			return ""
		}
	}
	if section.Kind() == reflect.Slice {
		section = section.Elem()
	}
	if section.Kind() != reflect.Struct {
		return ""
	}
	var known []string
	for _, field := range reflect.VisibleFields(section) {
		if name, _, _ := strings.Cut(field.Tag.Get("toml"), ","); name != "" {
			known = append(known, name)
		}
	}
	return english.DidYouMean(key[last], known)
}

// misread describes an invalid value of the configuration by its key.
func misread(err error) error {
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return err
	}
	line, column := wrong.Position()
	kind := reflect.TypeFor[file]()
	for _, part := range wrong.Key() {
		if kind = fieldOf(kind, part); kind == nil {
			break
		}
	}
	if kind == nil || kind == reflect.TypeFor[file]() {
		return fmt.Errorf("line %d, column %d: not valid TOML: %s", line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	takes := map[reflect.Type]string{
		reflect.TypeFor[duration](): "a time in quotes such as \"10m\"", reflect.TypeFor[int](): "a whole number",
		reflect.TypeFor[keepAlive](): "a time in quotes such as \"30m\", or \"-1\" for ever",
		reflect.TypeFor[string]():    "text in quotes", reflect.TypeFor[bool](): "true or false", reflect.TypeFor[[]string](): "a list of texts",
	}[kind]
	return fmt.Errorf("line %d: %s takes %s", line, strings.Join(wrong.Key(), "."), First(takes, "keys of its own: it is a section"))
}

// fieldOf returns the type of a key in a section, nil if it has none.
func fieldOf(section reflect.Type, key string) reflect.Type {
	switch section.Kind() {
	case reflect.Map, reflect.Slice:
		if section.Elem().Kind() == reflect.Struct && section.Kind() == reflect.Slice {
			return fieldOf(section.Elem(), key) // for a block in a list
		}
		return section.Elem()
	case reflect.Struct:
	default:
		return nil
	}
	for field := range section.Fields() {
		if field.Anonymous {
			if of := fieldOf(field.Type, key); of != nil {
				return of
			}
			continue
		}
		if name, _, _ := strings.Cut(field.Tag.Get("toml"), ","); name != key {
			continue
		}
		if field.Type.Kind() == reflect.Pointer {
			return field.Type.Elem()
		}
		return field.Type
	}
	return nil
}

// trusts reports whether the user trusts the folder or one above it.
func (c file) trusts(folder string) bool {
	return slices.ContainsFunc(c.Gates.Trusted, func(above string) bool { return Within(folder, above) })
}

// Within reports whether a folder is another one or lies below it. It resolves
// links: a statement about a folder holds by every path to it, but not for what a
// link in it points to outside.
func Within(folder, above string) bool {
	if rest, ok := strings.CutPrefix(above, "~/"); ok {
		above = filepath.Join(xdg.Home, rest)
	}
	if !filepath.IsAbs(above) {
		return false
	}
	rel, err := filepath.Rel(linked(above), linked(folder))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// linked resolves the links in a path, or returns the path if that fails.
func linked(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
