package themes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set is the themes that can be chosen: those of the program and those that were
// added. A nil set has the program's alone.
type Set struct {
	own    []Definition
	broken []Broken
}

// Broken is a theme of the user's own that cannot be used.
type Broken struct {
	Name Name
	Err  error
}

// Miss notes that a theme cannot be used.
func (s *Set) Miss(name string, err error) {
	s.broken = append(s.broken, Broken{normal(name), err})
}

// Broken are the themes that cannot be used.
func (s *Set) Broken() []Broken {
	if s == nil {
		return nil
	}
	return s.broken
}

// All are the themes of the set, the program's before the user's.
func (s *Set) All() []Definition {
	all := builtin()
	if s != nil {
		all = append(all, s.own...)
	}
	return all
}

// Names are the names that can be chosen, auto the first.
func (s *Set) Names() []Name {
	names := []Name{Auto}
	for _, d := range s.All() {
		names = append(names, d.Name)
	}
	return names
}

// Parse reads the name of a theme of the set; nothing at all means [Auto]. The
// error lists what there is.
func (s *Set) Parse(name string) (Name, error) {
	n := normal(name)
	for _, b := range s.Broken() {
		if b.Name == n {
			return "", b.Err
		}
	}
	if names := s.Names(); !slices.Contains(names, n) {
		told := make([]string, len(names))
		for i, n := range names {
			told[i] = string(n)
		}
		return "", fmt.Errorf("there is no theme %q: choose %s or %s", name, strings.Join(told[:len(told)-1], ", "), told[len(told)-1])
	}
	return n, nil
}

// Parse reads the name of a theme of the program.
func Parse(name string) (Name, error) { return (*Set)(nil).Parse(name) }

// normal is a name as it is kept.
func normal(name string) Name {
	n := strings.ToLower(strings.TrimSpace(name))
	return cmp.Or(Name(strings.ReplaceAll(n, "color", "colour")), Auto)
}

// New makes the theme of that name for a terminal; one that there is not is auto.
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
