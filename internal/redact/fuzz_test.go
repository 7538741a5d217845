package redact_test

import (
	"strings"
	"testing"

	"replan/internal/redact"
)

// FuzzText checks that a key on a line of its own is redacted between any other lines,
// and that text that was redacted for a model is not redacted again.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"A=1", "-----BEGIN RSA PRIVATE KEY-----\n", "https://a:b", `"token": "`, "Authorization: Bearer ", "x_", "\\n", strings.Repeat("-----BEGIN PRIVATE KEY-----", 20), "PASSWORD=", "ghp_", strings.Repeat("a", 200) + "://",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
		text := before + "\n" + key + "\n" + after
		for name, got := range map[string]string{"log": redact.Text(text), "prompt": redact.Prompt(text)} {
			if strings.Contains(got, key) && !strings.Contains(before+after, key) {
				t.Fatalf("%s of %q keeps the key: %q", name, text, got)
			}
		}
		once := redact.Prompt(text)
		if again := redact.Prompt(once); strings.Count(again, redact.Marker) < strings.Count(once, redact.Marker) {
			t.Fatalf("%q, redacted again, is %q", once, again)
		}
	})
}
