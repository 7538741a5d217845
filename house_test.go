package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A doc.go describes the contents of its package, its imports, and where to start
// reading.
func TestEveryPackageHasDocWithImportsAndStart(t *testing.T) {
	imports, start := regexp.MustCompile(`\bimports?\b`), regexp.MustCompile(`\bStart (reading )?(at|with)\b`)
	packages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || d.Name() == "examples" || len(d.Name()) > 1 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || path == "." || len(files) == 0 {
			return err
		}
		packages++
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(path, "doc.go"), nil, parser.ParseComments)
		switch {
		case os.IsNotExist(err):
			t.Errorf("package %s has no doc.go", path)
			return nil
		case err != nil:
			return err
		}
		doc := strings.Join(strings.Fields(file.Doc.Text()), " ")
		if !imports.MatchString(doc) {
			t.Errorf("%s/doc.go does not say what the package imports", path)
		}
		if !start.MatchString(doc) {
			t.Errorf("%s/doc.go does not say where to start reading", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages == 0 {
		t.Fatal("no package was found")
	}
}

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
