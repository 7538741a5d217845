package tomledit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"replan/internal/tomledit"
)

func TestSetChangesOnlyItsValue(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"replaces the value, keeps the comment": {"# top\n[screen]  # looks\ntheme = 'paper' # mine\nascii = true\n", "# top\n[screen]  # looks\ntheme = \"ember\" # mine\nascii = true\n"},
		"adds it at the end of the section":     {"[screen]\nascii = true # why\n\n# gates\n[gates]\n", "[screen]\nascii = true # why\ntheme = \"ember\"\n\n# gates\n[gates]\n"},
		"adds it to an empty section":           {"[screen] # looks\n\n[gates]\n", "[screen] # looks\ntheme = \"ember\"\n\n[gates]\n"},
		"adds the section at the end":           {"[gates]\n", "[gates]\n\n[screen]\ntheme = \"ember\"\n"},
		"starts an empty file":                  {"", "[screen]\ntheme = \"ember\"\n"},
		"ends the last line first":              {"[screen]\nascii = true", "[screen]\nascii = true\ntheme = \"ember\""},
		"adds the section behind an open line":  {"[gates]\na = 1", "[gates]\na = 1\n\n[screen]\ntheme = \"ember\"\n"},
		"keeps carriage returns":                {"[screen]\r\nascii = true\r\n", "[screen]\r\nascii = true\r\ntheme = \"ember\"\r\n"},
		"keeps the indent":                      {"[screen]\n  ascii = true\n", "[screen]\n  ascii = true\n  theme = \"ember\"\n"},
		"changes a dotted key":                  {"screen . theme=\"a\"\nx = 1\n", "screen . theme=\"ember\"\nx = 1\n"},
		"adds a dotted key":                     {"screen.ascii = true\nx = 1\n[a]\n", "screen.ascii = true\nscreen.theme = \"ember\"\nx = 1\n[a]\n"},
		"changes an inline table":               {"screen = { ascii = true, theme = \"a\" } # c\n", "screen = { ascii = true, theme = \"ember\" } # c\n"},
		"adds to an inline table":               {"screen = { ascii = true }\n", "screen = { ascii = true, theme = \"ember\" }\n"},
		"fills an inline table":                 {"screen = {}\n", "screen = { theme = \"ember\"}\n"},
		"replaces text of several lines":        {"[screen]\ntheme = \"\"\"a\nb\"\"\"\nascii = true\n", "[screen]\ntheme = \"ember\"\nascii = true\n"},
		"leaves lists of tables alone":          {"[[policy]]\nscreen.theme = \"a\"\n", "[[policy]]\nscreen.theme = \"a\"\n\n[screen]\ntheme = \"ember\"\n"},
		"comes before tables below the section": {"[screen]\na = 1\n[screen.more]\nb = 2\n", "[screen]\na = 1\ntheme = \"ember\"\n[screen.more]\nb = 2\n"},
		"adds a section that has tables below":  {"[screen.more]\nb = 2\n", "[screen.more]\nb = 2\n\n[screen]\ntheme = \"ember\"\n"},
		"reads quoted keys":                     {"[\"screen\"]\n\"theme\" = \"a\"\n", "[\"screen\"]\n\"theme\" = \"ember\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := tomledit.Set([]byte(c.before), "screen", "theme", `"ember"`)
			if err != nil || string(after) != c.after {
				t.Errorf("got %q, %v; want %q", after, err, c.after)
			}
		})
	}
}

func TestUnsetRemovesOnlyItsLine(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"the line":                     {"[screen]\n# a\ntheme = 'x' # mine\nascii = true\n", "[screen]\n# a\nascii = true\n"},
		"all lines of a value":         {"[screen]\ntheme = [\n 1,\n 2 ] # c\nascii = true\n", "[screen]\nascii = true\n"},
		"the only key of a section":    {"[screen]\ntheme = 'x'", "[screen]\n"},
		"the first of an inline table": {"screen = { theme = 'x', ascii = true }\n", "screen = {  ascii = true }\n"},
		"the last of an inline table":  {"screen = { ascii = true, theme = 'x' }\n", "screen = { ascii = true }\n"},
		"a dotted key":                 {"screen.theme = 'x'\ny = 1\n", "y = 1\n"},
		"nothing":                      {"[screen]\nascii = true\n", "[screen]\nascii = true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := tomledit.Unset([]byte(c.before), "screen", "theme")
			if err != nil || string(after) != c.after {
				t.Errorf("got %q, %v; want %q", after, err, c.after)
			}
		})
	}
}

func TestLineOfAKey(t *testing.T) {
	const document = "theme = 1\n\n[keys]\n\"plan.fly\" = [\n  \"f\",\n]\n[screen]\ntheme = \"x\"\n"
	for key, want := range map[[2]string]int{{"keys", "plan.fly"}: 4, {"screen", "theme"}: 8, {"keys", "theme"}: 0} {
		if got := tomledit.Line([]byte(document), key[0], key[1]); got != want {
			t.Errorf("%v: got line %d, want %d", key, got, want)
		}
	}
	if got := tomledit.Line([]byte("[keys"), "keys", "x"); got != 0 {
		t.Errorf("an invalid document: got line %d", got)
	}
}

