package store

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"
)

// Bounds of the durations of tools.
const (
	maxSamples = 32  // of a tool, the newest
	maxTools   = 512 // those that were used last
)

// durationsVersion is the version of the file of durations.
const durationsVersion = 1

// Durations are how long the calls of tools took, over all runs, so that the
// next run knows which steps are long. Several goroutines and processes may use
// the same file at once.
type Durations struct {
	file   jsonFile[durationsFile]
	warned atomic.Bool // that the file is damaged
}

// durationsFile is the form of the file: the tools that were used last come
// last, and so do the newest samples.
type durationsFile struct {
	V     int         `json:"v"`
	Tools []toolTimes `json:"tools"`
}

type toolTimes struct {
	Tool string  `json:"tool"`
	MS   []int64 `json:"ms"`
}

// OpenDurations names the file; nothing is read or written yet.
func OpenDurations(path string) *Durations {
	return &Durations{file: jsonFile[durationsFile]{
		path: path, what: "durations of tools", empty: durationsFile{V: durationsVersion}, sound: durationsFile.sound,
	}}
}

// Medians returns the median duration of each tool in milliseconds, of its
// newest 32. A file that is missing knows no tool; nor does a damaged one, which
// is an error the first time only. The map is never nil.
func (d *Durations) Medians() (map[string]int64, error) {
	file, err := d.file.read()
	medians := map[string]int64{}
	for _, t := range file.Tools {
		medians[t.Tool] = median(t.MS)
	}
	return medians, d.once(err)
}

// Add adds samples in milliseconds, oldest first. Negative ones and those
// without a tool are left out. A damaged file begins anew; the error that says
// so, where Medians has not yet, does not mean that the samples were lost.
func (d *Durations) Add(samples map[string][]int64) error {
	if len(samples) == 0 {
		return nil
	}
	damage, err := d.file.change(func(file *durationsFile) { file.add(samples) })
	return errors.Join(d.once(damage), err)
}

// once lets an error about a damaged file pass the first time only.
func (d *Durations) once(err error) error {
	var damaged *damagedError
	if errors.As(err, &damaged) && d.warned.Swap(true) {
		return nil
	}
	return err
}

// sound reports whether Add can have written the file.
func (f durationsFile) sound() bool {
	return f.V == durationsVersion && len(f.Tools) <= maxTools && !slices.ContainsFunc(f.Tools, func(t toolTimes) bool {
		return t.Tool == "" || len(t.MS) == 0 || len(t.MS) > maxSamples || slices.Min(t.MS) < 0
	})
}

// add adds samples and drops what is over the bounds.
func (f *durationsFile) add(samples map[string][]int64) {
	for _, tool := range slices.Sorted(maps.Keys(samples)) {
		fresh := slices.DeleteFunc(slices.Clone(samples[tool]), func(ms int64) bool { return ms < 0 })
		if tool == "" || len(fresh) == 0 {
			continue
		}
		at := slices.IndexFunc(f.Tools, func(t toolTimes) bool { return t.Tool == tool })
		if at >= 0 {
			fresh = append(slices.Clone(f.Tools[at].MS), fresh...)
			f.Tools = slices.Delete(f.Tools, at, at+1)
		}
		f.Tools = append(f.Tools, toolTimes{Tool: tool, MS: fresh[max(0, len(fresh)-maxSamples):]})
	}
	f.Tools = f.Tools[max(0, len(f.Tools)-maxTools):]
}

// median is the middle of the samples, the mean of the middle two where their
// number is even.
func median(samples []int64) int64 {
	sorted := slices.Sorted(slices.Values(samples))
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	return low + (high-low)/2
}
