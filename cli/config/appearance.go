package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/themes"
	"replan/tui"
	"replan/tui/keymap"
	"replan/tui/notify"
)

// Appearance is what the screen and printed text look like.
type Appearance struct {
	Theme                         themes.Name
	NoColor, ASCII, ReducedMotion bool
	ChatWidth                     int // percent of the screen's width; 0 is the usual
	PlanHeight                    int // percent of the height above the step; 0 is the usual
	ShowThinking                  bool
	Notify                        notify.Mode
	Keys                          keymap.Keys

	theme string             // value of --theme
	own   string             // the user's own configuration file, even in a demo
	found func() *themes.Set // reads the themes once; nil before the configuration is read

	beside string // the file whose themes are used, if it is another one than the own
}

// screenSection is the section [screen] of the configuration.
type screenSection struct {
	Theme   string `toml:"theme"`
	NoColor bool   `toml:"no_color"`
	ASCII   *bool  `toml:"ascii"`
	Notify  string `toml:"notify"`

	ReducedMotion bool `toml:"reduced_motion"`
	Review        bool `toml:"review"` // on the full screen, hold plans for review before they run
	ChatWidth     int  `toml:"chat_width"`
	PlanHeight    int  `toml:"plan_height"`
	ShowThinking  bool `toml:"show_thinking"`
}

// register declares the flags for the appearance.
func (a *Appearance) register(f *pflag.FlagSet) {
	f.StringVar(&a.theme, "theme", "", "use the theme `NAME`; auto is like the terminal, others are dark, light, high-contrast-dark, … or your own theme")
	f.BoolVar(&a.NoColor, "no-color", false, "no colors; NO_COLOR does the same")
	f.BoolVar(&a.ASCII, "ascii", false, "draw with ASCII only, the default unless the locale is UTF-8; --ascii=false turns it off")
	f.BoolVar(&a.ReducedMotion, "reduced-motion", false, "no animation on the screen; REPLAN_REDUCED_MOTION does the same")
}

// read reads the appearance from the flags, else the environment, else the
// configuration.
func (a *Appearance) read(from sources, terminal bool) error {
	c := from.file.Screen
	a.own = from.file.location()
	beside := First(a.beside, a.own)
	a.found = sync.OnceValue(func() *themes.Set { return themesBeside(beside) })
	if !from.given("no-color") {
		a.NoColor = c.NoColor || from.getenv("NO_COLOR") != ""
	}
	if !from.given("reduced-motion") {
		setting := strings.ToLower(from.getenv("REPLAN_REDUCED_MOTION"))
		a.ReducedMotion = c.ReducedMotion && setting == "" || !slices.Contains([]string{"", "0", "false", "no", "off"}, setting)
	}
	if !from.given("ascii") {
		a.ASCII = terminal && asciiTerminal(from.getenv)
		if c.ASCII != nil {
			a.ASCII = *c.ASCII
		}
	}
	var err error
	if a.Notify, err = notify.ParseMode(c.Notify); err != nil {
		return from.file.unusable(fmt.Errorf("screen.notify: %w", err))
	}
	a.ChatWidth, a.PlanHeight, a.ShowThinking = c.ChatWidth, c.PlanHeight, c.ShowThinking
	for key, percent := range map[string]int{"screen.chat_width": c.ChatWidth, "screen.plan_height": c.PlanHeight} {
		if percent < 0 || percent > 99 {
			return from.file.unusable(noShare(key, strconv.Itoa(percent)))
		}
	}
	if err := a.readTheme(from); err != nil {
		return err
	}
	if a.Keys, err = from.file.screenKeys(); err != nil {
		return from.file.unusable(err)
	}
	return nil
}

func noShare(key, value string) error {
	return fmt.Errorf("%s takes a percentage from 1 to 99, not %s", key, value)
}