func TestInvalidDocumentIsNotChanged(t *testing.T) {
	for _, document := range []string{"[screen\n", "theme = \n", "[screen]\na = 1\na = 2\n", "screen = 3\n", "[[screen]]\n"} {
		if after, err := tomledit.Set([]byte(document), "screen", "theme", `"ember"`); err == nil {
			t.Errorf("changed %q to %q, want an error", document, after)
		}
	}
	if after, err := tomledit.Set(nil, "screen", "theme", `"a" b`); err == nil {
		t.Errorf("wrote an invalid value: %q", after)
	}
}

// documents generates documents with comments, blank lines, odd spacing and values
// of many kinds. The section screen may come in any of its forms. The value of its
// theme, if there is one, is returned apart; the document has mark in its place.
func documents(t *rapid.T) (document, theme string) {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	comment := rapid.SampledFrom([]string{"", "# note", "  # [screen]", "\t# theme = \"no\""})
	value := rapid.SampledFrom([]string{"1", "true", "\"text # no comment\"", "'a = b'", "[1, 2]", "[" + newline + "  'x', # inside" + newline + "]", "{ x = 1, y = 'z' }", "\"\"\"" + newline + "[screen]" + newline + "\"\"\"", "2026-01-02", "1.5"})
	gap := rapid.SampledFrom([]string{" = ", "=", "  =  "})
	var b strings.Builder
	lines := func(prefix string) {
		for i := range rapid.IntRange(0, 4).Draw(t, "keys") {
			if rapid.Bool().Draw(t, "comment") {
				b.WriteString(comment.Draw(t, "line") + newline)
			}
			b.WriteString(rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent") + prefix + fmt.Sprintf("key%d", i) + gap.Draw(t, "gap") + value.Draw(t, "value") + comment.Draw(t, "behind") + newline)
		}
	}
	form := rapid.SampledFrom([]string{"none", "header", "dotted", "inline"}).Draw(t, "form")
	if form != "none" && rapid.Bool().Draw(t, "has") {
		theme = value.Draw(t, "theme")
	}
	line := "theme" + gap.Draw(t, "gap") + mark
	lines("")
	switch {
	case form == "dotted" && theme != "":
		b.WriteString("screen." + line + newline)
	case form == "dotted":
		b.WriteString("screen.other = 1" + newline)
	case form == "inline" && theme != "" && !strings.Contains(theme, "\n"):
		b.WriteString("screen = { other = 1, " + line + ", last = 2 }" + newline)
	case form == "inline":
		theme = ""
		b.WriteString("screen = { other = 1 }" + newline)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "tables") {
		b.WriteString(fmt.Sprintf("[table%d] ", i) + comment.Draw(t, "header") + newline)
		lines("")
	}
	if form == "header" {
		b.WriteString("[ screen ]" + comment.Draw(t, "header") + newline)
		lines("")
		if theme != "" {
			b.WriteString(line + comment.Draw(t, "behind") + newline)
		}
		lines("x")
	}
	for range rapid.IntRange(0, 2).Draw(t, "lists") {
		b.WriteString("[[policy]]" + newline + "theme = 1" + newline)
	}
	document = b.String()
	if rapid.Bool().Draw(t, "open") {
		document = strings.TrimSuffix(document, newline)
	}
	return document, theme
}

// mark stands for the value of the theme.
const mark = "@@"

func TestSetAndUnsetKeepAllOtherBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document, theme := documents(t)
		before := strings.Replace(document, mark, theme, 1)
		var was map[string]any
		if err := toml.Unmarshal([]byte(before), &was); err != nil {
			t.Fatalf("the generator makes invalid TOML: %v\n%s", err, before)
		}
		value := rapid.SampledFrom([]string{`"ember"`, "true", "17", "[1, 2]"}).Draw(t, "new")
		after, err := tomledit.Set([]byte(before), "screen", "theme", value)
		if err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		var is, decoded map[string]any
		if err := toml.Unmarshal(after, &is); err != nil {
			t.Fatal(err)
		}
		_ = toml.Unmarshal([]byte("value = "+value), &decoded)
		screen, _ := is["screen"].(map[string]any)
		if !reflect.DeepEqual(screen["theme"], decoded["value"]) {
			t.Fatalf("reads back as %v, want %s:\n%s", screen["theme"], value, after)
		}
		if theme != "" {
			if want := strings.Replace(document, mark, value, 1); string(after) != want {
				t.Fatalf("got:\n%s\n--- want:\n%s", after, want)
			}
		} else {
			head, tail := common(before, string(after))
			if head+tail != len(before) {
				t.Fatalf("removed %q:\n%s", before[head:len(before)-tail], before)
			}
		}
		again, err := tomledit.Set(after, "screen", "theme", value)
		if err != nil || string(again) != string(after) {
			t.Fatalf("setting it again changes %q to %q, %v", after, again, err)
		}
		gone, err := tomledit.Unset(after, "screen", "theme")
		if err != nil {
			t.Fatal(err)
		}
		head, tail := common(string(after), string(gone))
		if head+tail != len(gone) {
			t.Fatalf("added %q:\n%s", string(gone)[head:len(gone)-tail], after)
		}
	})
}

// common returns the lengths of what two texts begin and end with alike.
func common(a, b string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
