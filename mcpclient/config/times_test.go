package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/config"
)

func TestNumbersOfTimeAreReadInTheUnitOfTheirProgram(t *testing.T) {
	for name, c := range map[string]struct {
		file, entry string
		call, start time.Duration
		note        string
	}{
		"Cline":                          {"cline_mcp_settings.json", `"timeout": 60`, time.Minute, 0, ""},
		"Cline, longer than Claude's":    {"cline_mcp_settings.json", `"timeout": 3600`, time.Hour, 0, ""},
		"Roo":                            {"mcp_settings.json", `"timeout": 300`, 5 * time.Minute, 0, ""},
		"Roo in a project":               {".roo/mcp.json", `"timeout": 3600`, time.Hour, 0, ""},
		"Crush":                          {"crush.json", `"timeout": 120`, 2 * time.Minute, 0, ""},
		"Crush in a project":             {".crush.json", `"timeout": 120`, 2 * time.Minute, 0, ""},
		"milliseconds":                   {"mcp.json", `"timeout": 1000`, time.Second, 0, ""},
		"seconds of an unknown program":  {"mcp.json", `"timeout": 60`, time.Minute, 0, `mcp.json:1: server "it": "timeout" is 60, which is read as seconds; write a duration such as "30s"`},
		"a part of a second":             {"mcp.json", `"timeout": 0.5`, 500 * time.Millisecond, 0, `"timeout" is 0.5, which is read as seconds`},
		"opencode, in seconds":           {"opencode.json", `"timeout": {"request": 30, "startup": 45}`, 30 * time.Second, 45 * time.Second, `"timeout" is 30, which is read as seconds`},
		"start in seconds":               {"mcp.json", `"startup_timeout": 45`, 0, 45 * time.Second, ""},
		"start in milliseconds":          {"mcp.json", `"startup_timeout": 30000`, 0, 30 * time.Second, `"startup_timeout" is 30000, which is read as milliseconds`},
		"a key that names milliseconds":  {"mcp.json", `"startup_timeout_ms": 900`, 0, 900 * time.Millisecond, ""},
		"a key that names seconds":       {"mcp.json", `"startup_timeout_sec": 1200, "tool_timeout_sec": 1800`, 30 * time.Minute, 20 * time.Minute, ""},
		"a duration in a file of theirs": {"crush.json", `"timeout": "90s"`, 90 * time.Second, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			table := "mcpServers"
			if strings.Contains(c.file, "crush") || strings.Contains(c.file, "opencode") {
				table = "mcp"
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"`+table+`": {"it": {"command": "x", `+c.entry+`}}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			read, err := config.Read(path, config.SourceUser, "/work")
			if err != nil {
				t.Fatal(err)
			}
			imported, err := config.Import(path, config.Places{})
			if err != nil {
				t.Fatal(err)
			}
			for how, got := range map[string]config.Server{"read": read[0], "imported": imported[0].Servers[0]} {
				notes := strings.Join(got.Notes, "\n")
				if got.Problem != "" || got.Timeout != c.call || got.StartTimeout != c.start || !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
					t.Errorf("%s: got %s, %s, notes %q, problem %q", how, got.Timeout, got.StartTimeout, notes, got.Problem)
				}
			}
		})
	}
}