// asciiTerminal reports whether the terminal is known to show only ASCII. Its
// locale uses an encoding other than UTF-8, or it is the Linux console, whose
// fonts have no room for more. Without a locale in the environment, nothing is
// known.
func asciiTerminal(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	locale := strings.ToLower(First(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// readTheme reads the theme from the flag, else from the configuration.
func (a *Appearance) readTheme(from sources) error {
	asked := First(a.theme, from.file.Screen.Theme, string(themes.Auto))
	name, err := themes.Parse(asked)
	if err != nil {
		name, err = a.Themes().Parse(asked)
	}
	switch {
	case err == nil:
		a.Theme = name
		return nil
	case a.theme == "":
		return from.file.unusable(fmt.Errorf("screen.theme: %w", err))
	default:
		return fmt.Errorf("%w", err)
	}
}

// mostThemeBytes is the maximum size of a theme file.
const mostThemeBytes = 64 << 10

// Themes returns the available themes, including the user's own: the files in the folder
// themes beside the configuration. They are read once.
func (a Appearance) Themes() *themes.Set {
	if a.found == nil {
		return &themes.Set{}
	}
	return a.found()
}

// themesBeside reads the user's own themes beside a configuration file.
func themesBeside(file string) *themes.Set {
	return readThemes(filepath.Join(filepath.Dir(file), "themes"))
}

// readThemes reads the user's own themes in a folder.
func readThemes(folder string) *themes.Set {
	set := &themes.Set{}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		set.Miss("themes", fmt.Errorf("the folder of your themes cannot be read: %w", err))
	}
	for _, entry := range entries {
		name, found := strings.CutSuffix(entry.Name(), ".toml")
		if !found {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if err := addTheme(set, name, path); err != nil {
			set.Miss(name, fmt.Errorf("the theme %s cannot be used: %w", path, err))
		}
	}
	return set
}

// addTheme adds the theme in a file to a set.
func addTheme(set *themes.Set, name, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > mostThemeBytes {
		return fmt.Errorf("it is not a file of at most %d KB", mostThemeBytes>>10)
	}
	file, err := os.ReadFile(path) //nolint:gosec // the user's own theme
	if err != nil {
		return err
	}
	return set.Add(name, file)
}

// Dress returns the screen options with the appearance applied. The titles in recents were
// chosen in the palette before.
func (a Appearance) Dress(screen tui.Options, recents string) tui.Options {
	screen.Theme, screen.Themes, screen.Config = a.Theme, a.Themes(), a.own
	screen.ASCII, screen.NoColor, screen.ReducedMotion = a.ASCII, a.NoColor, a.ReducedMotion
	screen.Keys, screen.Notify = a.Keys, a.Notify
	screen.ChatWidth, screen.PlanHeight, screen.ShowThinking = a.ChatWidth, a.PlanHeight, a.ShowThinking
	if recent, err := os.ReadFile(recents); err == nil { //nolint:gosec // of the user
		screen.Recent = strings.Split(string(recent), "\n")
	}
	return screen
}

// choose applies a choice of the user on an earlier screen of this process.
func (a *Appearance) choose(key, text string) {
	switch key {
	case "screen.ascii":
		a.ASCII = text == "true"
	case "screen.reduced_motion":
		a.ReducedMotion = text == "true"
	case "screen.chat_width":
		a.ChatWidth, _ = strconv.Atoi(text) // "" is the usual
	case "screen.plan_height":
		a.PlanHeight, _ = strconv.Atoi(text)
	case "screen.show_thinking":
		a.ShowThinking = text == "true"
	case "screen.theme":
		a.Theme = themes.Name(First(text, string(themes.Auto)))
	}
}

// KeyName returns the first key that the user has configured for an action of the screen,
// or its default key.
func (a Appearance) KeyName(action string) string {
	if names := a.Keys[action]; len(names) > 0 {
		return names[0]
	}
	return tui.Keys().Name(action)
}

// report returns the settings of [screen], with that of the review. Those that flags and
// the environment can change have their own entries; other keys are listed as they stand.
func (a Appearance) report(from sources, review session.Setting) []session.Setting {
	c := from.file.Screen
	color := unquoted("screen.no_color", a.NoColor, from.of("no-color", c.NoColor), "no colors")
	if from.getenv("NO_COLOR") != "" && color.Source == fromDefault {
		color.Source = fromEnvironment
	}
	motion := unquoted("screen.reduced_motion", a.ReducedMotion, from.of("reduced-motion", c.ReducedMotion), "nothing spins")
	if from.getenv("REPLAN_REDUCED_MOTION") != "" && motion.Source != "flag --reduced-motion" {
		motion.Source = fromEnvironment
	}
	out := []session.Setting{
		quoted("screen.theme", string(a.Theme), from.of("theme", c.Theme != ""), "colors of the screen"),
		color,
		unquoted("screen.ascii", a.ASCII, from.of("ascii", c.ASCII != nil), "ASCII only"),
		motion,
		review,
		unquoted("screen.chat_width", cmp.Or(a.ChatWidth, tui.UsualShare), from.of("", c.ChatWidth > 0), "percent of the screen's width for the chat"),
		unquoted("screen.plan_height", cmp.Or(a.PlanHeight, tui.UsualShare), from.of("", c.PlanHeight > 0), "percent of the height for the plan, above the step"),
		unquoted("screen.show_thinking", a.ShowThinking, from.of("", c.ShowThinking), "the model's thinking is expanded in the chat"),
	}
	of := reflect.ValueOf(c)
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("toml"), ",")
		if slices.ContainsFunc(out, func(s session.Setting) bool { return s.Key == "screen."+name }) {
			continue
		}
		field, configured := of.Field(i), !of.Field(i).IsZero()
		if field.Kind() == reflect.Pointer && configured {
			field = field.Elem()
		}
		setting := session.Setting{Key: "screen." + name, Value: "default", Choices: screenChoices(name), Source: from.of(strings.ReplaceAll(name, "_", "-"), configured)}
		switch field.Kind() {
		case reflect.String:
			setting.Value = First(field.String(), "default")
			setting.Literal = strconv.Quote(field.String())
		case reflect.Bool, reflect.Int, reflect.Int64:
			setting.Value = fmt.Sprint(field.Interface())
			setting.Literal = setting.Value
		default:
			if configured {
				setting.Value = "as configured"
			}
		}
		out = append(out, setting)
	}
	return append(out, a.reportKeys())
}

// screenChoices returns the possible values of a setting of the screen, nil if they
// are not few.
func screenChoices(name string) []string {
	if name == "notify" {
		return []string{string(notify.Auto), string(notify.Bell), string(notify.Off)}
	}
	return nil
}

// reportKeys returns how many actions have user-defined keys, and which.
func (a Appearance) reportKeys() session.Setting {
	if len(a.Keys) == 0 {
		return session.Setting{Key: "keys", Value: "the usual ones", Source: fromDefault, About: "keys of your own go under [keys] in the configuration; ? shows all"}
	}
	changed := slices.Sorted(maps.Keys(a.Keys))
	return session.Setting{Key: "keys", Value: strconv.Itoa(len(changed)) + " changed", Source: fromConfiguration, About: "under [keys]: " + strings.Join(changed, ", ")}
}
