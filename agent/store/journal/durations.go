package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
	"replan/planning/plan"
)

// What the durations of tools are bounded by.
const (
	maxSamples = 32  // of a tool, the newest
	maxTools   = 512 // those that were used last
)

// durationsVersion is the version of the file of durations.
const durationsVersion = 1

// How long a change of the durations waits for that of another process, which
// takes milliseconds.
const (
	durationsPatience = 5 * time.Second
	durationsInterval = 5 * time.Millisecond
)

// Durations are the times that tools took, kept across runs in one JSON file,
// so that the next run knows which steps are long. It may be used by several
// goroutines and processes at once.
type Durations struct {
	path string

	mu   sync.Mutex
	told bool // that the file is damaged
}

// durationsFile is the form of the file: the tools that were used last stand
// last, and so do the newest samples.
type durationsFile struct {
	V     int         `json:"v"`
	Tools []toolTimes `json:"tools"`
}

type toolTimes struct {
	Tool string  `json:"tool"`
	MS   []int64 `json:"ms"`
}

// errDamagedDurations says that the file is none of ours.
var errDamagedDurations = errors.New("it does not hold durations of tools and is begun anew")

// OpenDurations names the file; nothing is read or written yet.
func OpenDurations(path string) *Durations { return &Durations{path: path} }

// Medians returns the median duration of each tool in milliseconds, of its
// newest 32. A file that is not there knows no tool; nor does one that is
// damaged, which is an error the first time and none after that. The map is
// never nil.
func (d *Durations) Medians() (map[string]int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	medians := map[string]int64{}
	file, err := d.load()
	for _, t := range file.Tools {
		medians[t.Tool] = median(t.MS)
	}
	return medians, err
}

// Add adds samples in milliseconds, oldest first, to those that are kept.
// Negative ones and those without a tool are left out. A damaged file is begun
// anew; the error that says so, where Medians has not yet, does not mean that
// the samples were lost.
func (d *Durations) Add(samples map[string][]int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(samples) == 0 {
		return nil
	}
	dir := filepath.Dir(d.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the durations of tools: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), durationsPatience)
	defer cancel()
	lock := flock.New(d.path + lockSuffix)
	if _, err := lock.TryLockContext(ctx, durationsInterval); err != nil {
		return fmt.Errorf("lock the durations of tools in %s: %w", d.path, err)
	}
	file, damage := d.load()
	if errors.Is(damage, errDamagedDurations) || damage == nil {
		file.add(samples)
		return errors.Join(damage, d.store(file), lock.Unlock())
	}
	return errors.Join(damage, lock.Unlock())
}

// load reads the file. What is damaged is empty, with an error the first time.
func (d *Durations) load() (durationsFile, error) {
	empty := durationsFile{V: durationsVersion}
	data, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, fmt.Errorf("read the durations of tools: %w", err)
	}
	file := durationsFile{}
	if err := json.Unmarshal(data, &file); err == nil && file.sound() {
		return file, nil
	}
	if d.told {
		return empty, nil
	}
	d.told = true
	return empty, fmt.Errorf("read the file %s: %w", d.path, errDamagedDurations)
}

// sound reports whether the file is one that Add has written.
func (f durationsFile) sound() bool {
	return f.V == durationsVersion && len(f.Tools) <= maxTools && !slices.ContainsFunc(f.Tools, func(t toolTimes) bool {
		return t.Tool == "" || len(t.MS) == 0 || len(t.MS) > maxSamples || slices.Min(t.MS) < 0
	})
}

// store writes the file. It is a cache: that it is whole counts, not that the
// newest samples outlive a power cut.
func (d *Durations) store(file durationsFile) error {
	data, err := plan.EncodeJSON(file)
	if err != nil {
		return fmt.Errorf("keep the durations of tools: %w", err)
	}
	data = append(data, '\n')
	if err := wholefile.Write(d.path, data); err != nil {
		return fmt.Errorf("keep the durations of tools: %w", err)
	}
	return nil
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
