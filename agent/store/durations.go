package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"replan/internal/wholefile"
)

// Limits of the recorded durations.
const (
	maxSamples = 32  // newest samples per tool
	maxTools   = 512 // most recently used tools
)

// durationsVersion is the version of the file format.
const durationsVersion = 1

// Durations records how long the calls of tools took, over all runs, so that the
// next run can predict long steps. It is safe for concurrent use, by several
// processes too.
type Durations struct {
	file   wholefile.JSON[durationsFile]
	warned atomic.Bool // about a damaged file
}

// durationsFile is the format of the file: most recently used tools last, newest
// samples last.
type durationsFile struct {
	V     int         `json:"v"`
	Tools []toolTimes `json:"tools"`
}

type toolTimes struct {
	Tool string  `json:"tool"`
	MS   []int64 `json:"ms"`
}

// OpenDurations returns the durations in the given file. It reads and writes
// nothing yet.
func OpenDurations(path string) *Durations {
	return &Durations{file: wholefile.JSON[durationsFile]{
		Path: path, What: "durations of tools", Empty: durationsFile{V: durationsVersion}, Sound: durationsFile.sound,
	}}
}

// Medians returns the median duration of each tool in milliseconds, over its
// newest 32 samples. For a missing file the map is empty. So it is for a damaged
// file, the first time with an error. The map is never nil.
func (d *Durations) Medians() (map[string]int64, error) {
	file, err := d.file.Read()
	medians := map[string]int64{}
	for _, t := range file.Tools {
		medians[t.Tool] = median(t.MS)
	}
	return medians, d.once(err)
}

// Add adds samples in milliseconds, oldest first. It skips negative samples and
// those without a tool. A damaged file starts over; Add then returns an error
// unless Medians already has, but the samples are stored.
func (d *Durations) Add(samples map[string][]int64) error {
	if len(samples) == 0 {
		return nil
	}
	damage, err := d.file.Change(context.Background(), func(file *durationsFile) { file.add(samples) })
	return errors.Join(d.once(damage), err)
}

// once passes an error about a damaged file only the first time.
func (d *Durations) once(err error) error {
	var damaged *wholefile.DamagedError
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

// add adds samples and drops those beyond the limits.
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

// median returns the median of the samples; for an even number, the mean of the
// middle two.
func median(samples []int64) int64 {
	sorted := slices.Sorted(slices.Values(samples))
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	return low + (high-low)/2
}
