package ollama_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/prompt"
)

func TestFindingsDriveModels(t *testing.T) {
	t.Parallel()
	server := serve(t, ollamatest.Script{Others: []ollamatest.Model{{Name: "m", Digest: "d", Parameters: "8.2B", Basename: "Able", Quantization: "Q4_K_M"}}})
	const weights = "Able 8.2B Q4_K_M"
	measured := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	found := func(source fit.Source, settings fit.Settings, agents fit.Share, weights untrusted.Text) fit.Finding {
		f := fit.Finding{Source: source, Weights: weights, Settings: settings, Agents: agents, Reads: fit.Share{Done: 3, Of: 3}, Measured: measured}
		if source == fit.SourceMeasured {
			f.Server, f.Digest = server.URL(), "d"
		}
		return f
	}
	tried := fit.Share{Done: 1, Of: 3}
	for name, c := range map[string]struct {
		table  fit.Table
		forced *fit.Settings
		small  bool
		loops  prompt.Loops
		source fit.Source // "" for none
	}{
		"nothing was measured": {},
		"other weights":        {table: fit.Table{found(fit.SourceLoaded, fit.Settings{Short: true}, tried, "Able 8.2B Q8_0")}},
		"measured here": {
			table: fit.Table{found(fit.SourceLoaded, fit.Settings{}, tried, weights), found(fit.SourceMeasured, fit.Settings{Short: true, Loops: true}, tried, "")},
			small: true, loops: prompt.LoopsManaged, source: fit.SourceMeasured,
		},
		"it fails in loops":    {table: fit.Table{found(fit.SourceLoaded, fit.Settings{}, tried, weights)}, loops: prompt.LoopsFailed, source: fit.SourceLoaded},
		"loops were not tried": {table: fit.Table{found(fit.SourceLoaded, fit.Settings{}, fit.Share{}, weights)}, source: fit.SourceLoaded},
		"forced": {
			table:  fit.Table{found(fit.SourceMeasured, fit.Settings{}, tried, weights)},
			forced: &fit.Settings{Short: true, Loops: true}, small: true, loops: prompt.LoopsManaged,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "findings.json")
			data, err := c.table.Encode()
			if err == nil {
				err = os.WriteFile(file, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := connect(t, ollama.Config{Host: server.URL(), Findings: file, Settings: c.forced}).Describe(testContext(t), "m")
			if err != nil || info.Small != c.small || info.Loops != c.loops || info.Weights != weights {
				t.Errorf("got %+v, %v", info, err)
			}
			if (info.Fit != nil) != (c.source != "" || c.forced != nil) || info.Fit != nil && info.Fit.Source != c.source {
				t.Errorf("it is driven by %+v", info.Fit)
			}
			record := prompt.Prompting{}.DrivenBy(info).Measured
			if (record != nil) != (c.source != "") || record != nil && *record != (fit.Record{Source: c.source, Settings: info.Fit.Settings, Measured: measured}) {
				t.Errorf("the record of a run holds %+v", record)
			}
		})
	}
}

func TestDamagedFileOfFindingsCountsAsEmpty(t *testing.T) {
	t.Parallel()
	server := serve(t, ollamatest.Script{Others: []ollamatest.Model{{Name: "m", Digest: "d", Parameters: "1.5B"}}})
	for name, text := range map[string]string{
		"no JSON": "{", "another version": `{"v":9,"findings":[]}`, "a finding without a model": `{"v":1,"findings":[{"source":"measured","server":"","digest":"d","reads":{"done":1,"of":1}}]}`,
	} {
		file := filepath.Join(t.TempDir(), "findings.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := connect(t, ollama.Config{Host: server.URL(), Findings: file}).Describe(testContext(t), "m")
		if err != nil || info.Fit != nil || !info.Small {
			t.Errorf("%s: got %+v, %v", name, info, err)
		}
	}
}

// A model whose finding says so does not think before turns, unless the user chose
// otherwise.
func TestUsersThinkingComesBeforeThatOfAFinding(t *testing.T) {
	t.Parallel()
	info := prompt.ModelInfo{Fit: &fit.Finding{Settings: fit.Settings{Think: fit.ThinkOff}}}
	for _, own := range []prompt.ThinkLevel{prompt.ThinkAuto, prompt.ThinkHigh} {
		want := own
		if own == prompt.ThinkAuto {
			want = prompt.ThinkOff
		}
		if got := (prompt.Prompting{Think: own}).DrivenBy(info).Think; got != want {
			t.Errorf("%q became %q, want %q", own, got, want)
		}
	}
}
