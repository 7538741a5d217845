// Package across breaks the rule from another package.
package across

import "replan/internal/partstest/testdata/other"

type pointer struct{ *other.Settings }

func (p pointer) changeTwice() { p.Change(); p.Change() } // fault: changeTwice only adds methods to Settings

type value struct{ other.Settings }

func (v *value) changeTwice() { v.Change(); v.Change() } // fault: changeTwice only adds methods to Settings

type taken other.Settings // fault: taken takes over the fields of Settings

type failure struct{ *other.Failure }

func (f failure) Error() string { return "failed: " + f.Failure.Error() }

func write(s *other.Settings, o *other.Options, f *other.Failure, flags *other.Flags) {
	s.Box = other.Box{}  // fault: Box of Settings is written
	(s.Box).On = true    // fault: Box of Settings is written
	s.Names["a"]++       // fault: Names of Settings is written
	s.Names["a"] = 1     // fault: Names of Settings is written
	s.Next.On = s.Box.On // what it points to is not its data
	o.Name, f.Text, flags.Dry = "", "", false
	_ = other.Settings{Box: other.Box{On: true}}
	box := s.Box
	box.On = true
	box, s.Next = other.Box{}, nil // fault: Next of Settings is written
}
