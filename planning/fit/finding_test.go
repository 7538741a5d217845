package fit_test

import (
	"strings"
	"testing"
	"time"

	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/pace"
)

const server = "http://127.0.0.1:11434"

const weights = "Coder 1.5B Q4_K_M"

func finding(source fit.Source) fit.Finding {
	f := fit.Finding{
		Weights: weights, Model: "coder", Source: source, Plans: fit.Share{Done: 15, Of: 24}, Reads: fit.Share{Done: 9, Of: 12}, Changes: fit.Share{Done: 6, Of: 12},
		Speed: pace.Speed{Read: 100, Write: 20}, GoalMS: 9000, Measured: time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC), Settings: fit.Settings{Short: true},
	}
	if source == fit.SourceMeasured {
		f.Server, f.Digest = server, "d"
	}
	return f
}

func TestFindingsOfThisServerComeFirst(t *testing.T) {
	measured, loaded, builtIn := finding(fit.SourceMeasured), finding(fit.SourceLoaded), finding(fit.SourceBuiltIn)
	for name, c := range map[string]struct {
		table   fit.Table
		server  string
		digest  string
		weights string
		want    fit.Source // "" for none
		times   bool
	}{
		"measured here":                     {fit.Table{builtIn, loaded, measured}, server, "d", weights, fit.SourceMeasured, true},
		"measured here, weights unnamed":    {fit.Table{builtIn, measured}, server, "d", "", fit.SourceMeasured, true},
		"loaded":                            {fit.Table{builtIn, loaded}, server, "d", weights, fit.SourceLoaded, false},
		"built in":                          {fit.Table{builtIn}, server, "d", weights, fit.SourceBuiltIn, false},
		"measured on another server":        {fit.Table{measured, builtIn}, "http://other:1", "d", weights, fit.SourceBuiltIn, false},
		"measured before an update":         {fit.Table{measured}, server, "e", weights, "", false},
		"a model whose digest is not known": {fit.Table{measured}, server, "", "", "", false},
		"other weights":                     {fit.Table{loaded, builtIn}, server, "d", "Coder 1.5B Q8_0", "", false},
		"weights that nobody names":         {fit.Table{loaded, builtIn}, server, "d", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := c.table.Of(c.server, c.digest, untrusted.Text(c.weights))
			if f.Source != c.want || ok != (c.want != "") {
				t.Fatalf("got the finding %q, %t", f.Source, ok)
			}
			if here := f.GoalMS > 0 && f.Speed.Known(); here != c.times {
				t.Errorf("the times are %d ms and %v", f.GoalMS, f.Speed)
			}
		})
	}
}

func TestNewFindingReplacesTheOldOne(t *testing.T) {
	old := fit.Table{finding(fit.SourceMeasured), finding(fit.SourceLoaded)}
	other := finding(fit.SourceMeasured)
	other.Digest = "e"
	for name, c := range map[string]struct {
		found fit.Finding
		want  int
	}{
		"of the same model":   {finding(fit.SourceMeasured), 2},
		"of the same weights": {finding(fit.SourceLoaded), 2},
		"of another model":    {other, 3},
		"from another source": {finding(fit.SourceBuiltIn), 3},
	} {
		c.found.GoalMS = 1
		table := old.With(c.found)
		if len(table) != c.want || table[c.want-1].GoalMS != 1 || old[0].GoalMS != 9000 {
			t.Errorf("%s: got %d findings: %+v", name, len(table), table)
		}
	}
}

func TestTableIsReadAsItWasWritten(t *testing.T) {
	data, err := fit.Table{finding(fit.SourceMeasured), finding(fit.SourceLoaded)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	table, err := fit.Decode(data)
	if err != nil || len(table) != 2 || table[0].Measured != finding("").Measured || table[0].Settings != finding("").Settings || table[1].Source != fit.SourceLoaded {
		t.Errorf("got %+v, %v", table, err)
	}
	if _, err := fit.BuiltIn(); err != nil {
		t.Error(err)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"no JSON":          {"model = 1", "this is no file of replan fit --export"},
		"another file":     {`{"servers":{}}`, "this file has version 0, and this replan reads version 1: export it again"},
		"a newer one":      {`{"v":2,"findings":[]}`, "version 2"},
		"no weights":       {`{"v":1,"findings":[{"model":"a","reads":{"done":1,"of":1}}]}`, "finding 1: it names no weights of a model"},
		"no server":        {`{"v":1,"findings":[{"source":"measured","weights":"w","reads":{"done":1,"of":1}}]}`, "finding 1: it names no model of a server"},
		"no goals":         {`{"v":1,"findings":[{"weights":"w"}]}`, "finding 1: no goal was tried"},
		"more than tried":  {`{"v":1,"findings":[{"weights":"w","reads":{"done":1,"of":1},"agents":{"done":4,"of":3}}]}`, "more was reached than was tried"},
		"unknown thinking": {`{"v":1,"findings":[{"weights":"w","reads":{"done":1,"of":1},"settings":{"think":"max"}}]}`, `think is "max", and may be "off" or missing`},
	} {
		if table, err := fit.Decode([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) || table != nil {
			t.Errorf("%s: got %v, %v; want %q", name, table, err, c.want)
		}
	}
}

func TestFindingSaysWhatToExpect(t *testing.T) {
	for _, c := range []struct {
		reads, changes int // of 12
		want           string
	}{
		{12, 9, "answers and changes files; look at each diff"},
		{9, 5, "reads and answers; changes need your eye"},
		{9, 4, "reads and answers; leave changes to a larger model"},
		{8, 9, "changes what you name; check its answers"},
		{5, 0, "is often wrong; check all that it does"},
		{4, 4, "not fit for work in a project; choose another"},
	} {
		f := fit.Finding{Reads: fit.Share{Done: c.reads, Of: 12}, Changes: fit.Share{Done: c.changes, Of: 12}}
		can, _, _ := strings.Cut(c.want, ";")
		if f.Expect() != c.want || f.Brief()[0] != can || f.Brief()[1] != f.Goals().String()+" goals" || f.Useful() != (can != "not fit for work in a project") {
			t.Errorf("%d of 12 answers and %d of 12 changes: got %q, %q", c.reads, c.changes, f.Expect(), f.Brief())
		}
	}
}

func TestRecordSaysWhatDrivesARun(t *testing.T) {
	for _, c := range []struct {
		source   fit.Source
		settings fit.Settings
		want     string
	}{
		{fit.SourceMeasured, fit.Settings{Short: true}, "short plans, no agents; measured on 2026-11-29"},
		{fit.SourceLoaded, fit.Settings{Loops: true, Think: fit.ThinkOff}, "full plans, agents, thinking off; loaded, measured on 2026-11-29"},
		{fit.SourceBuiltIn, fit.Settings{Loops: true}, "full plans, agents; built in, measured on 2026-11-29"},
	} {
		f := finding(c.source)
		f.Settings = c.settings
		if got := f.Record().String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestExportNamesNoServer(t *testing.T) {
	if f := finding(fit.SourceMeasured).Exported(); f.Server != "" || f.Digest != "" || f.Source != "" || f.Weights != weights {
		t.Errorf("got %+v", f)
	}
}
