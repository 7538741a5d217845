package workspace_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/planning/intent"
)

func TestWordSearchRanksBestLineFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"a.txt": "the user\nnothing\nit authenticates\nauthenticating the User\n",
		"b.txt": "only users here\n",
	})
	out := b.Must(t, "fs.search", args{"query": "user authentication", "words": true})
	var lines []float64
	for _, m := range out.Data["matches"].([]any) {
		match := m.(map[string]any)
		if match["path"] != "a.txt" {
			t.Errorf("got match %v, which lacks a word", match)
		}
		lines = append(lines, match["line"].(float64))
	}
	if !slices.Equal(lines, []float64{4, 1, 3}) || out.Data["total"] != 3.0 || out.Data["files"] != 1.0 {
		t.Errorf("got lines %v of %v in %v files", lines, out.Data["total"], out.Data["files"])
	}
	if one := b.Must(t, "fs.search", args{"query": "user authentication", "words": true, "max": 1}); one.Data["truncated"] != true || len(one.Data["matches"].([]any)) != 1 {
		t.Errorf("with max 1: got %v", one.Data)
	}
	b.Refused(t, "fs.search", args{"query": "a b", "words": true, "regex": true}, "not both")
	if none := b.Must(t, "fs.search", args{"query": "user elsewhere", "words": true}); none.Data["total"] != 0.0 {
		t.Errorf("got matches %v", none.Data)
	}
}

func TestUnknownSymbolIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.txt": "only in Prosaic text\n"})
	b.Refused(t, "code.definition", args{"symbol": "Prosaic"}, "to search the text: find Prosaic")
	for _, tool := range []string{"code.references", "code.definition"} {
		b.Refused(t, tool, args{"symbol": "Nowhere"}, "no text contains it")
		out := b.Must(t, tool, args{"symbol": "Nowhere", "allow_none": true})
		if note, _ := out.Data["note"].(string); !strings.Contains(note, "there is no symbol Nowhere in the workspace") {
			t.Errorf("%s: %v", tool, out.Data)
		}
	}
}

func TestFailingTestsIncludeSources(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"go.mod":          "module m\n\ngo 1.24\n",
		"a/a.go":          "package a\n\nfunc A() int { return 1 }\n",
		"a/other.go":      "package a\n",
		"a/a_test.go":     "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 2 {\n\t\tt.Error(\"no\")\n\t}\n}\n",
		"b/b_test.go":     "package b\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n",
		"c/whole_test.go": "package c\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { t.Error(C) }\n",
		"c/c.go":          "package c\n\nconst C = 1\n",
	})
	out := b.Must(t, "test.run", args{"allow_failures": true, "sources": true})
	var paths []string
	for _, f := range out.Data["sources"].([]any) {
		paths = append(paths, f.(map[string]any)["path"].(string))
	}
	slices.Sort(paths)
	if want := []string{"a/a.go", "a/a_test.go", "c/c.go", "c/whole_test.go"}; !slices.Equal(paths, want) {
		t.Errorf("got sources %v, want %v", paths, want)
	}
	if plain := b.Must(t, "test.run", args{"allow_failures": true}); plain.Data["sources"] != nil {
		t.Errorf("got sources %v without asking", plain.Data["sources"])
	}
}

func TestSurveyFindsNamesInGoal(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"slug/slug.go":      "package slug\n\n// Make makes.\nfunc Make() {}\n",
		"slug/slug_test.go": "package slug\n\nfunc TestMakeIsQuick() {}\n",
		"other/other.go":    "package other\n",
		".gitignore":        "gone\n", "gone/slug.go": "package gone\n",
	})
	for goal, check := range map[string]func(intent.Facts) bool{
		"what is slug.go":    func(f intent.Facts) bool { return slices.Equal(f.Files, []string{"slug/slug.go", "slug/slug_test.go"}) },
		"find Make in slug":  func(f intent.Facts) bool { return slices.Equal(f.Folders, []string{"slug"}) },
		"why does Make fail": func(f intent.Facts) bool { return slices.Equal(f.Tests, []string{"TestMakeIsQuick"}) },
		"hello":              func(f intent.Facts) bool { return f.Known && f.Files == nil },
	} {
		facts, err := b.Ops.Facts(context.Background(), intent.NewSurvey(goal))
		if err != nil || !check(facts) {
			t.Errorf("%q: got facts %+v, error %v", goal, facts, err)
		}
	}
}
