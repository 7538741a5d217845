package main_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A newcomer finds every package by the map of CONTRIBUTING: the line of its room, or one
// below it, names the package.
func TestMapNamesEveryPackage(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(page), "This map leads to the package")
	if !found {
		t.Fatal("CONTRIBUTING.md has no map")
	}
	lines := strings.Split(strings.Trim(strings.Split(below, "```")[1], "\n"), "\n")
	rooms := map[string]string{} // what the map says of each
	var room []string
	for _, line := range lines {
		if line[0] != ' ' {
			heads, _, _ := strings.Cut(line, "  ")
			room = strings.Fields(heads)
		}
		for _, name := range room {
			rooms[strings.TrimSuffix(name, "/")] += line + "\n"
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`[a-z]+/`)
	for _, p := range loaded {
		place := strings.TrimPrefix(p.PkgPath, "replan/")
		if place == p.PkgPath {
			continue // the program itself
		}
		in, _, _ := strings.Cut(place, "/")
		if !slices.Contains(named.FindAllString(rooms[in], -1), path.Base(place)+"/") {
			t.Errorf("the map does not name %s in a line of %s/", place, in)
		}
	}
}
