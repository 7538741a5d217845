package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"replan/internal/tomledit"
	"replan/internal/wholefile"
	"replan/tui/dialog"
)

// saver saves settings in the user's configuration.
type saver struct {
	path       string // of the configuration file
	appearance bool   // of which alone it saves settings, as in a demo, whose model is scripted
	chosen     *choices
}

// SaveSetting saves a setting, such as screen.theme, in the user's configuration for later
// starts, and returns the file. A nil value removes the key. Comments and all other keys
// stay as they are. In a demo only the appearance of the screen is saved. For other keys,
// and for the removal of a key that is not there, SaveSetting returns "".
//
// What was chosen in the palette is no setting and has a file of its own.
func (o *Options) SaveSetting(key string, value *string) (string, error) {
	if key == dialog.KeyRecent && value != nil {
		return "", saveRecent(o.folders.Dirs.Recents(), *value)
	}
	return o.saver.save(key, value)
}

// save saves a setting and returns the file.
func (s saver) save(key string, value *string) (string, error) {
	path := s.fileOf(key)
	if path == "" {
		return "", nil
	}
	section, name, _ := strings.Cut(key, ".")
	text, err := literal(section, name, value)
	if err != nil {
		return "", fmt.Errorf("%s is not saved: %w", key, err)
	}
	found := value != nil
	err = wholefile.Edit(context.Background(), path, func(before []byte) ([]byte, error) {
		if value == nil {
			after, err := tomledit.Unset(before, section, name)
			found = len(after) < len(before)
			return after, err
		}
		after, err := tomledit.Set(before, section, name, text)
		if err != nil {
			return nil, err
		}
		return after, toml.Unmarshal(after, new(file)) // the value has the type of its key
	})
	if err != nil {
		if system, ok := errors.AsType[*fs.PathError](err); ok {
			err = system.Err // the path is named already
		}
		return "", fmt.Errorf("%s is not saved in %s: %w", key, path, err)
	}
	s.chosen.add(key, value)
	if !found {
		return "", nil
	}
	return path, nil
}

// fileOf returns the file that keeps a setting, "" for none.
func (s saver) fileOf(key string) string {
	if s.appearance && (!strings.HasPrefix(key, "screen.") || key == "screen.review") {
		return ""
	}
	return s.path
}

// saveRecent saves what was chosen in the palette in a file, one title a line.
func saveRecent(path, titles string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = wholefile.Write(path, []byte(titles))
	}
	if err != nil {
		return fmt.Errorf("what was chosen in the palette is not saved: %w", err)
	}
	return nil
}

// TakeChoices applies the settings that only the full screen has, and the user's
// choices on an earlier screen of this process.
func (o *Options) TakeChoices() {
	if !o.from.given("review") && o.saver.fileOf("screen.review") != "" {
		o.execution.review(o.from.file.Screen.Review)
	}
	for key, value := range o.saver.chosen.all() {
		text := ""
		if value != nil {
			text = *value
		}
		switch key {
		case "model.name":
			o.model.use(text, "")
		case "screen.review":
			o.execution.review(text == "true")
		default:
			o.planning.choose(key, text)
			o.appearance.choose(key, text)
		}
	}
}

// literal returns a value in TOML, by the type of its key.
func literal(section, name string, value *string) (string, error) {
	kind := reflect.TypeFor[file]()
	for _, part := range []string{section, name} {
		if kind.Kind() != reflect.Struct {
			return "", errors.New("the configuration has no such key")
		}
		if kind = fieldOf(kind, part); kind == nil {
			return "", errors.New("the configuration has no such key")
		}
	}
	switch {
	case value == nil:
		return "", nil
	case section != "model" && strings.HasPrefix(*value, "-"), name == "context_window" && strings.HasPrefix(*value, "-"):
		return "", belowZero(section+"."+name, *value)
	case (name == "chat_width" || name == "plan_height") && !isShare(*value):
		return "", noShare(section+"."+name, strconv.Quote(*value))
	case kind.Kind() == reflect.Struct && !isTime(*value):
		return "", fmt.Errorf("%q is not a time such as 10m", *value)
	case kind.Kind() == reflect.String, kind.Kind() == reflect.Struct: // a struct of one text, such as a time
		return quote(*value), nil
	case kind.Kind() == reflect.Bool, kind.Kind() == reflect.Int, kind.Kind() == reflect.Int64:
		return *value, nil
	default:
		return "", errors.New("it has no value in one line: edit the file")
	}
}

// isTime reports whether a text is a time, or the -1 of model.keep_alive.
func isTime(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || text == "-1"
}

// isShare reports whether a text is a percentage that leaves room for two parts.
func isShare(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 100
}

// quote returns a text in TOML. Quoted as in Go, printable text is valid TOML.
func quote(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		if line, err := toml.Marshal(map[string]string{"v": text}); err == nil {
			return strings.TrimSpace(strings.TrimPrefix(string(line), "v = "))
		}
	}
	return strconv.Quote(text)
}

// savedValues returns the values that a configuration file has now, as text, by
// section.name. A file that cannot be read has none.
func savedValues(path string) map[string]string {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil
	}
	var sections map[string]any
	if toml.Unmarshal(text, &sections) != nil {
		return nil
	}
	saved := map[string]string{}
	for section, keys := range sections {
		table, _ := keys.(map[string]any)
		for key, value := range table {
			saved[section+"."+key] = fmt.Sprint(value)
		}
	}
	return saved
}
