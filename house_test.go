package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The manual names the test that holds each promise.
func TestGuaranteesNameTestsThatExist(t *testing.T) {
	manual, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(manual), -1) {
		missing[name[1]] = true
	}
	if len(missing) == 0 {
		t.Fatal("the manual names no test")
	}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path) //nolint:gosec // of this module
		for name := range missing {
			if strings.Contains(string(source), "func "+name+"(") {
				delete(missing, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range missing {
		t.Errorf("docs/guarantees.md names %s, which does not exist", name)
	}
}
