package code_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
)

func TestFieldThatEmbedsATypeIsNoSecondMeaningOfItsName(t *testing.T) {
	const use = "func use() int { d := Derived{Base: Base{ID: 1}}; return d.ID + d.Base.ID }\n"
	for name, c := range map[string]struct{ embedded, other string }{
		"value":         {embedded: "\tBase\n"},
		"pointer":       {embedded: "\t*Base `json:\"base\"`\n"},
		"named as type": {embedded: "\tBase\n", other: "type Far struct{ Base int }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			text := "package ren\n\n// Base is embedded below.\ntype Base struct{ ID int }\n\n// Derived embeds Base.\ntype Derived struct {\n" + c.embedded + "\tName string\n}\n\n" + c.other
			if name == "value" {
				text += use
			}
			b.Write(t, map[string]string{"go.mod": "module example.test/ren\n\ngo 1.24\n", "a.go": text})
			if c.other != "" { // a field of another type is another thing
				b.Refused(t, "code.transform", args{"kind": "rename", "symbol": "Base", "new_name": "Root"}, "means 2 things", "Far.Base")
				return
			}
			diff := b.Must(t, "code.transform", args{"kind": "rename", "symbol": "Base", "new_name": "Root"}).Data["diff"].(string)
			for _, want := range []string{"+// Root is embedded below.", "+type Root struct{ ID int }", strings.Replace("+"+c.embedded, "Base", "Root", 1)} {
				if !strings.Contains(diff, want) {
					t.Errorf("the diff lacks %q:\n%s", want, diff)
				}
			}
			if name == "value" && !strings.Contains(diff, "+func use() int { d := Derived{Root: Root{ID: 1}}; return d.ID + d.Root.ID }") {
				t.Errorf("uses of the field keep the old name:\n%s", diff)
			}
			if total := b.Must(t, "code.references", args{"symbol": "Base"}).Data["total"].(float64); total < 2 {
				t.Errorf("got %v references", total)
			}
		})
	}
}

func TestFieldThatEmbedsATypeIsAUseOfIt(t *testing.T) {
	const text = "package ren\n\ntype Base struct{ ID int }\n\ntype Value struct {\n\tBase\n}\n\ntype Pointer struct {\n\t*Base\n}\n"
	for by, files := range map[string]map[string]string{
		"types": {"go.mod": "module example.test/ren\n\ngo 1.24\n", "a.go": text},
		"words": {"a.go": text},
	} {
		t.Run("by "+by, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, files)
			found := b.Must(t, "code.references", args{"symbol": "Base"}).Data
			var uses []any
			for _, r := range found["references"].([]any) {
				if r := r.(map[string]any); r["definition"] != true {
					uses = append(uses, r["line"])
				}
			}
			if found["by"] != by || !slices.Equal(uses, []any{6.0, 10.0}) {
				t.Errorf("got %v", found)
			}
			if diff := b.Must(t, "code.transform", args{"kind": "rename", "symbol": "Base", "new_name": "Root"}).Data["diff"].(string); strings.Count(diff, "\n+") < 3 {
				t.Errorf("the rename is\n%s", diff)
			}
			removed := b.Must(t, "code.remove", args{"symbol": "Base"})
			if !strings.Contains(fmt.Sprint(removed.Data["files"]), "the name Base is still used in 2 places: a.go:6, a.go:10") {
				t.Errorf("got %v", removed.Data)
			}
		})
	}
}

func TestFieldOfAPackageThatIsNotHereIsRenamedByNobody(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"go.mod": "module example.test/ren\n\ngo 1.24\n", "a.go": "package ren\n\nimport \"sync\"\n\ntype Mutex struct{ sync.Mutex }\n\nvar m Mutex\n\nfunc f() { m.Mutex.Lock(); m.Unlock() }\n"})
	diff := b.Must(t, "code.transform", args{"kind": "rename", "symbol": "Mutex", "new_name": "Lock2"}).Data["diff"].(string)
	if !strings.Contains(diff, "+type Lock2 struct{ sync.Mutex }") || !strings.Contains(diff, "+var m Lock2") || strings.Contains(diff, "m.Lock2") {
		t.Errorf("got\n%s", diff)
	}
}
