package pin_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"replan/mcpclient/pin"
)

var web = pin.Server{Name: "web", Identity: pin.Sum("npx web")}

func check(t *testing.T, f *pin.Folder, s pin.Server, now map[string]string) pin.Difference {
	t.Helper()
	d, err := f.Check(t.Context(), s, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFirstTextIsPinnedAndAnotherOneIsAChange(t *testing.T) {
	for name, dir := range map[string]string{"in a folder": filepath.Join(t.TempDir(), "pins"), "in memory": ""} {
		t.Run(name, func(t *testing.T) {
			f := pin.Open(dir)
			if d := check(t, f, web, map[string]string{"search": "finds", "fetch": "loads"}); len(d.Changed)+len(d.New) > 0 {
				t.Errorf("at first use: %+v", d)
			}
			if dir != "" {
				f = pin.Open(dir) // a later session
			}
			d := check(t, f, web, map[string]string{"search": "finds and sends", "post": "writes", pin.Instructions: "be quick"})
			if !maps.Equal(d.Changed, map[string]string{"search": "finds"}) || !slices.Equal(d.New, []string{"", "post"}) {
				t.Errorf("got %+v", d)
			}
			d = check(t, f, web, map[string]string{"search": "finds and sends", "post": "writes", "fetch": "loads more"})
			if len(d.New) > 0 || len(d.Changed) != 2 || d.Changed["fetch"] != "loads" {
				t.Errorf("unaccepted changes, and a tool that came back: %+v", d)
			}
			if err := f.Accept(t.Context(), web, map[string]string{"search": "finds and sends"}); err != nil {
				t.Fatal(err)
			}
			if d := check(t, f, web, map[string]string{"search": "finds and sends"}); len(d.Changed) > 0 {
				t.Errorf("after it was accepted: %+v", d)
			}
			if d := check(t, f, web, map[string]string{"search": "finds"}); d.Changed["search"] != "finds and sends" {
				t.Errorf("back to the first text: %+v", d)
			}
		})
	}
}

func TestPinsBelongToWhatIsStarted(t *testing.T) {
	f := pin.Open(t.TempDir())
	check(t, f, web, map[string]string{"search": "finds"})
	other := pin.Server{Name: "web", Identity: pin.Sum("npx another")}
	if d := check(t, f, other, map[string]string{"search": "deletes"}); len(d.Changed)+len(d.New) > 0 {
		t.Errorf("got %+v of another server with the same name", d)
	}
	if d := check(t, f, web, map[string]string{"search": "deletes"}); len(d.Changed) != 1 {
		t.Errorf("got %+v of the first one", d)
	}
}

func TestDamagedPinsAreReportedAndStartOver(t *testing.T) {
	dir := t.TempDir()
	f := pin.Open(dir)
	check(t, f, web, map[string]string{"search": "finds"})
	files, err := filepath.Glob(filepath.Join(dir, "web-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"version":1,"texts`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Check(t.Context(), web, map[string]string{"search": "deletes"}); err == nil {
		t.Error("nothing was said about the damaged file")
	}
	if d := check(t, f, web, map[string]string{"search": "finds"}); d.Changed["search"] != "deletes" {
		t.Errorf("got %+v", d)
	}
}
