package themes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set holds the available themes: those of the program and those the user added. A
// nil set has only the program's themes.
type Set struct {
	own    []Definition
	broken []Broken
}

// Broken is a user theme that cannot be used.
type Broken struct {
	Name Name
	Err  error
}

// Miss records that a theme cannot be used.
func (s *Set) Miss(name string, err error) {
	s.broken = append(s.broken, Broken{normal(name), err})
}

// Broken returns the themes that cannot be used.
func (s *Set) Broken() []Broken {
	if s == nil {
		return nil
	}
	return s.broken
}

// All returns the themes of the set, the program's before the user's.
func (s *Set) All() []Definition {
	all := builtin()
	if s != nil {
		all = append(all, s.own...)
	}
	return all
}

// Names returns the names to choose from, starting with auto.
func (s *Set) Names() []Name {
	names := []Name{Auto}
	for _, d := range s.All() {
		names = append(names, d.Name)
	}
	return names
}

// Parse parses a theme name of the set. An empty name means [Auto]. The error lists
// the available names.
func (s *Set) Parse(name string) (Name, error) {
	n := normal(name)
	for _, b := range s.Broken() {
		if b.Name == n {
			return "", b.Err
		}
	}
	if names := s.Names(); !slices.Contains(names, n) {
		known := make([]string, len(names))
		for i, n := range names {
			known[i] = string(n)
		}
		return "", fmt.Errorf("there is no theme %q: choose %s or %s", name, strings.Join(known[:len(known)-1], ", "), known[len(known)-1])
	}
	return n, nil
}

// Parse parses the name of a theme of the program.
func Parse(name string) (Name, error) { return (*Set)(nil).Parse(name) }

// normal returns a name in its stored form.
func normal(name string) Name {
	n := strings.ToLower(strings.TrimSpace(name))
	return cmp.Or(Name(strings.ReplaceAll(n, "colour", "color")), Auto)
}

// Either returns the theme for a terminal whose background is unknown. Its colors
// are legible on dark and light backgrounds.
func Either(mode Mode) Theme { return either().theme(true, mode) }

// New returns the named theme for a terminal. An unknown name means auto.
func (s *Set) New(name Name, darkBackground bool, mode Mode) Theme {
	all := s.All()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		auto := Light
		if darkBackground {
			auto = Dark
		}
		i = slices.IndexFunc(all, func(d Definition) bool { return d.Name == auto })
	}
	return all[i].theme(darkBackground, mode)
}
