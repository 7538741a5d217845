package store_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"replan/agent/store"
)

func TestMediansOfNewestSamples(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	cases := map[string]struct {
		added []map[string][]int64
		want  map[string]int64
	}{
		"no samples":                {nil, map[string]int64{}},
		"one sample":                {[]map[string][]int64{{"a": {7}}}, map[string]int64{"a": 7}},
		"odd number of samples":     {[]map[string][]int64{{"a": {9, 1, 5}}}, map[string]int64{"a": 5}},
		"even number of samples":    {[]map[string][]int64{{"a": {1, 9, 3, 5}}}, map[string]int64{"a": 4}},
		"several runs":              {[]map[string][]int64{{"a": {1}}, {"a": {3}, "b": {8}}, {"a": {2}}}, map[string]int64{"a": 2, "b": 8}},
		"newest 32 of one run":      {[]map[string][]int64{{"a": hundred}}, map[string]int64{"a": 84}},
		"newest 32 of several runs": {[]map[string][]int64{{"a": hundred[:30]}, {"a": hundred[30:60]}, {"a": hundred[60:]}}, map[string]int64{"a": 84}},
		"invalid samples":           {[]map[string][]int64{{"a": {-5, 3}, "b": {-1}, "": {4}, "c": {}}}, map[string]int64{"a": 3}},
		"zero":                      {[]map[string][]int64{{"a": {0}}}, map[string]int64{"a": 0}},
		"largest samples":           {[]map[string][]int64{{"a": {1<<63 - 1, 1<<63 - 1}}}, map[string]int64{"a": 1<<63 - 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "durations.json")
			for _, samples := range c.added {
				if err := store.OpenDurations(path).Add(samples); err != nil {
					t.Fatal(err)
				}
			}
			got, err := store.OpenDurations(path).Medians()
			if err != nil || got == nil || !maps.Equal(got, c.want) {
				t.Errorf("medians %v, want %v: %v", got, c.want, err)
			}
		})
	}
}

func TestLeastRecentlyUsedToolsAreDropped(t *testing.T) {
	d := store.OpenDurations(filepath.Join(t.TempDir(), "durations.json"))
	first := map[string][]int64{}
	for i := range 512 {
		first[fmt.Sprintf("tool-%03d", i)] = []int64{1}
	}
	for _, samples := range []map[string][]int64{first, {"tool-000": {3}}, {"new-1": {1}, "new-2": {1}}} {
		if err := d.Add(samples); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Medians()
	if err != nil || len(got) != 512 {
		t.Fatalf("%d tools: %v", len(got), err)
	}
	for tool, want := range map[string]bool{"tool-000": true, "tool-001": false, "tool-002": false, "tool-003": true, "new-1": true, "new-2": true} {
		if _, kept := got[tool]; kept != want {
			t.Errorf("%s kept: got %v, want %v", tool, kept, want)
		}
	}
}

func TestDamagedDurationsAreReportedOnceAndReplaced(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":         `{"v":1,"tools":[{"tool"`,
		"empty":           ``,
		"another version": `{"v":2,"tools":[]}`,
		"another form":    `[1,2]`,
		"no samples":      `{"v":1,"tools":[{"tool":"a","ms":[]}]}`,
		"negative sample": `{"v":1,"tools":[{"tool":"a","ms":[-1]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "durations.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := store.OpenDurations(path)
			if got, err := d.Medians(); err == nil || len(got) != 0 {
				t.Errorf("first: %v, %v", got, err)
			}
			if got, err := d.Medians(); err != nil || len(got) != 0 {
				t.Errorf("then: %v, %v", got, err)
			}
			if err := d.Add(map[string][]int64{"a": {5}}); err != nil {
				t.Error(err)
			}
			if got, err := d.Medians(); err != nil || got["a"] != 5 {
				t.Errorf("after adding: %v, %v", got, err)
			}
			// If Medians was not called before, Add reports the damage and still
			// adds.
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d = store.OpenDurations(path)
			if err := d.Add(map[string][]int64{"a": {6}}); err == nil {
				t.Error("the damage was not reported")
			}
			if got, err := d.Medians(); err != nil || got["a"] != 6 {
				t.Errorf("after adding alone: %v, %v", got, err)
			}
		})
	}
}

func TestConcurrentWritersLoseNoSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "durations.json")
	var writers sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		writers.Go(func() {
			d := store.OpenDurations(path) // with its own lock, like another process
			for n := range 10 {
				if err := d.Add(map[string][]int64{fmt.Sprintf("tool-%d-%d", i, n): {1}}); err != nil {
					failed[i] = err
				}
			}
		})
	}
	writers.Wait()
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		t.Fatal(failed[i])
	}
	if got, err := store.OpenDurations(path).Medians(); err != nil || len(got) != 80 {
		t.Errorf("%d tools, want 80: %v", len(got), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
}
