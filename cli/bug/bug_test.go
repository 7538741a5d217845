package bug_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/cli/bug"
	"replan/internal/redact"
	"replan/planning/plan"
)

func TestReportOfARunHoldsNoSecrets(t *testing.T) {
	secrets := []string{"sk-abcdefghijklmnop1234", "hunter2222", "correct horse", "s3cr3t-of-this-shop"}
	known := &redact.Secrets{}
	known.AddEnviron([]string{"SHOP_TOKEN=" + secrets[3], "LANG=C.UTF-8"})
	report := bug.Report{
		Version: "replan 1.0", Doctor: "the server says token: " + secrets[1] + "\n", Config: []byte("[model]\nhost = \"https://me:" + secrets[1] + "@host\"\n"),
		Secrets: known,
		Events: []event.Event{
			{Seq: 1, Run: "r", Data: event.RunStarted{Goal: "deploy with " + "sk-abcdefghijklmnop1234"}},
			{Seq: 2, Run: "r", Data: event.StepStarted{Index: "1", Attempt: 1, Title: "Log in", Executor: plan.ExecutorTool, Tool: "login", Args: map[string]any{
				"password": secrets[2], "headers": []any{"X-Shop: " + secrets[3]}, "path": "docs/a.md",
			}}},
			{Seq: 3, Run: "r", Data: event.StepCompleted{Index: "1", Attempt: 1, Result: []any{json.Number("12345678901234567890"), strings.Repeat("x", event.LargeValue) + " token: " + secrets[1]}}},
		},
	}
	path := filepath.Join(t.TempDir(), "bug.zip")
	if err := bug.Pack(path, report.Contents()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read %v, %v", info.Mode(), err)
	}
	packed, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close() //nolint:errcheck // it was only read
	whole := map[string]string{}
	for _, file := range packed.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		whole[file.Name] = string(text)
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s holds %q:\n%s", file.Name, secret, text)
			}
		}
	}
	if len(whole) != 4 || !strings.Contains(whole["journal.jsonl"], "docs/a.md") || !strings.Contains(whole["journal.jsonl"], "12345678901234567890") {
		t.Errorf("got %v", whole)
	}
	for line := range strings.Lines(whole["journal.jsonl"]) {
		if err := json.Unmarshal([]byte(line), new(event.Event)); err != nil {
			t.Errorf("the line is no event: %v: %s", err, line)
		}
	}
}

func TestReportOverwritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bug.zip")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bug.Pack(path, nil); err == nil {
		t.Error("an existing file is overwritten")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("got %q, %v", text, err)
	}
}
