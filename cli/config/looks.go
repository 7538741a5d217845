package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"replan/themes"
	"replan/tui"
	"replan/tui/notify"
)

// registerLooks declares the flags for the appearance of the screen.
func (o *Options) registerLooks(f *pflag.FlagSet) {
	f.StringVar(&o.theme, "theme", "", "use the theme `NAME`; auto is like the terminal, others are dark, light, high-contrast-dark, … or your own theme")
	f.BoolVar(&o.NoColor, "no-color", false, "no colors; NO_COLOR does the same")
	f.BoolVar(&o.ASCII, "ascii", false, "draw with ASCII only, the default unless the locale is UTF-8; --ascii=false turns it off")
	f.BoolVar(&o.ReducedMotion, "reduced-motion", false, "no animation on the screen; REPLAN_REDUCED_MOTION does the same")
}

// readLooks reads the appearance of the screen from the flags, else the
// environment, else the configuration.
func (o *Options) readLooks(flags *pflag.FlagSet, terminal bool) error {
	c := o.file.Screen
	o.OwnConfig = o.Dirs.ConfigFile()
	if !flags.Changed("no-color") {
		o.NoColor = c.NoColor || o.getenv("NO_COLOR") != ""
	}
	if !flags.Changed("reduced-motion") {
		setting := strings.ToLower(o.getenv("REPLAN_REDUCED_MOTION"))
		o.ReducedMotion = c.ReducedMotion && setting == "" || !slices.Contains([]string{"", "0", "false", "no", "off"}, setting)
	}
	if !flags.Changed("ascii") {
		o.ASCII = terminal && o.asciiTerminal()
		if c.ASCII != nil {
			o.ASCII = *c.ASCII
		}
	}
	var err error
	if o.Notify, err = notify.ParseMode(c.Notify); err != nil {
		return o.Misconfigured(fmt.Errorf("screen.notify: %w", err))
	}
	o.ChatWidth, o.PlanHeight, o.ShowThinking = c.ChatWidth, c.PlanHeight, c.ShowThinking
	for key, percent := range map[string]int{"screen.chat_width": c.ChatWidth, "screen.plan_height": c.PlanHeight} {
		if percent < 0 || percent > 99 {
			return o.Misconfigured(noShare(key, strconv.Itoa(percent)))
		}
	}
	return o.readTheme()
}

func noShare(key, value string) error {
	return fmt.Errorf("%s takes a percentage from 1 to 99, not %s", key, value)
}

// asciiTerminal reports whether the terminal is known to show only ASCII: its
// locale uses an encoding other than UTF-8, or it is the Linux console, whose
// fonts have no room for more. Without a locale in the environment, nothing is
// known.
func (o *Options) asciiTerminal() bool {
	if o.getenv("TERM") == "linux" {
		return true
	}
	locale := strings.ToLower(First(o.getenv("LC_ALL"), o.getenv("LC_CTYPE"), o.getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// readTheme reads the theme from the flag, else from the configuration.
func (o *Options) readTheme() error {
	asked := First(o.theme, o.file.Screen.Theme, string(themes.Auto))
	name, err := themes.Parse(asked)
	if err != nil {
		name, err = o.ThemeSet().Parse(asked)
	}
	switch {
	case err == nil:
		o.ThemeName = name
		return nil
	case o.theme == "":
		return o.Misconfigured(fmt.Errorf("screen.theme: %w", err))
	default:
		return fmt.Errorf("%w", err)
	}
}

// mostThemeBytes is the maximum size of a theme file.
const mostThemeBytes = 64 << 10

// ThemeSet returns the available themes, including the user's own: the files in
// the folder themes beside the configuration. They are read once.
func (o *Options) ThemeSet() *themes.Set {
	if o.themes != nil {
		return o.themes
	}
	o.themes = &themes.Set{}
	folder := filepath.Join(filepath.Dir(o.OwnConfig), "themes")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.themes.Miss("themes", fmt.Errorf("the folder of your themes cannot be read: %w", err))
	}
	for _, entry := range entries {
		name, found := strings.CutSuffix(entry.Name(), ".toml")
		if !found {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if err := addTheme(o.themes, name, path); err != nil {
			o.themes.Miss(name, fmt.Errorf("the theme %s cannot be used: %w", path, err))
		}
	}
	return o.themes
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

// Dressed returns the screen options with the appearance applied.
func (o *Options) Dressed(screen tui.Options) tui.Options {
	screen.Theme, screen.Themes, screen.Config = o.ThemeName, o.ThemeSet(), o.OwnConfig
	screen.ASCII, screen.NoColor, screen.ReducedMotion = o.ASCII, o.NoColor, o.ReducedMotion
	screen.Keys, screen.Notify = o.Keys, o.Notify
	screen.ChatWidth, screen.PlanHeight, screen.ShowThinking = o.ChatWidth, o.PlanHeight, o.ShowThinking
	if recent, err := os.ReadFile(o.Dirs.Recents()); err == nil {
		screen.Recent = strings.Split(string(recent), "\n")
	}
	return screen
}
