package partstest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"replan/internal/partstest"
)

// The packages in testdata say in comments which lines break the rule, and how.
func TestEachFaultIsFoundAndNothingElse(t *testing.T) {
	faults, err := partstest.Faults("./testdata/one", "./testdata/other", "./testdata/across")
	if err != nil {
		t.Fatal(err)
	}
	wanted := marked(t)
	if len(wanted) == 0 {
		t.Fatal("no line is marked")
	}
	for _, fault := range faults {
		place, text, _ := strings.Cut(fault, ": ")
		line := place[:strings.LastIndexByte(place, ':')]
		if want, ok := wanted[line]; !ok || !strings.Contains(text, want) {
			t.Errorf("a fault that is none: %s", fault)
		}
		delete(wanted, line)
	}
	for line, text := range wanted {
		t.Errorf("%s: not found: %s", line, text)
	}
}

func TestPackageThatCannotBeReadIsAnError(t *testing.T) {
	if _, err := partstest.Faults("./testdata/missing"); err == nil {
		t.Error("it has no faults")
	}
}

// marked returns the marked lines, as FILE:LINE, and what is wrong with each.
func marked(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if _, fault, ok := strings.Cut(line, "// fault: "); ok {
				lines[file+":"+strconv.Itoa(i+1)] = fault
			}
		}
	}
	return lines
}
