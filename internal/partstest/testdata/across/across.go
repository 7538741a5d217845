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
