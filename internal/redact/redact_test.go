package redact_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"replan/internal/redact"
)

func TestSecretsAreRedacted(t *testing.T) {
	for _, c := range []struct{ text, secret string }{
		{"API_KEY=sk-FILEabcdefghijklmnop123\nX=1", "sk-FILE"},
		{`{"text":"A=1\nsk-FILEabcdefghijklmnop123"}`, "sk-FILE"},
		{"GH=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"},
		{"AWS=AKIAABCDEFGHIJKLMNOP", "AKIA"},
		{"curl -H 'Authorization: Bearer abcdef123'", "abcdef123"},
		{"https://user:p4ssw0rd@host/x", "p4ssw0rd"},
		{`{"text":"HOST=a\nDB_PASSWORD=hunter22\nB=c"}`, "hunter22"},
		{"export JWT_SECRET=\"c0rrecthorse\"", "c0rrecthorse"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIabcdefghijklmnop\n-----END RSA PRIVATE KEY-----", "MIIabc"},
		{`"-----BEGIN PRIVATE KEY-----\nMIIabcdefghijklmnop\n-----END PRIVATE KEY-----\n"`, "MIIabc"},
	} {
		for name, got := range map[string]string{"prompt": redact.Prompt(c.text), "log": redact.Text(c.text)} {
			if strings.Contains(got, c.secret) {
				t.Errorf("%s of %q: got %q", name, c.text, got)
			}
		}
		if redact.Marks(redact.Prompt(c.text)) == 0 {
			t.Errorf("%q: the prompt has no mark of a redaction", c.text)
		}
		if once := redact.Prompt(c.text); redact.Prompt(once) != once {
			t.Errorf("%q: redacting %q again changes it", c.text, once)
		}
	}
}

func TestSourceTextIsNotRedacted(t *testing.T) {
	for _, text := range []string{
		`token := os.Getenv("API_TOKEN")`, "password: string", `req.Header.Set("Authorization", "Bearer "+token)`, "API_KEY=$KEY", "TOKEN=$(cat token)",
		`const key = "-----BEGIN RSA PRIVATE KEY-----"`, "http://localhost:8080/path", `fmt.Sprintf("postgres://%s:%s@%s/db", user, pass, host)`,
		"postgres://$USER:$PASS@host/db", "Authorization: Bearer <token>", "the task-force-of-the-summer", "if apiKey == nil {", "MAX_TOKENS = 4096", "sk-learn",
		`"api_key": "a b c"`, "the secret is to keep it simple", "func (s *Secret) Key() string { return s.key }",
	} {
		if got := redact.Prompt(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestWriterRedactsSecrets(t *testing.T) {
	var out bytes.Buffer
	text := "level=INFO msg=start args=\"--key sk-HDRabcdefghijklmnop1234 http://user:hunter22@host\"\n"
	n, err := redact.Writer(&out).Write([]byte(text))
	if err != nil || n != len(text) {
		t.Errorf("got %d bytes written: %v", n, err)
	}
	if got := out.String(); strings.Contains(got, "sk-HDR") || strings.Contains(got, "hunter22") || !strings.HasSuffix(got, "\n") {
		t.Errorf("got log %q", got)
	}
}

func TestSecretThatIsANameIsRedacted(t *testing.T) {
	got := redact.Value(map[string]any{
		"sk-abcdefghijklmnop1234": "Anna", "sk-abcdefghijklmnop5678": "Ben", "keys": map[string]any{"ghp_abcdefghijklmnopqrst12": true},
	}, redact.Text)
	want := map[string]any{
		"[API key left out]": "Anna", "[API key left out]+": "Ben", "keys": map[string]any{"[API key left out]": true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestValueThatItsNameCallsASecretIsRedacted(t *testing.T) {
	got := redact.Value(map[string]any{
		"password": "correct horse", "api_key": "${key}", "path": "docs/a.md", "list": []any{map[string]any{"token": "abcdefgh"}}, "note": "sk-abcdefghijklmnop1234 is it",
	}, redact.Text)
	want := map[string]any{
		"password": "[secret left out]", "api_key": "${key}", "path": "docs/a.md", "list": []any{map[string]any{"token": "[secret left out]"}}, "note": "[API key left out] is it",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
