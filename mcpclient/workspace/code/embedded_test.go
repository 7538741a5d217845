package code_test

import (
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

func TestFieldOfAPackageThatIsNotHereIsRenamedByNobody(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"go.mod": "module example.test/ren\n\ngo 1.24\n", "a.go": "package ren\n\nimport \"sync\"\n\ntype Mutex struct{ sync.Mutex }\n\nvar m Mutex\n\nfunc f() { m.Mutex.Lock(); m.Unlock() }\n"})
	diff := b.Must(t, "code.transform", args{"kind": "rename", "symbol": "Mutex", "new_name": "Lock2"}).Data["diff"].(string)
	if !strings.Contains(diff, "+type Lock2 struct{ sync.Mutex }") || !strings.Contains(diff, "+var m Lock2") || strings.Contains(diff, "m.Lock2") {
		t.Errorf("got\n%s", diff)
	}
}
