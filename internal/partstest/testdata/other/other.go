// Package other owns data that another package is not to write.
package other

// Settings own their data.
type Settings struct {
	Box     Box
	Names   map[string]int
	Next    *Box
	changed bool
}

// Change changes.
func (s *Settings) Change() { s.changed = true }

// Box is a value.
type Box struct{ On bool }

// Options are a value, though no other package sees a field.
type Options struct {
	Name string
	seen bool
}

// Seen asks.
func (o Options) Seen() bool { return o.seen }

// Flags are a value, since others see all of their fields.
type Flags struct{ Dry bool }

// Set sets.
func (f *Flags) Set() { f.Dry = true }

// Failure is an error, which is a value.
type Failure struct {
	Text   string
	reason string
}

func (f *Failure) Error() string { return f.Text + f.reason }
